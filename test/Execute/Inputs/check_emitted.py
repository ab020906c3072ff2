"""Compiles a sharded program to C++, runs the trainer, and compares with the fp64 interpreter.

  check_emitted.py PROGRAM.mlir FOLDER [PASS...]

PROGRAM has @main on whole tensors. PASS are run before differentiation, such as
--colrow-decompose. One step of `trainer replay` from random weights: loss, outputs, every
gradient, and every parameter after the update must agree to single precision.
"""
import os
import random
import re
import subprocess
import sys
from array import array

import safetensors_io  # test/Inputs
from safetensors_io import write


def read(path):
    return {name: (shape, list(values)) for name, (_, shape, values) in safetensors_io.read(path).items()}


def run(*command):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)} failed:\n{done.stdout}{done.stderr}")
    return done.stdout


def numel(shape):
    count = 1
    for size in shape:
        count *= size
    return count


def shift(labels, sequence):
    """Position t predicts label t + 1."""
    return [
        labels[i + 1] if (i + 1) % sequence else -100 for i in range(len(labels))
    ]


failures = 0


def compare(what, got, expected, tolerance):
    global failures
    norm = sum(x * x for x in expected) ** 0.5
    distance = sum((a - b) ** 2 for a, b in zip(got, expected)) ** 0.5
    relative = distance / max(norm, 1e-30)
    ok = len(got) == len(expected) and relative <= tolerance and norm > 0
    failures += not ok
    print(f"{'ok' if ok else 'WRONG'} {what}: {len(expected)} numbers, distance {relative:.1e}")


program, folder, passes = sys.argv[1], sys.argv[2], sys.argv[3:]
os.makedirs(folder, exist_ok=True)
step = f"{folder}/step.mlir"
run("colrow-opt", program, *passes, "--colrow-evaluate", "--colrow-differentiate", "--colrow-optimizer", "--cse",
    "-o", step)
run("colrow-opt", step, "--colrow-localize", "--colrow-join-pads", "--colrow-accumulate", "--cse",
    "--colrow-repeat-views", "--colrow-outline", f"--colrow-emit-cpp=folder={folder}/trainer build", "-o", "/dev/null")

# What the program takes, from its text.
text = open(step).read()
arguments = re.findall(
    r"%\w+: tensor<([\dx]*)(f32|i64)[^{]*\{([^}]*)\}",
    text[text.index("func.func @forward_backward") :].split("->")[0],
)
random.seed(7)
weights, batch, whole = {}, {}, {}
for dims, element, attributes in arguments:
    shape = [int(size) for size in dims.split("x") if size]
    name = re.search(r'colrow.name = "([^"]*)"', attributes).group(1)
    role = re.search(r'colrow.role = "([^"]*)"', attributes).group(1)
    if role == "parameter":
        values = list(array("f", [random.gauss(0, 0.3) for _ in range(numel(shape))]))
        weights[name] = ("F32", shape, values)
    elif role == "input" and not name.startswith("colrow."):
        limit = 200
        values = [random.randrange(limit) for _ in range(numel(shape))]
        batch["batch." + name] = ("I64", [1] + shape, values)
        whole[name] = ("I64", shape, shift(values, shape[-1]) if name == "labels" else values)
write(f"{folder}/weights.safetensors", weights)
write(f"{folder}/batch.safetensors", batch)
run(f"{folder}/trainer/trainer", "replay", "--weights", f"{folder}/weights.safetensors",
    "--batches", f"{folder}/batch.safetensors", "--steps", "1", "--out",
    f"{folder}/result.safetensors", "--lr", "0.01", "--clip", "0.5")
result = read(f"{folder}/result.safetensors")

# The same in the interpreter: dropout is off in replay.
count = sum(label != -100 for label in whole["labels"][2])
whole.update(weights)
whole["colrow.count"] = ("F32", [], [count])
whole["colrow.random"] = ("I64", [4], [0, 0, 0, 0])
for name, (dtype, shape, values) in weights.items():
    whole[name + ".gradient"] = (dtype, shape, [0.0] * len(values))
write(f"{folder}/inputs.safetensors", whole)


def interpret(function, inputs):
    out = f"{folder}/{function}.safetensors"
    run("colrow-run", step, "--function", function, "--inputs", inputs, "--output", out)
    return read(out)


evaluated = interpret("evaluate", f"{folder}/inputs.safetensors")
stepped = interpret("forward_backward", f"{folder}/inputs.safetensors")
compare("loss of evaluate", result["loss"][1], evaluated["loss"][1], 1e-6)
compare("loss of the step", result["losses"][1], stepped["loss"][1], 1e-6)
for name, (shape, values) in evaluated.items():
    if name != "loss":
        compare(name, result[name][1], values, 1e-5)
for name in weights:
    compare("gradient of " + name, result["grad." + name][1], stepped[name + ".gradient"][1], 1e-5)
inputs = {}
for name, (dtype, shape, values) in weights.items():
    inputs[name] = (dtype, shape, values)
    inputs[name + ".gradient"] = ("F64", shape, stepped[name + ".gradient"][1])
    inputs[name + ".first"] = inputs[name + ".second"] = (dtype, shape, [0.0] * len(values))
inputs["colrow.scalars"] = ("F64", [8], [0.01, 0.9, 0.95, 1e-8, 0.01, 1 - 0.9, 1 - 0.95, 0.5])
write(f"{folder}/update-inputs.safetensors", inputs)
updated = interpret("update", f"{folder}/update-inputs.safetensors")
compare("gradient norm", result["grad_norms"][1], updated["grad_norm"][1], 1e-6)
for name in weights:
    # AdamW's first step is the sign of the gradient: noise where that is nearly zero.
    largest = max(abs(x) for x in stepped[name + ".gradient"][1])
    keep = [abs(x) > 1e-4 * largest for x in stepped[name + ".gradient"][1]]
    pick = lambda values: [x for x, kept in zip(values, keep) if kept]
    compare("updated " + name, pick(result["final." + name][1]), pick(updated[name][1]), 1e-5)
sys.exit(1 if failures else 0)
