"""Exports a model with other weights and checks that they and what they compute come back.

  check_export.py MODEL.onnx FOLDER [WEIGHTS]

Without WEIGHTS (a file or a run's folder), every number of the model's own is moved a little, so that
no two parameters are equal and no bias is zero. The exported file is imported again: its parameters
must be those bits, and its logits in the fp64 interpreter those of the original program with the
weights put in.
"""
import os
import random
import re
import subprocess
import sys

import safetensors_io as safetensors  # test/Inputs

BATCH, SEQUENCE = 2, 16


def run(*command):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)} failed:\n{done.stdout}{done.stderr}")
    return done.stdout


def weights_of(model, folder):
    """The parameters of a model as the importer sees them, under torch's names."""
    run("colrow", "compile", model, "--batch", str(BATCH), "--sequence", str(SEQUENCE), "--no-build", "-o", folder)
    return safetensors.read(f"{folder}/weights.safetensors")


def logits(model, weights, name):
    """What @main computes from these weights."""
    run("colrow-translate", "--import-onnx", model, "--batch", str(BATCH), "--sequence", str(SEQUENCE), "-o",
        f"{name}.mlir")
    with open(f"{name}.mlir") as file:
        text = file.read()
    text = text[text.index("func.func @main") :].split("->")[0]
    random.seed(5)
    inputs = {}
    for dims, attributes in re.findall(r"%\w+: tensor<([\dx]*)x?[fi]\d+> \{([^}]*)\}", text):
        shape = [int(size) for size in dims.split("x") if size]
        name_, role = (re.search(rf'colrow.{key} = "([^"]*)"', attributes).group(1) for key in ("name", "role"))
        if role == "parameter":
            dtype, torch_shape, values = weights[name_]
            if "colrow.transposed" in attributes:
                rows, columns = torch_shape
                values = [values[r * columns + c] for c in range(columns) for r in range(rows)]
            inputs[name_] = (dtype, shape, values)
        elif name_ == "colrow.random":
            inputs[name_] = ("I64", shape, [0, 0, 0, 0])  # dropout is off
        else:
            count = 1
            for size in shape:
                count *= size
            inputs[name_] = ("I64", shape, [random.randrange(300) for _ in range(count)])
    safetensors.write(f"{name}.inputs", inputs)
    run("colrow-run", f"{name}.mlir", "--inputs", f"{name}.inputs", "--output", f"{name}.outputs")
    return safetensors.read(f"{name}.outputs")["logits"], inputs


def main():
    model, folder = sys.argv[1:3]
    os.makedirs(folder, exist_ok=True)
    trained, exported = f"{folder}/trained.safetensors", f"{folder}/exported.onnx"
    if len(sys.argv) > 3:
        trained = sys.argv[3]
    else:
        random.seed(11)
        own = weights_of(model, f"{folder}/original")
        safetensors.write(trained, {name: (dtype, shape, [value + random.gauss(0, 0.05) for value in values])
                                    for name, (dtype, shape, values) in own.items()})
    print(run("colrow", "export", model, "--weights", trained, "-o", exported), end="")
    file = os.path.join(trained, "final.safetensors") if os.path.isdir(trained) else trained
    given, read = safetensors.read(file), weights_of(exported, f"{folder}/again")
    for name, tensor in read.items():
        assert tensor == given[name], f"{name} is not what was exported"
    expected, inputs = logits(model, given, f"{folder}/model")
    got, _ = logits(exported, read, f"{folder}/exported")
    distance = max(abs(a - b) for a, b in zip(got[2], expected[2]))
    assert got[:2] == expected[:2] and max(map(abs, expected[2])) > 0.1, "other logits"
    print(f"{len(read)} parameters come back; logits {expected[1]}, largest difference {distance:g}")
    safetensors.write(f"{folder}/expected.safetensors", {
        "logits": expected, **{name: tensor for name, tensor in inputs.items() if name == "input_ids" or name == "labels"}})
    return distance > 1e-12


if __name__ == "__main__":
    sys.exit(main())
