"""Training under mpirun against training with threads, bit for bit, and how such runs end.

  check_processes.py MODELS FOLDER
"""
import json
import os
import re
import signal
import subprocess
import sys
import time

from runs import Trainers, check, finish

models, folder = sys.argv[1:]
trainers = Trainers(folder)
model, data = f"{models}/gpt2-tiny-train/model.onnx", f"{models}/README.md"
OPTIONS = ("--data", data, "--init", "--lr", "3e-3", "--warmup", 5, "--seed", 5, "--threads-per-rank", 1)
environment = os.environ | {"XDG_CACHE_HOME": f"{folder}/cache"}


def command(ranks, run, *options):
    return ["mpirun", "-n", str(ranks), "colrow", "train", model, "--batch", "4", "--sequence", "32", "--out", run,
            *map(str, options)]


def execute(*arguments):
    return subprocess.run(arguments, capture_output=True, text=True, env=environment, timeout=120)


def losses(run):
    with open(f"{run}/metrics.jsonl") as file:
        return [(row["step"], row["loss"], row["grad_norm"]) for row in map(json.loads, file)]


def content(path):
    with open(path, "rb") as file:
        return file.read()


def same(run, threads, *names):
    return losses(run) == losses(threads) and all(content(f"{run}/{n}") == content(f"{threads}/{n}") for n in names)


def errors(done):
    return re.findall("^error: .*$", done.stdout + done.stderr, re.MULTILINE)


# Training.
SAVES = ("--steps", 12, "--save-every", 6)
for ranks in (2, 4):
    run = f"{folder}/processes{ranks}"
    done = execute(*command(ranks, run, *OPTIONS, *SAVES))
    if ranks == 2:
        compiled = (done.stdout + done.stderr).count("compiling '")
        check("2 processes that start at once compile once", done.returncode == 0 and compiled == 1, done)
        left = sorted(os.listdir(f"{folder}/cache/colrow"))
        check("and leave one trainer", len(left) == 1, left)
        check("one of them speaks", done.stdout.count("step 12/12") == 1, done.stdout)
    threads = trainers.train(model, *OPTIONS, *SAVES, tp=ranks).folder
    check(f"tp={ranks}: losses and files are those of threads",
          same(run, threads, "final.safetensors", "checkpoint-000006.safetensors", "checkpoint-000012.safetensors"))
(trainer,) = [f"{folder}/cache/colrow/{name}/trainer" for name in left]

# Replay.
replay = ("replay", "--batches", f"{models}/gpt2-tiny-train/reference.safetensors", "--init", "--steps", "3",
          "--threads-per-rank", "1", "--out")
execute(trainer, *replay, f"{folder}/threads.safetensors")
done = execute("mpirun", "-n", "2", trainer, *replay, f"{folder}/processes.safetensors")
check("replay", content(f"{folder}/threads.safetensors") == content(f"{folder}/processes.safetensors"), done)

# Going on as the other.
LONG = ("--steps", 200, "--save-every", 10)
whole = trainers.train(model, *OPTIONS, *LONG, tp=2).folder
run = f"{folder}/mixed"
threads = ("colrow", *command(2, run)[4:], "--tp", "2", *map(str, OPTIONS + LONG))
execute(*threads, "--keep", "100")
for step in range(60, 210, 10):
    os.remove(f"{run}/checkpoint-{step:06}.safetensors")
done = execute(*command(2, run, *OPTIONS, *LONG, "--resume"))
check("a run of threads goes on as processes",
      "going on after step 50 from" in done.stdout and same(run, whole, "final.safetensors"), done)
os.remove(f"{run}/checkpoint-000200.safetensors")
done = execute(*threads, "--resume")
check("and one of processes as threads",
      "going on after step 190 from" in done.stdout and same(run, whole, "final.safetensors"), done)

# Errors.
run = f"{folder}/none"
done = execute(*command(3, run, *OPTIONS, *SAVES, "--tp", 2))
check("a wrong number of processes", done.returncode == 1 and errors(done)
      == ["error: started as 3 processes, but --tp is 2: use mpirun -n 2, or --tp 3"], done)
