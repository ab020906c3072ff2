"""A disk that fills up at each call that writes, in turn: one message that names a file, nothing
half-written, and what was there before stays.

  check_full_disk.py MODEL SHIM FOLDER
"""
import json
import os
import re
import shutil
import subprocess
import sys
import time

from runs import check, finish

model, shim, folder = sys.argv[1:]
shutil.rmtree(folder, ignore_errors=True)
os.makedirs(folder)
SIZES = ("--tp", "2", "--batch", "4", "--sequence", "32")
STEPS = ("--steps", "4", "--save-every", "2", "--keep", "3")
environment = os.environ | {"XDG_CACHE_HOME": f"{folder}/cache"}


def execute(*command, on="", at=0, once=False):
    """Runs with a disk that is full in files below `on`, from call `at` on or at that call alone."""
    variables = {"LD_PRELOAD": shim, "FULL_DISK": on, "FULL_DISK_AT": str(at), "FULL_DISK_COUNT": f"{folder}/count"}
    if once:
        variables["FULL_DISK_ONCE"] = "1"
    started = time.monotonic()
    done = subprocess.run(command, capture_output=True, text=True, timeout=120,
                          env=environment | (variables if on else {}))
    done.seconds = time.monotonic() - started
    return done


def calls(*command, on):
    """How many calls the command makes where the disk does not fill up."""
    if os.path.exists(f"{folder}/count"):
        os.remove(f"{folder}/count")
    done = execute(*command, on=on)
    if done.returncode != 0:
        sys.exit(f"{command} failed:\n{done.stderr}")
    with open(f"{folder}/count") as file:
        return int(file.read())


def content(path):
    with open(path, "rb") as file:
        return file.read()


def losses(run):
    with open(f"{run}/metrics.jsonl") as file:
        return [(row["step"], row["loss"], row["grad_norm"]) for row in map(json.loads, file)]


problems = []


def require(passes, what, done):
    if not passes:
        problems.append(f"{what}: exit code {done.returncode}, {done.seconds:.0f} s, {done.stderr!r}")


def require_message(done, where, what):
    require(done.returncode == 1 and done.seconds < 10
            and re.fullmatch(f"error: cannot write '{re.escape(where)}[^']*': no space left on device\n", done.stderr),
            f"{what}: one message", done)


# Training. The trainer alone, so that only it finds the disk full.
trainer = f"{folder}/trainer"
done = execute("colrow", "compile", model, *SIZES, "-o", trainer)
check("the trainer is built", done.returncode == 0, done.stderr)


def train(run, *more, **disk):
    return execute(f"{trainer}/trainer", "train", "--data", __file__, *STEPS, "--out", run, *more, **disk)


whole = f"{folder}/whole"
command = (f"{trainer}/trainer", "train", "--data", __file__, *STEPS, "--out")
count = calls(*command, whole, on=whole)
names = sorted(os.listdir(whole))
check("a run writes its files", names == ["checkpoint-000002.safetensors", "checkpoint-000004.safetensors",
                                          "config.json", "final.safetensors", "metrics.jsonl"], names)
check("by some calls", count > 20, count)
for once in (False, True):
    kept = 0
    for at in range(1, count + 1):
        run, what = f"{folder}/run", f"call {at}{' alone' if once else ''}"
        shutil.rmtree(run, ignore_errors=True)
        done = train(run, on=run, at=at, once=once)
        require_message(done, run + "/", what)
        checkpoints = [name for name in sorted(os.listdir(run)) if name.startswith("checkpoint-")]
        require(set(os.listdir(run)) <= set(names), f"{what}: nothing unfinished stays: {os.listdir(run)}", done)
        require(all(content(f"{run}/{name}") == content(f"{whole}/{name}") for name in checkpoints),
                f"{what}: checkpoints are whole", done)
        kept += len(checkpoints)
        done = train(run, "--resume")
        require(done.returncode == 0 and ("going on after step" in done.stdout) == bool(checkpoints),
                f"{what}: goes on", done)
        require(losses(run) == losses(whole) and content(f"{run}/final.safetensors")
                == content(f"{whole}/final.safetensors"), f"{what}: with the same bits", done)
    check(f"a disk that is full {'once' if once else 'from then on'}, at each of the calls of training",
          not problems, problems[:3])
    check("checkpoints before it stay", kept > count // 3, kept)
    problems.clear()

# Export: over an older file, the data of which lies beside it.
external = model.replace("gpt2-tiny/", "gpt2-tiny-dynamo/")
done = execute(f"{trainer}/trainer", "train", "--data", __file__, *STEPS, "--out", f"{folder}/other", "--lr", "0.1")
out = f"{folder}/exported"
os.makedirs(out)
export = ("colrow", "export", external, "-o", f"{out}/model.onnx", "--weights")
count = calls(*export, whole, on=out)
before = {name: content(f"{out}/{name}") for name in os.listdir(out)}
check("an export with a file of data", sorted(before) == ["model.onnx", "model.onnx.data"], before.keys())
replaced = 0
for at in range(1, count + 1):
    done = execute(*export, f"{folder}/other", on=out, at=at)
    require_message(done, out + "/", f"call {at}")
    after = {name: content(f"{out}/{name}") for name in os.listdir(out)}
    require(after.keys() == before.keys(), f"call {at}: nothing unfinished stays", done)
    replaced += after != before
check("at each of the calls of an export", count >= 8 and not problems, problems[:3])
# The two renames, and the syncs of the folder behind them, are all that is left then.
check("the older export stays while the new one is written", replaced <= 4, replaced)
problems.clear()

# Compiling writes many files, all in the same way.
out = f"{folder}/source"
compile = ("colrow", "compile", model, *SIZES, "--no-build", "-o", out)
count = calls(*compile, on=out)
for at in [*range(1, 8), *range(8, count, count // 12), count]:
    shutil.rmtree(out, ignore_errors=True)
    done = execute(*compile, on=out, at=at)
    require_message(done, out + "/", f"call {at}")
check("at calls of compiling", count > 300 and not problems, problems[:3])
problems.clear()

# Reports.
for command in (("colrow", "inspect", model, "--json", f"{folder}/report.json"),
                ("colrow", "plan", model, *SIZES, "--json", f"{folder}/report.json"),
                ("colrow-translate", "--import-onnx", model, "--batch", "2", "--sequence", "8", "-o", f"{folder}/report.mlir")):
    for at in range(1, 1 + calls(*command, on=f"{folder}/report")):
        require_message(execute(*command, on=f"{folder}/report", at=at), f"{folder}/report", f"{command[1]}, call {at}")
for command in (("colrow", "inspect", model), ("colrow", "inspect", model, "--batch", "2", "--sequence", "8", "--ir"),
                ("colrow-translate", "--onnx-op-table")):
    with open("/dev/full", "w") as full:
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, env=environment)
    done.seconds = 0
    require(done.returncode == 1 and re.fullmatch("error: cannot write .*: No space left on device\n", done.stderr),
            " ".join(command), done)
check("at each of the calls of reports", not problems, problems[:3])
finish()
