"""Training steps of compiled trainers, in turns, and where their time goes."""
import json
import pathlib
import random
import shutil
import statistics

from processes import Failure

KINDS = [  # of calls in a profile, by the beginning of their names
    ("products", ("einsum",)),
    ("attention", ("attention",)),
    ("loss", ("linearCrossEntropy", "crossEntropy")),
    ("norms", ("layerNorm", "rmsNorm")),
    ("optimizer", ("adamW", "sumOfSquares", "axpy")),
    ("all-reduce", ("allReduce",)),
]


class Workload:
    def __init__(self, batch, sequence):
        self.batch, self.sequence = batch, sequence

    @property
    def tokens(self):
        return self.batch * self.sequence

    def __str__(self):
        return f"{self.batch} x {self.sequence}"


class Colrow:
    """A compiled trainer on some cores."""

    def __init__(self, ranks, threads, cores):
        self.ranks, self.threads, self.cores = ranks, threads, cores
        self.name = f"tp={ranks} on {cores} core{'s' if cores > 1 else ''}"

    def folder(self, run, workload):
        return run.folder / f"tp{self.ranks}-{workload.batch}x{workload.sequence}"

    def prepare(self, run, model, workload):
        folder = self.folder(run, workload)
        if folder.exists():  # another configuration of the same ranks made it
            return
        run.say(f"compiling at tp={self.ranks} for {workload}")
        run([run.program("colrow"), "compile", model, "--tp", self.ranks, "--batch", workload.batch, "--sequence",
             workload.sequence, "-o", folder])

    def manifest(self, run, workload):
        with open(self.folder(run, workload) / "manifest.json") as file:
            return json.load(file)

    def turn(self, run, workload, steps, result):
        out, profile = run.folder / "run", run.folder / "profile.json"
        shutil.rmtree(out, ignore_errors=True)
        run([self.folder(run, workload) / "trainer", "train", "--init", "--data", data(run, workload),
             "--data-dtype", "text", "--steps", steps + 1, "--threads-per-rank", self.threads, "--out", out,
             "--profile", profile],
            cores=self.cores)
        with open(out / "metrics.jsonl") as file:
            seconds = [json.loads(line)["seconds"] for line in file]
        shutil.rmtree(out, ignore_errors=True)
        result["seconds"] += seconds[1:]
        with open(profile) as file:
            result["profile"] = json.load(file)
        result["peak_resident_bytes"] = max(result["peak_resident_bytes"] or 0,
                                            result["profile"]["peak_resident_bytes"])


class PyTorch:
    """GPT-2 124M in PyTorch, eager."""

    def __init__(self, python, threads):
        self.python, self.threads, self.cores = python, threads, threads
        self.name = f"PyTorch on {threads} core{'s' if threads > 1 else ''}"

    def turn(self, run, workload, steps, result):
        done = run([self.python, run.source / "tools/benchmark/pytorch_step.py", "--threads", self.threads, "--batch",
                    workload.batch, "--sequence", workload.sequence, "--steps", steps + 1], cores=self.cores)
        answer = json.loads(done.output.splitlines()[-1])
        result["seconds"] += answer["seconds"][1:]
        result["version"] = answer["version"]
        result["peak_resident_bytes"] = max(result["peak_resident_bytes"] or 0, done.peak_bytes)


def data(run, workload):
    """A file of random bytes with some rows for every step."""
    path = run.folder / "data.txt"
    size = 64 * (workload.tokens + 1)
    if not path.exists() or path.stat().st_size < size:
        path.write_bytes(random.Random(1).randbytes(size))
    return path


def pytorch(run, arguments):
    if arguments.against != "pytorch":
        return []
    if not arguments.is_gpt2_small:
        run.miss("PyTorch", "its model is GPT-2 124M; leave --model out")
        return []
    try:
        run([arguments.python, "-c", "import torch, transformers"])
    except (Failure, OSError):
        run.miss("PyTorch", f"torch and transformers are not importable by '{arguments.python}'; give --python PATH")
        return []
    return [PyTorch(arguments.python, 2), PyTorch(arguments.python, 1)]


def steps_of_turn(arguments, workload, flops):
    """About as much work as two steps of 900 GFLOP, but no more than 20 steps."""
    return arguments.steps or max(2, min(20, round((4e11 if arguments.quick else 1.8e12) / flops)))


