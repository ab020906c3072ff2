"""colrow verify for every model with a reference: verify_all.py COLROW MODELS CACHE"""
import os
import pathlib
import subprocess
import sys

colrow, models, cache = sys.argv[1:]
runs = 0
for reference in sorted(pathlib.Path(models).glob("*/reference.safetensors")):
    for form in ("all", "none"):
        command = [colrow, "verify", reference.with_name("model.onnx"), "--reference", reference, "--interpret",
                   "--tp", "1,2,4", "--raise", form]
        done = subprocess.run(command, env=os.environ | {"XDG_CACHE_HOME": cache}, capture_output=True, text=True)
        print(reference.parent.name, form, "verified" if done.returncode == 0 else "FAILS\n" + done.stdout + done.stderr)
        runs += done.returncode == 0
print(f"{runs} runs verified")
