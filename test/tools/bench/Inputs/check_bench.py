"""Holds what `tools/bench --json` wrote together: check_bench.py RESULT"""
import json
import math
import statistics
import sys

with open(sys.argv[1]) as file:
    result = json.load(file)


def near(a, b):
    assert math.isclose(a, b, rel_tol=1e-9), (a, b)


peak = result["peak"]
for cores in ("1", "2"):
    assert peak[cores]["fma_flops"] > 0 and peak[cores]["triad_bytes"] > 0 and peak[cores]["onednn_flops"] > 0
    near(peak[cores]["fma_flops"], statistics.median(peak[cores]["fma_samples"]))

steps = {(row["workload"], row["configuration"]): row for row in result["steps"]}
names = ["tp=2 on 2 cores", "tp=1 on 1 core", "tp=1 on 2 cores"]
assert list(steps) == [("2 x 16", name) for name in names], list(steps)
for (workload, name), row in steps.items():
    assert len(row["seconds"]) == 2 and min(row["seconds"]) > 0
    near(row["median_seconds"], statistics.median(row["seconds"]))
    near(row["tokens_per_second"] * row["median_seconds"], 32)
    near(row["percent_of_peak"], 100 * row["flops"] / row["median_seconds"] / peak[str(row["cores"])]["fma_flops"])
    near(row["ratio_to_one_core"], steps[workload, "tp=1 on 1 core"]["median_seconds"] / row["median_seconds"])
    # The program itself takes some tens of MB, and these models next to nothing.
    assert row["peak_resident_bytes"] > row["planned_bytes"] > 0, row
    assert row["profile"]["steps"] == 2

assert [work["workload"] for work in result["work"]] == ["2 x 16"]
for work in result["work"]:
    near(sum(kind["seconds"] for kind in work["kinds"].values()), work["step_seconds"])
    for name in ("products", "attention", "loss"):
        assert work["kinds"][name]["flops"] > 0 and work["kinds"][name]["bound_seconds"] > 0, name
    for name in ("norms", "optimizer", "loops", "all-reduce"):
        assert work["kinds"][name]["bytes"] > 0 and work["kinds"][name]["bound_seconds"] > 0, name

assert [row["bytes"] for row in result["all_reduce"]] == sorted(row["bytes"] for row in result["all_reduce"])
missing = {entry["what"] for entry in result["not_measured"]}
assert all((row["mpi_seconds"] is None) == ("Open MPI's all-reduce" in missing) for row in result["all_reduce"])
assert "PyTorch" in missing
assert result["compile"]["source_seconds"] > 0 and result["compile"]["build_seconds"] > 0
assert result["goals"] == []
