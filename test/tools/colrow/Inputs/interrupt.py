"""Presses Ctrl-C on a training run after some steps, and looks at what it leaves.

  interrupt.py RUN COMMAND [ARGUMENT...]

The signal goes to the one process that was started. It must end soon; metrics are whole lines, and
the folder holds finished checkpoints only.
"""
import json
import os
import shutil
import signal
import subprocess
import sys
import time

run, command = sys.argv[1], sys.argv[2:]
shutil.rmtree(run, ignore_errors=True)
process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
deadline = time.monotonic() + 60
while not os.path.exists(f"{run}/step-000010.safetensors"):
    if time.monotonic() > deadline or process.poll() is not None:
        process.kill()
        sys.exit(f"it did not come to step 10: {process.communicate()[1]}")
    time.sleep(0.05)
process.send_signal(signal.SIGINT)
try:
    errors = process.communicate(timeout=10)[1]
except subprocess.TimeoutExpired:
    process.kill()
    sys.exit("it did not end")
print(f"exit code {process.returncode}\n{errors}", end="")
steps = [json.loads(line)["step"] for line in open(f"{run}/metrics.jsonl")]
assert steps == list(range(1, len(steps) + 1)), steps
names = sorted(os.listdir(run))
assert names[:2] == ["config.json", "metrics.jsonl"], names
assert all(name.startswith("step-") and name.endswith(".safetensors") for name in names[2:]), names
