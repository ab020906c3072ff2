"""Runs a command that must fail as bad input does, and prints its message for FileCheck.

  fails.py CODE COMMAND [ARGUMENT...]

CODE is the exit code that it must have: 1 for bad input, 2 for wrong usage. Then stderr must be one
line that begins with "error: ", without a stack trace, within 10 seconds. A line "compiling '...'" of
colrow train may come before it.
"""
import re
import subprocess
import sys
import time

code, command = int(sys.argv[1]), sys.argv[2:]
started = time.monotonic()
try:
    done = subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=60)
except subprocess.TimeoutExpired:
    sys.exit(f"{' '.join(command)} did not end")
seconds = time.monotonic() - started
lines = [line for line in done.stderr.splitlines() if not re.match(r"compiling '.*' for tp=", line)]
problems = []
if done.returncode != code:
    problems.append(f"exit code {done.returncode}, expected {code}")
if len(lines) != 1 or not lines[0].startswith("error: "):
    problems.append("stderr must be one line 'error: ...'")
if seconds > 10:
    problems.append(f"it took {seconds:.1f} s")
print(done.stderr, end="")
if problems:
    sys.exit(f"{' '.join(command)}\n" + "\n".join(problems) + f"\nstdout:\n{done.stdout}")
