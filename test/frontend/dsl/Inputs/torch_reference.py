"""torch_reference.py MODEL.json REFERENCE.safetensors OUT.safetensors

Gives the gradients and final values of a reference torch's names and orientation, by what `colrow inspect
--json` says of the exported model. A tied parameter is kept once.
"""
import json
import sys

import safetensors_io

manifest, reference, out = sys.argv[1:]
parameters = json.load(open(manifest))["parameters"]
tensors, result = safetensors_io.read(reference), {}
named = set()
for parameter in parameters:
    for prefix in ("grad.", "final."):
        for name in parameter["onnx"] + [parameter["name"]] + parameter["tied_to"]:
            named.add(prefix + name)
        found = [n for n in parameter["onnx"] + [parameter["name"]] if prefix + n in tensors]
        if not found:
            continue
        dtype, shape, values = tensors[prefix + found[0]]
        # manifest: the shape of the program's value, whether that is the transpose of torch's
        if shape == parameter["shape"] and parameter["transposed"]:
            rows, columns = shape
            values = [values[i * columns + j] for j in range(columns) for i in range(rows)]
            shape = [columns, rows]
        result[prefix + parameter["name"]] = (dtype, shape, values)
for name, tensor in tensors.items():
    if name not in named:
        result[name] = tensor
assert any(name.startswith("grad.") for name in result)
safetensors_io.write(out, result)
