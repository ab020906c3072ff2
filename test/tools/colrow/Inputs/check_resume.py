"""A run that is killed, at any moment, goes on as if nothing had been.

  check_resume.py MODELS FOLDER KILLS

The emitted programs of gpt2-tiny-train are run, the dropout sites of which are active. A run of many
steps that saves often is killed KILLS times at moments drawn from a fixed seed, every other time while
it saves, and resumed each time; then other ways of ending and going on.
"""
import json
import os
import random
import re
import signal
import subprocess
import sys
import time

from runs import Trainers, check, check_near, finish, tensor_distance

models, folder, kills = sys.argv[1], sys.argv[2], int(sys.argv[3])
trainers = Trainers(folder)
model, data = f"{models}/gpt2-tiny-train/model.onnx", f"{models}/README.md"
STEPS, EVERY = 40 * kills, 4
# With this epsilon of AdamW's, rounding does not become an update.
SETTINGS = ("--lr", "3e-3", "--warmup", 5, "--eps", "1e-4", "--seed", 5)
LONG = ("--data", data, "--steps", STEPS, "--save-every", EVERY, *SETTINGS)

whole = trainers.train(model, *LONG, tp=2)


def command(run, *options, tp=2):
    return ["colrow", "train", model, "--tp", str(tp), "--batch", "4", "--sequence", "32", "--out", run,
            *map(str, options)]


environment = os.environ | {"XDG_CACHE_HOME": f"{folder}/cache"}


def start(run, *options):
    # colrow becomes the trainer, so that the signal reaches it.
    return subprocess.Popen(command(run, *options), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                            env=environment)


def execute(run, *options, tp=2):
    return subprocess.run(command(run, *options, tp=tp), capture_output=True, text=True, env=environment)


def unfinished(run):
    return [name for name in os.listdir(run) if ".tmp" in name and name.startswith("checkpoint")]


def lines(run):
    """What is in the metrics now, half a line included."""
    try:
        with open(f"{run}/metrics.jsonl") as file:
            return file.read().count("\n")
    except FileNotFoundError:
        return 0


def losses(run):
    with open(f"{run}/metrics.jsonl") as file:
        rows = [json.loads(line) for line in file]
    assert [row["step"] for row in rows] == list(range(1, len(rows) + 1)), rows
    return [(row["loss"], row["grad_norm"]) for row in rows]


def content(path):
    with open(path, "rb") as file:
        return file.read()


def wait(process, what, condition):
    deadline = time.monotonic() + 120
    while not condition():
        if process.poll() is not None or time.monotonic() > deadline:
            process.kill()
            sys.exit(f"no {what}; exit code {process.returncode}:\n{process.communicate()[0]}")


# Kills. Each advances the run: it waits for new steps, then for a moment of its own.
chance = random.Random(7)
run = f"{folder}/killed"
whole_losses, in_save, resumed = losses(whole.folder), 0, []
os.makedirs(run)
for kill in range(kills):
    process = start(run, *LONG, "--resume")
    goal = (kill + 1) * STEPS // (kills + 2) + chance.randrange(8)
    wait(process, f"step {goal}", lambda: lines(run) >= goal)
    if kill % 2:
        time.sleep(chance.random() * 0.02)
    else:
        wait(process, "save", lambda: unfinished(run))
        time.sleep(chance.random() * 0.001)
    process.send_signal(signal.SIGKILL)
    output = process.communicate()[0]
    assert process.returncode == -signal.SIGKILL, (process.returncode, output)
    in_save += bool(unfinished(run))
    resumed += re.findall(r"going on after step (\d+) from", output)
