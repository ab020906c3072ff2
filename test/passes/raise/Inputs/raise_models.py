"""What is recognised in every GPT-2 export with weights: raise_models.py COLROW_TRANSLATE COLROW_OPT MODELS"""
import pathlib
import re
import subprocess
import sys

translate, opt, models = sys.argv[1:]


def run(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


for reference in sorted(pathlib.Path(models).glob("gpt2-*/reference.safetensors")):
    path = str(reference.with_name("model.onnx"))
    imported = run(translate, "--import-onnx", path, "--batch", "2", "--sequence", "8", "-o", "-")
    done = subprocess.run([opt, "--colrow-widen-constants", "--colrow-raise", "-"], input=imported, check=True,
                          capture_output=True, text=True).stdout
    causal = re.findall(r"colrow\.attention .* causal 0 ", done)
    dropped = [line for line in causal if " rate " in line]
    rest = sorted(set(re.findall(r"colrow\.(?:softmax|tanh|pow|isnan|select)\b", done)))
    print(f"{reference.parent.name}: {len(causal)} causal, {len(dropped)} with dropout, "
          f"{len(re.findall(r'colrow.gelu tanh', done))} gelu tanh, rest: {', '.join(rest) or 'none'}")
