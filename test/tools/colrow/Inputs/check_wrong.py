"""colrow verify notices what is wrong: check_wrong.py MODELS FOLDER"""
import glob
import json
import os
import re
import struct
import subprocess
import sys

models, folder = sys.argv[1:]
model = f"{models}/gpt2-tiny/model.onnx"
reference = f"{models}/gpt2-tiny/reference.safetensors"


def verify(*arguments):
    done = subprocess.run(["colrow", "verify", model, *arguments], capture_output=True, text=True)
    fails = [line for line in done.stdout.splitlines() if line.endswith("FAILS")]
    assert (done.returncode == 1) == bool(fails), done.stdout + done.stderr
    return fails


# A reference in which one gradient is twice as large: that row fails, and no other.
data = bytearray(open(reference, "rb").read())
size = struct.unpack("<Q", data[:8])[0]
begin, end = json.loads(data[8 : 8 + size])["grad.transformer.h.1.ln_2.bias"]["data_offsets"]
at = slice(8 + size + begin, 8 + size + end)
values = struct.unpack(f"<{(end - begin) // 4}f", data[at])
data[at] = struct.pack(f"<{len(values)}f", *(2 * value for value in values))
wrong = f"{folder}/wrong.safetensors"
open(wrong, "wb").write(data)
fails = verify("--reference", wrong, "--tp", "1")
assert len(fails) == 1 and fails[0].split()[:2] == ["gradient", "transformer.h.1.ln_2.bias"], fails
print("one doubled gradient: one row fails")

# A trainer in whose source one all-reduce is missing.
grids = ["--batch", "4", "--sequence", "32", "--tp", "1,2", "--steps", "3"]
assert not verify(*grids)
for manifest in glob.glob(f"{os.environ['XDG_CACHE_HOME']}/colrow/*/manifest.json"):
    if json.load(open(manifest))["grid"] == {"tp": 2}:
        trainer = os.path.dirname(manifest)
source = open(f"{trainer}/src/step.cpp").read()
without = re.sub(r"(void layerForward.*?)^ *overTp\.allReduce\(.*?\n", r"\1", source, 1, re.M | re.S)
assert without != source
open(f"{trainer}/src/step.cpp", "w").write(without)
for command in (["cmake", "-S", trainer, "-B", f"{trainer}/build"], ["cmake", "--build", f"{trainer}/build"]):
    subprocess.run(command, check=True, capture_output=True)
fails = verify(*grids)
assert len(fails) > 20, fails
print("an all-reduce less: the gradients fail")
