"""Renames every node and every tensor of a model, and the tensors of its references alike.

  rename.py MODEL_FOLDER OUT_FOLDER

OUT_FOLDER/names.json maps old names to new ones, those of tensors to v1, v2, ..., of nodes to n1, n2, ...
"""
import json
import os
import shutil
import struct
import sys

from onnx_file import (GRAPH_INITIALIZERS, GRAPH_INPUTS, GRAPH_NODES, GRAPH_OUTPUTS, GRAPH_VALUES,
                       NODE_INPUTS, NODE_NAME, NODE_OUTPUTS, TENSOR_NAME, VALUE_NAME, Model, edit, put, text)

source, target = sys.argv[1:]
shutil.rmtree(target, ignore_errors=True)
os.makedirs(target)
names = {}


def renamed(name):
    if name and name not in names:
        # Such that alphabetical order is another one.
        names[name] = f"v{len(names) * 7919 % 9973}"
    return names.get(name, "")


def rename_node(i, node):
    names[text(node, NODE_NAME)] = f"n{i * 7919 % 9973}"
    put(node, NODE_NAME, f"n{i * 7919 % 9973}")
    for entry in node:
        if entry[0] in (NODE_INPUTS, NODE_OUTPUTS):
            entry[2] = renamed(entry[2].decode()).encode()


def rename_at(field):
    def rename(_, message):
        for entry in message:
            if entry[0] == field:
                entry[2] = renamed(entry[2].decode()).encode()

    return rename


model = Model(f"{source}/model.onnx")
for field in (GRAPH_INPUTS, GRAPH_OUTPUTS, GRAPH_VALUES):
    edit(model.graph, field, rename_at(VALUE_NAME))
edit(model.graph, GRAPH_INITIALIZERS, rename_at(TENSOR_NAME))
edit(model.graph, GRAPH_NODES, rename_node)
model.write(f"{target}/model.onnx")
if os.path.exists(f"{source}/model.onnx.data"):
    shutil.copy(f"{source}/model.onnx.data", target)

for file in ("reference.safetensors", "reference64.safetensors"):
    raw = open(f"{source}/{file}", "rb").read()
    (size,) = struct.unpack_from("<Q", raw)
    header = {}
    for name, entry in json.loads(raw[8 : 8 + size]).items():
        kind, dot, tensor = name.partition(".")
        if dot and kind in ("grad", "final", "batch") and tensor in names:
            name = f"{kind}.{names[tensor]}"
        header[names.get(name, name)] = entry
    head = json.dumps(header).encode()
    with open(f"{target}/{file}", "wb") as out:
        out.write(struct.pack("<Q", len(head)) + head + raw[8 + size :])
with open(f"{target}/names.json", "w") as out:
    json.dump(names, out)