def measure(run, arguments, peak):
    rows = []
    for workload in arguments.workloads:
        trainers = [Colrow(2, 1, 2), Colrow(1, 1, 1), Colrow(1, 2, 2)]
        for trainer in trainers:
            trainer.prepare(run, arguments.model, workload)
        # Without the vocabulary's padding, which tp=2 multiplies too.
        flops = Colrow(1, 1, 1).manifest(run, workload)["flops"]["forward_backward"]
        others = pytorch(run, arguments) if workload is arguments.workloads[0] else []
        configurations = trainers + others
        results = [{"workload": str(workload), "tokens": workload.tokens, "configuration": c.name, "cores": c.cores,
                    "flops": flops, "seconds": [], "peak_resident_bytes": None} for c in configurations]
        for turn in range(arguments.rounds):
            for configuration, result in zip(configurations, results):
                run.say(f"{workload} tokens, {configuration.name}, turn {turn + 1} of {arguments.rounds}")
                configuration.turn(run, workload, steps_of_turn(arguments, workload, flops), result)
            peak.sample()
        for configuration, result in zip(configurations, results):
            add_plan(run, workload, configuration, result)
        rows.append(results)
    for results in rows:  # now that the peak has all of its samples
        add_rates(results, peak)
    return sum(rows, [])


def add_plan(run, workload, configuration, result):
    if not isinstance(configuration, Colrow):
        return
    manifest = configuration.manifest(run, workload)
    rank = sum(size for name, size in manifest["segments"].items() if name not in manifest["on_first_use"])
    result["ranks"] = configuration.ranks
    result["planned_bytes"] = rank * configuration.ranks
    result["loop_bytes"] = sum(manifest["loop_bytes"].values())


def add_rates(results, peak):
    """Of the configurations of one workload."""
    medians = {result["configuration"]: statistics.median(result["seconds"]) for result in results}
    for result in results:
        result["median_seconds"] = median = medians[result["configuration"]]
        result["tokens_per_second"] = result["tokens"] / median
        result["flops_per_second"] = result["flops"] / median
        result["percent_of_peak"] = 100 * result["flops"] / median / peak.fma(result["cores"])
        result["ratio_to_one_core"] = medians["tp=1 on 1 core"] / median


def work(results):
    """By workload at tp=2: seconds of a step by kind, and the least they could be."""
    peak = results["peak"]
    tables = []
    for row in results["steps"]:
        if row.get("ranks") != 2:
            continue
        profile = row["profile"]
        steps = profile["steps"]
        kinds = {name: {"seconds": 0, "calls": 0, "flops": 0, "bytes": 0} for name, _ in KINDS}
        kinds["other kernels"] = {"seconds": 0, "calls": 0, "flops": 0, "bytes": 0}
        for call in profile["calls"]:
            name = next((kind for kind, begins in KINDS if call["name"].startswith(begins)), "other kernels")
            for key in kinds[name]:
                kinds[name][key] += call[key] / steps
        called = sum(kind["seconds"] for kind in kinds.values())
        kinds["loops"] = {"seconds": profile["seconds"] / steps - called, "calls": None, "flops": 0,
                          "bytes": row["loop_bytes"]}
        for name, kind in kinds.items():
            # Both ranks are at work: each has half of what two cores reach.
            if name == "all-reduce":
                kind["bound"] = "the same by itself"
                kind["bound_seconds"] = reduce_seconds(kind, results["all_reduce"])
            elif kind["flops"]:
                kind["bound"], kind["bound_seconds"] = "oneDNN", kind["flops"] / (peak.onednn(2) / 2)
            else:
                kind["bound"], kind["bound_seconds"] = "triad", kind["bytes"] / (peak.triad(2) / 2)
        tables.append({"workload": row["workload"], "configuration": row["configuration"],
                       "step_seconds": profile["seconds"] / steps, "kinds": kinds})
    return tables


def reduce_seconds(kind, measured):
    """What all-reduces of this average size take when nothing else runs."""
    if not kind["calls"]:
        return 0
    size = kind["bytes"] / 2 / kind["calls"]
    points = [(0, measured[0]["threads_seconds"])] + [(row["bytes"], row["threads_seconds"]) for row in measured]
    for (low, before), (high, after) in zip(points, points[1:]):
        if size <= high:
            return kind["calls"] * (before + (after - before) * (size - low) / (high - low))
    return kind["calls"] * points[-1][1] * size / points[-1][0]
