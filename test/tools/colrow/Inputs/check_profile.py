"""Holds a profile and the manifest's loop_bytes against a trainer: check_profile.py PROFILE FOLDER RANKS

PROFILE is what `trainer train --profile` wrote, of a trainer whose products are all calls of einsum; or -.
"""
import json
import math
import re
import sys

profile_path, folder, ranks = sys.argv[1], sys.argv[2], int(sys.argv[3])
with open(f"{folder}/manifest.json") as file:
    manifest = json.load(file)
with open(f"{folder}/src/step.cpp") as file:
    step = file.read()


def equal(what, got, expected):
    if got != expected:
        sys.exit(f"{what}: {got}, expected {expected}")
    print(f"ok {what}")


if profile_path != "-":
    with open(profile_path) as file:
        profile = json.load(file)
    flops = sum(call["flops"] for call in profile["calls"])
    expected = profile["steps"] * manifest["flops"]["forward_backward"] / ranks
    equal(f"FLOPs of {profile['steps']} steps", flops, expected)
    assert sum(call["seconds"] for call in profile["calls"]) <= profile["seconds"]
    steps = {call["name"]: call["calls"] / profile["steps"] for call in profile["calls"]}
    assert steps["adamW"] == len(manifest["parameters"]), steps
    reduces = [c for c in manifest["collectives"] if c["phase"] != "evaluate"]
    assert steps["allReduce"] == len(reduces), (steps, len(reduces))

# Loops, as they stand in the source: what each reads and writes, index by index.
functions = dict(re.findall(r"^  (?:double|void) (\w+)\([^{]*\{[^\n}]*\n(.*?)^  \}$", step, re.M | re.S))
SIZES = {"float": 4, "int64_t": 8, "uint8_t": 1}
NEST = re.compile(r"((?:for \(int64_t \w+ = 0; \w+ < \d+; \+\+\w+\)\s*|COLROW_INDEPENDENT\s*)+)(\{.*?\n\s*\}|[^{;]*;)", re.S)
SCALARS = re.compile(r"^    \{\n(.*?)^    \}$|^    \w+\[0\] = (?!float\()[^;]*;$", re.M | re.S)


def accesses_of(body, ranges, types):
    total = 0
    found = set()
    for statement in body.strip("{}\n ").split(";"):
        left, assigns, right = statement.partition(" = ")
        for side, text in (("write", left if assigns else ""), ("read", right if assigns else left)):
            for pointer, index in re.findall(r"(\w+|\([^()]*\))\[([^\]]*)\]", text):
                found.add((side, pointer, re.sub(r"\s+", " ", index)))
    for _, pointer, index in found:
        element = SIZES[types.get(pointer, "float")]
        total += element * math.prod(size for name, size in ranges.items() if re.search(rf"\b{name}\b", index))
    return total


def loop_bytes(name):
    body = functions[name]
    types = {pointer: kind for kind, pointer in re.findall(r"(\w+) \*(\w+)", step)}
    total = 0
    for head, inner in NEST.findall(body):
        ranges = {var: int(size) for var, size in re.findall(r"(\w+) < (\d+)", head)}
        total += accesses_of(inner, ranges, types)
    for match in SCALARS.finditer(NEST.sub("", body)):
        total += accesses_of(match[0], {}, types)
    for callee in re.findall(r"\b(\w+)\(", body):
        total += loop_bytes(callee) if callee in functions else 0
    return total


for name, key in (("forwardBackward", "forward_backward"), ("update", "update")):
    equal(f"bytes of loops in {name}", manifest["loop_bytes"][key], loop_bytes(name))
