"""What the machine can do: peak, oneDNN, memory bandwidth, and kernels and all-reduces by themselves."""
import json
import os
import re
import shutil
import statistics

from processes import Failure


def describe(cores):
    with open("/proc/cpuinfo") as file:
        name = re.search(r"model name\s*:\s*(.*)", file.read())
    with open("/proc/meminfo") as file:
        memory = 1024 * int(re.search(r"MemTotal:\s*(\d+)", file.read())[1])
    return {"processor": name[1] if name else os.uname().machine, "cores": cores, "memory_bytes": memory,
            "load_before": os.getloadavg()[0]}


def parts(run, pattern, seconds):
    """The Google Benchmark cases that match, as it reports them."""
    done = run([run.program("colrow-bench-parts"), f"--benchmark_filter={pattern}", "--benchmark_format=json",
                f"--benchmark_min_time={seconds}"])
    cases = json.loads(done.output)["benchmarks"]
    failed = [case for case in cases if case.get("error_occurred")]
    if failed or not cases:
        raise Failure(f"colrow-bench-parts: {failed[0]['error_message'] if failed else 'no case ' + pattern}")
    return cases


class Peak:
    """Rates by number of cores at work. Each is sampled again between the turns of the trainers."""

    def __init__(self, run, quick):
        self.run = run
        self.samples = {"fma": {1: [], 2: []}, "triad": {1: [], 2: []}}
        self.seconds = 0.05 if quick else 0.5
        run.say("peak and memory bandwidth")
        self.sample()
        run.say("oneDNN's products")
        # {cores at work: (flops, name)}. Two cores are two ranks, each with a product of its own.
        self.products = {}
        for case in parts(run, "oneDnn.*cores:1/", self.seconds):
            cores = case["threads"]
            self.products[cores] = max(self.products.get(cores, (0, "")), (case["flops"], case["name"]))

    def sample(self):
        for case in parts(self.run, "^(fma|triad)/", self.seconds):
            name = case["name"].split("/")[0]
            self.samples[name][case["threads"]].append(case["flops" if name == "fma" else "bytes"])

    def fma(self, cores):
        return statistics.median(self.samples["fma"][cores])

    def triad(self, cores):
        return statistics.median(self.samples["triad"][cores])

    def onednn(self, cores):
        return self.products[cores][0]

    def rates(self):
        return {str(cores): {"fma_flops": self.fma(cores), "fma_samples": self.samples["fma"][cores],
                             "triad_bytes": self.triad(cores), "triad_samples": self.samples["triad"][cores],
                             "onednn_flops": self.products[cores][0], "onednn_product": self.products[cores][1]}
                for cores in (1, 2)}


def kernels(run):
    run.say("kernels by themselves")
    return [{"name": case["run_name"].replace("/real_time", ""), "seconds": case["real_time"] * 1e-9,
             "flops": case.get("flops"), "bytes": case.get("bytes")}
            for case in parts(run, "^(kernel|einsum)", 0.2)]


def all_reduce(run, results):
    """Seconds of one call between two ranks, for some sizes."""
    run.say("all-reduces")
    rows = []
    arguments = []
    for case in parts(run, "^allReduce", 0.1):
        size, calls = re.search(r"bytes:(\d+)/calls:(\d+)", case["name"]).groups()
        arguments += [size, calls]
        rows.append({"bytes": int(size), "threads_seconds": case["real_time"] * 1e-9, "mpi_seconds": None})
    program = run.source / "build/bin/colrow-bench-mpi"
    if not program.exists() or not shutil.which("mpirun"):
        run.miss("Open MPI's all-reduce", "mpirun or build/bin/colrow-bench-mpi is missing; install openmpi-bin and "
                 "libopenmpi-dev and run tools/setup")
        return rows
    try:
        done = run(["mpirun", "-n", 2, program] + arguments,
                   environment={"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"})
    except Failure as failure:
        run.miss("Open MPI's all-reduce", str(failure))
        return rows
    seconds = dict(line.split() for line in done.output.splitlines())
    for row in rows:
        row["mpi_seconds"] = float(seconds[str(row["bytes"])])
    return rows
