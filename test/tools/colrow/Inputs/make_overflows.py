"""Weights of gpt2-tiny that are in the range of float and whose products are not.

  make_overflows.py WEIGHTS FOLDER
"""
import os
import sys

from runs import read_tensors, write_tensors

weights, folder = sys.argv[1:]
os.makedirs(folder, exist_ok=True)
tensors = read_tensors(weights)


def write(name, changes):
    """changes: name of a tensor -> function of the place and the value"""
    changed = dict(tensors)
    for tensor, change in changes.items():
        shape, values = tensors[tensor]
        changed[tensor] = (shape, [change(i, value) for i, value in enumerate(values)])
    write_tensors(f"{folder}/{name}.safetensors", changed)


columns = tensors["transformer.h.1.mlp.c_fc.weight"][0][1]
write("product", {"transformer.h.1.mlp.c_fc.weight": lambda i, x: 1e38 if i % columns == columns - 1 else x,
                  "transformer.h.1.ln_2.weight": lambda i, x: 1e3})
write("parameter", {"transformer.h.1.attn.c_proj.weight": lambda i, x: float("inf") if i == 100 else x})
write("gradient", {"transformer.h.1.mlp.c_fc.weight": lambda i, x: x * 1e30,
                   "transformer.h.1.mlp.c_proj.weight": lambda i, x: x * 1e-30})
