"""colrow verify notices what is wrong: check_wrong.py MODELS FOLDER"""
import glob
import json
import os
import re
import shutil
import subprocess
import sys

import safetensors_io as safetensors  # test/Inputs

models, folder = sys.argv[1:]
model = f"{models}/gpt2-tiny/model.onnx"
tensors = safetensors.read(f"{models}/gpt2-tiny/reference.safetensors")
bias = "grad.transformer.h.1.ln_2.bias"
number = 0


def verify(*arguments):
    """The rows that fail, as (quantity, name), and what is on stderr."""
    done = subprocess.run(["colrow", "verify", model, *arguments], capture_output=True, text=True)
    fails = [tuple(line.split()[:2]) for line in done.stdout.splitlines() if line.endswith("FAILS")]
    assert (done.returncode == 1) == (bool(fails) or "error:" in done.stderr), done.stdout + done.stderr
    return fails, done.stderr


def against(changed, *arguments):
    global number
    number += 1
    path = f"{folder}/reference{number}.safetensors"
    safetensors.write(path, changed)
    return verify("--reference", path, "--tp", "1", "--steps", "2", *arguments)


dtype, shape, values = tensors[bias]
fails, _ = against(tensors | {bias: (dtype, shape, [2 * value for value in values])})
assert fails == [("gradient", bias[5:])], fails
print("one doubled gradient: one row fails")

fails, _ = against(tensors | {"grad.nonsense": tensors[bias]})
assert fails == [("gradient", "nonsense")], fails
print("a gradient of no parameter: one row fails")

fails, error = against({name: tensor for name, tensor in tensors.items() if name.startswith("batch.")})
assert not fails and "has nothing to compare with" in error, (fails, error)
print("a reference without numbers: an error")

subprocess.run(["colrow", "compile", model, "--batch", "4", "--sequence", "32", "--no-build", "-o",
                f"{folder}/trainer"], check=True, capture_output=True)
weights = safetensors.read(f"{folder}/trainer/weights.safetensors")
dtype, shape, values = weights["transformer.ln_f.bias"]
weights["transformer.ln_f.bias"] = (dtype, shape, [float("nan"), *values[1:]])
safetensors.write(f"{folder}/nan.safetensors", weights)
fails, _ = against(tensors, "--weights", f"{folder}/nan.safetensors")
assert ("losses" in dict(fails)) and len(fails) > 20, fails
print("NaN: the rows fail")

# A trainer in whose source one all-reduce is missing.
grids = ["--batch", "4", "--sequence", "32", "--tp", "1,2", "--steps", "3"]
assert not verify(*grids)[0]
for manifest in glob.glob(f"{os.environ['XDG_CACHE_HOME']}/colrow/*/manifest.json"):
    if json.load(open(manifest))["grid"] == {"tp": 2}:
        trainer = os.path.dirname(manifest)
source = open(f"{trainer}/src/step.cpp").read()
without = re.sub(r"(void layerForward.*?)^ *overTp\.allReduce\(.*?\n", r"\1", source, 1, re.M | re.S)
assert without != source
open(f"{trainer}/src/step.cpp", "w").write(without)
libraries = os.path.join(os.path.dirname(os.path.dirname(shutil.which("colrow"))), "lib")
for command in (["cmake", "-S", trainer, "-B", f"{trainer}/build", f"-DCOLROW_LIBRARIES={libraries}"],
                ["cmake", "--build", f"{trainer}/build"]):
    subprocess.run(command, check=True, capture_output=True)
fails, _ = verify(*grids)
assert len(fails) > 20, fails
print("an all-reduce less: the gradients fail")