done = execute("mpirun", "-n", "3", trainer, "train", *map(str, OPTIONS + SAVES), "--out", run)
check("a wrong number for a trainer", done.returncode == 1 and errors(done)
      == ["error: started as 3 processes, but this trainer is compiled for tp=2: use mpirun -n 2, or compile it "
          "with --tp 3"], done)
done = execute("mpirun", "-n", "2", trainer, "train", *map(str, OPTIONS + SAVES), "--out", run, "--weights", "x")
check("wrong usage is told once", done.returncode == 2 and len(errors(done)) == 1, done)
done = execute("mpirun", "-n", "2", trainer, "train", *map(str, OPTIONS[2:] + SAVES), "--out", run, "--data", "gone")
check("an error is told once", done.returncode == 1
      and errors(done) == ["error: cannot read 'gone': no such file or directory"], done)
done = execute("mpirun", *("-n", "1", trainer, "train", "--data", data, "--init", *map(str, SAVES), "--out", run), ":",
               *("-n", "1", trainer, "train", "--data", data, "--init", *map(str, SAVES), "--out", run, "--seed", "9"))
check("other options for a rank", done.returncode == 1 and len(errors(done)) == 1
      and errors(done)[0].startswith("error: --seed is not the same on rank 0 and rank 1: "), done)


# Ends from outside.
def start(run, *options):
    process = subprocess.Popen(command(2, run, *OPTIONS, *options), stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                               text=True, env=environment)
    deadline = time.monotonic() + 120
    while not (os.path.exists(f"{run}/metrics.jsonl") and content(f"{run}/metrics.jsonl").count(b"\n") >= 25):
        if process.poll() is not None or time.monotonic() > deadline:
            process.kill()
            sys.exit(f"it does not train:\n{process.communicate()[0]}")
        time.sleep(0.01)
    return process


def ranks_of(process):
    """The processes that mpirun started, by their parent."""
    ranks = {}
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{name}/stat") as file:
                parent = file.read().rsplit(")", 1)[1].split()[1]
            with open(f"/proc/{name}/environ") as file:
                rank = re.search("OMPI_COMM_WORLD_RANK=([0-9]+)", file.read())
        except OSError:
            continue
        if int(parent) == process.pid and rank:
            ranks[int(rank[1])] = int(name)
    return ranks


run = f"{folder}/killed"
process = start(run, *LONG)
victim = ranks_of(process)[1]
os.kill(victim, signal.SIGKILL)
began = time.monotonic()
output = process.communicate(timeout=60)[0]
told = re.findall("^error: .*$", output, re.MULTILINE)
check("a killed rank is noticed", process.returncode not in (0, None) and time.monotonic() - began < 10
      and len(told) == 1 and re.fullmatch(
          f"error: rank 1 \\(process {victim}\\) is gone: it was killed, crashed or ran out of memory; the last "
          f"checkpoint is '{run}/checkpoint-[0-9]+.safetensors'; go on with --resume", told[0]),
      (process.returncode, output))
done = execute(*command(2, run, *OPTIONS, *LONG, "--resume"))
check("the run goes on", done.returncode == 0 and "going on after step" in done.stdout, done)
check("with the same bits", same(run, whole, "final.safetensors", "checkpoint-000200.safetensors"))
check("nothing else is left", sorted(os.listdir(run)) == sorted(os.listdir(whole)), os.listdir(run))

run = f"{folder}/ended"
process = start(run, *LONG[:2])
process.send_signal(signal.SIGUSR1)  # mpirun passes it on
output = process.communicate(timeout=60)[0]
(saved,) = [name for name in os.listdir(run) if name.startswith("checkpoint")]
check("SIGUSR1 saves", process.returncode == 138 and "; go on with --resume (the last checkpoint is" in output
      and len(re.findall("^error: ", output, re.MULTILINE)) == 1, (process.returncode, output))
done = execute(*command(2, run, *OPTIONS, *LONG[:2], "--resume"))
check("to the same bits", done.returncode == 0 and same(run, whole, "final.safetensors"), done)
finish()
