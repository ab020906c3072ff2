"""Reads and writes safetensors files with the standard library: name -> (dtype, shape, values)."""
import json
import struct
from array import array

STORAGE = {"F32": "f", "F64": "d", "I64": "q"}


def write(path, tensors):
    header, data, offset = {}, [], 0
    for name, (dtype, shape, values) in tensors.items():
        raw = array(STORAGE[dtype], values).tobytes()
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [offset, offset + len(raw)]}
        data.append(raw)
        offset += len(raw)
    text = json.dumps(header).encode()
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text + b"".join(data))


def read(path):
    with open(path, "rb") as file:
        raw = file.read()
    (size,) = struct.unpack_from("<Q", raw)
    tensors = {}
    for name, entry in json.loads(raw[8 : 8 + size]).items():
        if name != "__metadata__":
            begin, end = entry["data_offsets"]
            values = array(STORAGE[entry["dtype"]])
            values.frombytes(raw[8 + size + begin : 8 + size + end])
            tensors[name] = (entry["dtype"], entry["shape"], values)
    return tensors
