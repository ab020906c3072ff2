"""Cuts the vocabulary of a GPT-2 down to its first tokens.

  cut_vocabulary.py MODEL.onnx TOKENS OUT.onnx

Every initializer with a dimension of the embedding's size loses the rest of it.
"""
import struct
import sys

from onnx_file import TENSOR_NAME, TENSOR_RAW, Model, dims, floats, put, put_dims, text

model, tokens = Model(sys.argv[1]), int(sys.argv[2])
sizes = []


def find(_, tensor):
    if text(tensor, TENSOR_NAME).endswith("wte.weight"):
        sizes.append(dims(tensor)[0])


def cut(_, tensor):
    shape = dims(tensor)
    if sizes[0] not in shape:
        return
    values, row = floats(tensor), shape[-1]
    if shape[0] == sizes[0]:
        kept = values[: tokens * row]
    else:
        kept = [x for i in range(shape[0]) for x in values[i * row : i * row + tokens]]
    put_dims(tensor, [tokens if size == sizes[0] else size for size in shape])
    put(tensor, TENSOR_RAW, struct.pack(f"<{len(kept)}f", *kept))


model.edit_initializers(find)
model.edit_initializers(cut)
model.write(sys.argv[3])