last = execute(run, *LONG, "--resume")
resumed += re.findall(r"going on after step (\d+) from", last.stdout)
check(f"the run ends after {kills} kills", last.returncode == 0, last.stderr)
check("it went on from checkpoints", len(resumed) > kills // 2 and int(resumed[-1]) > STEPS // 2, resumed)
check("at least a quarter were inside a save", 4 * in_save >= kills, in_save)
print(f"{in_save} of {kills} kills were inside a save; it went on after steps {', '.join(resumed)}")
check("losses after kills are the same bits", losses(run) == whole_losses)
for name in ("final.safetensors", f"checkpoint-{STEPS:06}.safetensors", f"checkpoint-{STEPS - EVERY:06}.safetensors"):
    check(f"{name} too", content(f"{run}/{name}") == content(whole.file(name)))
check("nothing else is left", sorted(os.listdir(run)) == sorted(os.listdir(whole.folder)), os.listdir(run))

# SIGTERM saves, at a step between those of --save-every too.
run = f"{folder}/ended"
options = ("--data", data, "--steps", STEPS, *SETTINGS)
for number, code in ((signal.SIGTERM, 143), (signal.SIGINT, 130)):
    before = lines(run)
    process = start(run, *options, "--resume")
    wait(process, "step", lambda: lines(run) > before)
    process.send_signal(number)
    output = process.communicate()[0]
    step = lines(run)
    check(f"{number.name} ends with {code}", process.returncode == code, (process.returncode, output))
    check("and saves the step it was in", os.path.exists(f"{run}/checkpoint-{step:06}.safetensors")
          and f"interrupted after step {step} of {STEPS}; go on with --resume" in output, output)
check("a run that was ended goes on", execute(run, *options, "--resume").returncode == 0)
check("with the same bits", losses(run) == whole_losses)
check("and ends in the same weights", content(f"{run}/final.safetensors") == content(whole.file()))

# Another number of ranks.
half = trainers.train(model, "--data", data, "--steps", 24, "--save-every", 12, *SETTINGS, tp=2)
middle = half.file("checkpoint-000012.safetensors")
alone = trainers.train(model, "--data", data, "--steps", 24, "--resume-from", middle, *SETTINGS, tp=1)
check_near("from tp=2 to tp=1: losses", alone.losses, half.losses[12:], 1e-5)
check("weights", tensor_distance(alone.tensors(), half.tensors()) <= 1e-5)
alone = trainers.train(model, "--data", data, "--steps", 24, "--save-every", 12, *SETTINGS, tp=1)
both = trainers.train(model, "--data", data, "--steps", 24, "--resume-from",
                      alone.file("checkpoint-000012.safetensors"), *SETTINGS, tp=2)
check_near("from tp=1 to tp=2: losses", both.losses, alone.losses[12:], 1e-5)
check("weights", tensor_distance(both.tensors(), alone.tensors()) <= 1e-5)
start_of = trainers.train(model, "--data", data, "--steps", 1, "--weights", middle, tp=2)
check("a checkpoint holds weights that can be started from", start_of.losses[0] < half.losses[0])

# Files that are not what they were.
newest = half.file("checkpoint-000024.safetensors")
good = content(newest)
SHORT = ("--data", data, "--steps", 24, *SETTINGS)
for place in sorted(random.Random(3).sample(range(len(good)), 12)) + [0, 8, len(good) - 1]:
    with open(newest, "wb") as file:
        file.write(good[:place] + bytes([good[place] ^ 1 << place % 8]) + good[place + 1 :])
    done = execute(f"{folder}/none", *SHORT, "--resume-from", newest)
    if done.returncode != 1 or not done.stderr.startswith(f"error: '{newest}' is "):
        check(f"a flipped bit in byte {place} is noticed", False, (done.returncode, done.stderr))
check("flipped bits are noticed", True)
with open(newest, "wb") as file:
    file.write(good[: len(good) // 2])
done = execute(f"{folder}/none", *SHORT, "--resume-from", newest)
check("a checkpoint cut short is noticed",
      done.returncode == 1 and re.fullmatch(f"error: '{newest}' .* cut off\n", done.stderr), done.stderr)
done = execute(half.folder, *SHORT, "--resume")
check("it is named, and the one before is taken",
      done.returncode == 0 and re.match(f"warning: '{newest}' .* cut off\n", done.stderr)
      and f"going on after step 12 from '{middle}'" in done.stdout, (done.stdout, done.stderr))
check("with the same losses", [loss for loss, _ in losses(half.folder)] == half.losses)

# What does not belong together.
done = execute(half.folder, *SHORT, "--resume", "--weight-decay", "0.2")
check("other settings are named", done.returncode == 1
      and done.stderr == f"error: '{middle}' is of a run with other settings: --weight-decay is 0.01 there and 0.2 here\n",
      done.stderr)
done = execute(half.folder, *SHORT)
check("an earlier run is not overwritten", done.returncode == 1 and "go on with it by --resume" in done.stderr,
      done.stderr)
subprocess.run([sys.executable, os.path.join(os.path.dirname(__file__), "cut_vocabulary.py"), model, "300",
                f"{folder}/small.onnx"], check=True)
model = f"{folder}/small.onnx"
done = execute(f"{folder}/none", *SHORT, "--resume-from", middle)
check("another model is named", done.returncode == 1 and re.search(
    r"error: '.*' is a checkpoint of another model, '.*': 'transformer.wte.weight' is F32 \[503, 64\] there and "
    r"F32 \[300, 64\] here\n", done.stderr), done.stderr)
check("and nothing was written", not os.path.exists(f"{folder}/none"))
finish()
