"""Renaming every node and tensor of a model changes nothing but names.

  check_renamed.py MODEL_FOLDER FOLDER

The sharded program with its old names put back is the old one; the numbers of the emitted and of the
interpreted program, held against PyTorch's, are the same; and initial values go by use.
"""
import json
import os
import re
import subprocess
import sys

from runs import check, finish, read_tensors

source, folder = sys.argv[1:]
renamed = f"{folder}/renamed"
environment = os.environ | {"XDG_CACHE_HOME": f"{folder}/cache"}


def run(*command):
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)} failed:\n{done.stdout}{done.stderr}")
    return done.stdout


run(sys.executable, os.path.join(os.path.dirname(__file__), "rename.py"), source, renamed)
with open(f"{renamed}/names.json") as file:
    old_names = {new: old for old, new in json.load(file).items()}


def with_old_names(text):
    return re.sub(r"\b[nv]\d+\b", lambda match: old_names.get(match[0], match[0]), text)


def program(model, form):
    text = run("colrow", "inspect", f"{model}/model.onnx", "--ir", "--tp", "2", "--raise", form, "--batch", "4",
               "--sequence", "32")
    # Names that are put together from names, and the file's.
    text = re.sub(r"colrow\.aliases = \[[^]]*\], ", "", text)
    return text.replace(f'colrow.model = "{model}/model.onnx"', "")


for form in ("all", "none"):
    old, new = program(source, form), with_old_names(program(renamed, form))
    check(f"--raise {form}: the sharded program is the same", old == new and "shard" in old)


def numbers(model):
    out = f"{folder}/verify.json"
    run("colrow", "verify", f"{model}/model.onnx", "--reference", f"{model}/reference.safetensors", "--tp", "2",
        "--interpret", "--json", out)
    with open(out) as file:
        rows = json.load(file)
    return sorted((row["program"], row["quantity"], with_old_names(row["name"]), row["distance"], row["compared"])
                  for row in rows)


old, new = numbers(source), numbers(renamed)
check("the numbers are the same", old == new, [pair for pair in zip(old, new) if pair[0] != pair[1]])
check("and they were compared", sum(row[4] for row in new) > 90, len(new))


def initial(model):
    run("colrow", "train", f"{model}/model.onnx", "--tp", "2", "--batch", "4", "--sequence", "32", "--init", "--lr",
        "1e-300", "--steps", "1", "--data", __file__, "--out", f"{folder}/init")
    return read_tensors(f"{folder}/init/final.safetensors")


vectors = {name: set(values) for name, (shape, values) in initial(source).items() if len(shape) == 1}
again = {with_old_names(name): set(values) for name, (shape, values) in initial(renamed).items()
         if len(shape) == 1}
check("vectors begin as ones or zeros by their use", vectors == again and {1.0} in vectors.values(),
      (vectors, again))
finish()
