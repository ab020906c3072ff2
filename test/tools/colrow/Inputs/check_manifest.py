"""Holds manifest.json of a trainer's folder against the source beside it: check_manifest.py FOLDER RANKS

Every all-reduce that the program runs (calls of layer functions counted) is a collective of the manifest
with the same size, and the other way round; memory and slices of parameters have the same bytes.
"""
import collections
import json
import math
import re
import sys

folder, ranks = sys.argv[1], int(sys.argv[2])
with open(f"{folder}/manifest.json") as file:
    manifest = json.load(file)
with open(f"{folder}/src/step.cpp") as file:
    step = file.read()
with open(f"{folder}/src/model.cpp") as file:
    model = file.read()


def equal(what, got, expected):
    if got != expected:
        sys.exit(f"{what}: {got} in the manifest, {expected} in the program")
    print(f"ok {what}")


# Keys.
assert {"grid", "flops", "parameters", "collectives", "segments"} <= set(manifest)
for parameter in manifest["parameters"]:
    assert {"name", "shape", "layout", "bytes_per_rank", "tied_to"} <= set(parameter), parameter
for collective in manifest["collectives"]:
    assert set(collective) == {"kind", "axes", "payload_bytes", "wire_bytes_per_rank", "phase", "layer",
                               "because"}, collective
    assert collective["phase"] in ("init", "forward", "backward", "update", "evaluate"), collective
    assert collective["kind"] == "all_reduce" and collective["axes"] == ["tp"] and collective["because"]
    # A ring sends every byte but the rank's own part twice.
    wire = 2 * collective["payload_bytes"] * (ranks - 1) // ranks
    equal(f"wire bytes of {collective['payload_bytes']}", collective["wire_bytes_per_rank"], wire)
equal("grid", manifest["grid"], {"tp": ranks})
assert 'info.grid = {{"tp", %d}};' % ranks in model
equal("flops", manifest["flops"]["forward_backward"], float(re.search(r"info.stepFlops = ([^;]*);", model)[1]))

# Collectives: what each function of the program runs, in bytes.
functions = dict(re.findall(r"^  (?:double|void) (\w+)\([^{]*\{[^\n}]*\n(.*?)^  \}$", step, re.M | re.S))
layers = [name for name in functions if name.startswith("layer")]


def payloads(name):
    """Of one call, with the functions that it calls."""
    body = functions[name]
    found = collections.Counter(4 * int(count) for count in re.findall(r"\.allReduce\(\s*[^;]*?,\s*(\d+)(?:,\s*ReduceOp::max)?\);", body))
    assert found.total() == body.count(".allReduce("), name
    for loss in re.findall(r"\b(?:crossEntropy|linearCrossEntropy|linearCrossEntropyGrad)\(ctx,[^;]*;", body):
        labels, slice_ = re.search(r"\{\w+,\s*\{([\d,\s]+)\}\},\s*(vocabulary\d*),", loss).groups()
        of = re.search(rf"\b{slice_}\(VocabularySlice\{{\w+,\s*\d+,\s*&overTp,([^}}]*)\}}", step)
        assert of, slice_
        tokens = math.prod(int(size) for size in labels.split(","))
        found += collections.Counter([4 * tokens, (12 if "labelSmoothing" in of[1] else 8) * tokens])
    for layer in layers:
        for _ in re.findall(rf"\b{layer}\(", body):
            found += payloads(layer)
    return found


for function, phases in (("forwardBackward", ("forward", "backward")), ("update", ("update",)), ("evaluate", ("evaluate",))):
    said = collections.Counter(c["payload_bytes"] for c in manifest["collectives"] if c["phase"] in phases)
    equal(f"collectives of {function}", dict(sorted(said.items())), dict(sorted(payloads(function).items())))
in_layers = sum(c["layer"] is not None for c in manifest["collectives"])
assert 0 < in_layers < len(manifest["collectives"])

# Parameters: the slice that a rank has, by the program's description of it.
entries = re.findall(r'info\.parameters\.push_back\(\{"([^"]*)",\s*\{[^{}]*\},\s*(\{(?:[^{}]|\{(?:[^{}]|\{[^{}]*\}|\{\{[^{}]*\}\})*\})*\}),\s*\{([\d,\s]*)\}', model)
equal("names", [p["name"] for p in manifest["parameters"]], [name for name, _, _ in entries])
for parameter, (name, dims, valid) in zip(manifest["parameters"], entries):
    assert parameter["shape"] == [int(size) for size in valid.split(",")], name
    sizes = [int(size) for size in re.findall(r"\{(\d+),\s*\{", dims)]
    cuts = [int(cut) for cut in re.findall(r'"tp",\s*(\d+)', dims)]
    assert len(sizes) == len(parameter["shape"]) and all(cut == ranks for cut in cuts) and len(cuts) <= 1, dims
    assert bool(cuts) == ("shard" in parameter["layout"]), parameter
    equal(f"bytes of {name}", parameter["bytes_per_rank"], 4 * math.prod(sizes) // math.prod(cuts))
begins = [int(b) for b in re.search(r"parameterBegin\[\] = \{([^}]*)\}", step)[1].split(",")]
at = 0
for begin, parameter in zip(begins, manifest["parameters"], strict=True):
    equal(f"begin of {parameter['name']}", at, begin)
    at += (parameter["bytes_per_rank"] + 63) // 64 * 64

# Segments.
allocated = {name: int(size) for name, size in re.findall(r"^  Segment (\w+)\{arena, (\d+)\};$", step, re.M)}
arena = int(re.search(r"^  Arena arena\{(\d+)\};$", step, re.M)[1])
equal("arena", sum((size + 63) // 64 * 64 for size in allocated.values()), arena)
allocated["optimizer"] = allocated.pop("firstMoments") + allocated.pop("secondMoments")
if "wholeOutputs" in allocated:
    allocated["whole_outputs"] = allocated.pop("wholeOutputs")
equal("segments", manifest["segments"], allocated)
equal("segments of first use", manifest["on_first_use"], [name for name in ("outputs", "whole_outputs") if name in allocated])
equal("parameter memory", at, allocated["parameters"])
print(f"agrees: {len(manifest['collectives'])} collectives, {len(begins)} parameters, {len(allocated)} segments")
