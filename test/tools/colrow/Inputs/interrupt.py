"""Sends SIGINT or SIGTERM to a training run after some steps, and looks at what it leaves.

  interrupt.py SIGNAL RUN COMMAND [ARGUMENT...]

The signal goes to the one process that was started. It must end soon; metrics are whole lines, and
the folder holds finished checkpoints only, the last of them of the last step.
"""
import json
import os
import shutil
import signal
import subprocess
import sys
import time

name, run, command = sys.argv[1], sys.argv[2], sys.argv[3:]
shutil.rmtree(run, ignore_errors=True)
process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
deadline = time.monotonic() + 60


def came_to_step_10():
    # Earlier checkpoints are removed soon.
    names = os.listdir(run) if os.path.isdir(run) else []
    return any("checkpoint-000010" <= name < "checkpoint-a" for name in names)


while not came_to_step_10():
    if time.monotonic() > deadline or process.poll() is not None:
        process.kill()
        sys.exit(f"it did not come to step 10: {process.communicate()[1]}")
    time.sleep(0.05)
process.send_signal(signal.Signals[name])
try:
    errors = process.communicate(timeout=10)[1]
except subprocess.TimeoutExpired:
    process.kill()
    sys.exit("it did not end")
print(f"exit code {process.returncode}\n{errors}", end="")
steps = [json.loads(line)["step"] for line in open(f"{run}/metrics.jsonl")]
assert steps == list(range(1, len(steps) + 1)), steps
names = sorted(os.listdir(run))
assert names[1:] == [f"checkpoint-{steps[-1]:06}.safetensors", "config.json", "metrics.jsonl"], names
assert names[0] == f"checkpoint-{(steps[-1] - 1) // 5 * 5:06}.safetensors", names
