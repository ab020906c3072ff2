"""Makes models and data that are wrong in one way each, out of real exports.

  make_bad_models.py MODELS FOLDER
"""
import json
import os
import shutil
import struct
import sys

from onnx_file import (ENTRY_KEY, ENTRY_VALUE, MODEL_OPSETS, NODE_DOMAIN, NODE_NAME, NODE_OP,
                       OPSET_VERSION, TENSOR_EXTERNAL, TENSOR_NAME, Model, edit, put, text)

models, folder = sys.argv[1:]
shutil.rmtree(folder, ignore_errors=True)
tiny, dynamo = f"{models}/gpt2-tiny/model.onnx", f"{models}/gpt2-tiny-dynamo/model.onnx"


def path(name):
    os.makedirs(os.path.dirname(f"{folder}/{name}"), exist_ok=True)
    return f"{folder}/{name}"


def write(name, data):
    with open(path(name), "wb") as file:
        file.write(data)


# No model at all.
write("empty.onnx", b"")
write("text.onnx", b"This is no model but a sentence in a file whose name ends in .onnx.\n")
write("random.onnx", bytes((i * 7919 >> 3) & 255 for i in range(4096)))
write("zeros.onnx", bytes(4096))
os.mkdir(path("folder.onnx"))

# Cut off: in the header, among the nodes, in the middle of the weights, before the last byte.
whole = open(tiny, "rb").read()
for name, size in {"start": 60, "nodes": 5000, "half": len(whole) // 2, "end": len(whole) - 1}.items():
    write(f"cut-{name}.onnx", whole[:size])


def with_location(name, location):
    """gpt2-tiny-dynamo, the weights of which lie at `location`."""
    model = Model(dynamo)

    def change_entry(_, entry):
        if text(entry, ENTRY_KEY) == "location":
            put(entry, ENTRY_VALUE, location)

    model.edit_initializers(lambda _, tensor: edit(tensor, TENSOR_EXTERNAL, change_entry))
    model.write(path(f"{name}/model.onnx"))


data = open(dynamo + ".data", "rb").read()
with_location("missing", "model.onnx.data")
with_location("short", "model.onnx.data")
write("short/model.onnx.data", data[: len(data) // 2])
write("outside.data", data)
with_location("dots", "../outside.data")
with_location("absolute", os.path.abspath(path("outside.data")))
with_location("link", "link.data")
os.symlink(os.path.abspath(path("outside.data")), path("link/link.data"))

# Operators and opsets.
model = Model(tiny)
model.edit_nodes(lambda _, node: put(node, NODE_OP, "LSTM") if text(node, NODE_OP) == "Tanh" else None)
model.write(path("operator.onnx"))
model = Model(tiny)
model.edit_nodes(lambda _, node: put(node, NODE_OP, "Sigmoid") if text(node, NODE_OP) == "Tanh" else None)
model.write(path("sigmoid.onnx"))
model = Model(tiny)
model.edit_nodes(lambda i, node: put(node, NODE_DOMAIN, "com.example") if i == 30 else None)
model.write(path("domain.onnx"))
for version in (10, 99):
    model = Model(tiny)
    edit(model.message, MODEL_OPSETS, lambda _, opset: put(opset, OPSET_VERSION, version))
    model.write(path(f"opset-{version}.onnx"))


# Data that is neither text nor tokens.
write("image.png", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\1\0\0\0\1\b\0\0\0\0")


# Tokens. The vocabulary of gpt2-tiny has 503.
def write_tokens(name, tokens):
    write(name, struct.pack(f"<{len(tokens)}H", *tokens))


write_tokens("vocabulary.bin", [i % 500 for i in range(1000)] + [503] + [0] * 1000)
write_tokens("short.bin", [7] * 50)
write_tokens("low.bin", [i * i % 199 for i in range(2000)])
write("odd.bin", b"\1\0" * 500 + b"\1")
write_tokens("good.bin", [i * i % 503 for i in range(2000)])
header = [20240520, 1, 2001] + [0] * 253
write("header.bin", struct.pack("<256i", *header) + b"\1\0" * 2000)
write("file", b"")

# Weights.
weights = open(f"{models}/gpt2-tiny/reference.safetensors", "rb").read()
write("cut.safetensors", weights[: len(weights) // 2])
write("text.safetensors", b"no weights")


def safetensors(name, tensors, byte=b"\0"):
    header, offset = {}, 0
    for tensor, shape in tensors.items():
        size = 4
        for dim in shape:
            size *= dim
        header[tensor] = {"dtype": "F32", "shape": shape, "data_offsets": [offset, offset + size]}
        offset += size
    raw = json.dumps(header).encode()
    write(name, struct.pack("<Q", len(raw)) + raw + byte * offset)


shapes = {"transformer.wte.weight": [503, 64], "transformer.wpe.weight": [64, 64]}
for layer in (0, 1):
    for tensor, shape in {
        "ln_1.weight": [64], "ln_1.bias": [64], "attn.c_attn.weight": [64, 192],
        "attn.c_attn.bias": [192], "attn.c_proj.weight": [64, 64], "attn.c_proj.bias": [64],
        "ln_2.weight": [64], "ln_2.bias": [64], "mlp.c_fc.weight": [64, 256],
        "mlp.c_fc.bias": [256], "mlp.c_proj.weight": [256, 64], "mlp.c_proj.bias": [64],
    }.items():
        shapes[f"transformer.h.{layer}.{tensor}"] = shape
shapes |= {"transformer.ln_f.weight": [64], "transformer.ln_f.bias": [64]}
lacking = dict(shapes)
del lacking["transformer.h.1.mlp.c_fc.bias"]
safetensors("lacking.safetensors", lacking)
safetensors("shape.safetensors", shapes | {"transformer.h.1.mlp.c_fc.weight": [64, 255]})
safetensors("nan.safetensors", shapes, b"\xff")
