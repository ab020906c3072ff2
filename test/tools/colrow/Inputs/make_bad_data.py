"""Files of named inputs, and graphs, that do not fit each other: see bad-data.test.

  make_bad_data.py MODELS FOLDER
"""
import os
import sys

from onnx_file import GRAPH_NODES, GRAPH_OUTPUTS, NODE_INPUTS, NODE_OP, NODE_OUTPUTS, VALUE_NAME, Model, parse, put, \
    serialize, text, values
from safetensors_io import read, write

models, folder = sys.argv[1:]
os.makedirs(folder, exist_ok=True)
rows = {}
for name, (dtype, shape, data) in read(f"{models}/bert-tiny/reference.safetensors").items():
    if name.startswith("batch."):
        rows[name.removeprefix("batch.")] = (dtype, [shape[0] * shape[1], *shape[2:]], list(data))


def bad(name, tensor, change):
    changed = {key: (dtype, list(shape), list(data)) for key, (dtype, shape, data) in rows.items()}
    change(changed, *changed[tensor])
    write(f"{folder}/{name}.safetensors", changed)


def fill(first, count, value):
    def change(changed, dtype, shape, data):
        data[first : first + count] = [value] * count
    return change


bad("good", "labels", lambda *_: None)
bad("name", "labels", lambda changed, *tensor: (changed.pop("labels"), changed.update(targets=tensor)))
bad("type", "input_ids",
    lambda changed, _, shape, data: changed.update(input_ids=("F32", shape, data)))
bad("shape", "attention_mask",
    lambda changed, dtype, shape, data: changed.update(attention_mask=(dtype, [32, 16], data)))
bad("mask", "attention_mask", fill(7 * 32, 32, 0))
bad("ignored", "labels", fill(0, 16 * 32, -100))
bad("vocabulary", "input_ids", fill(2 * 32 + 5, 1, 389))


def keep_one(changed, dtype, shape, data):
    data[:] = [-100] * 31 + [5] + [-100] * (15 * 32)


bad("rare", "labels", keep_one)

# An output that is the loss again, and logits of another kind.
model = Model(f"{models}/gpt2-tiny-loss/model.onnx")
outputs = {text(parse(output), VALUE_NAME): parse(output) for output in values(model.graph, GRAPH_OUTPUTS)}
for source, name in (("loss", "twice"), ("logits", "scores")):
    node = [[NODE_INPUTS, 2, source.encode()], [NODE_INPUTS, 2, source.encode()]]
    put(node, NODE_OP, "Add")
    put(node, NODE_OUTPUTS, name)
    model.graph.append([GRAPH_NODES, 2, serialize(node)])
    put(outputs[source], VALUE_NAME, name)
    model.graph.append([GRAPH_OUTPUTS, 2, serialize(outputs[source])])
model.write(f"{folder}/several.onnx")
