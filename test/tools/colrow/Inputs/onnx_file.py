"""Edits ONNX files with Python's standard library alone: protobuf's wire format, and no more of
ONNX's schema than the tests need.

A message is a list of [field, wire type, value]: a number for wire type 0, bytes otherwise. What is
not touched is written back byte for byte.
"""
import struct

# Field numbers of onnx.proto.
MODEL_GRAPH, MODEL_OPSETS = 7, 8
GRAPH_NODES, GRAPH_INITIALIZERS, GRAPH_INPUTS, GRAPH_OUTPUTS, GRAPH_VALUES = 1, 5, 11, 12, 13
NODE_INPUTS, NODE_OUTPUTS, NODE_NAME, NODE_OP, NODE_ATTRIBUTES, NODE_DOMAIN = 1, 2, 3, 4, 5, 7
TENSOR_DIMS, TENSOR_TYPE, TENSOR_NAME, TENSOR_RAW, TENSOR_EXTERNAL = 1, 2, 8, 9, 13
VALUE_NAME = 1
OPSET_VERSION = 2
ENTRY_KEY, ENTRY_VALUE = 1, 2


def _varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            return value, at


def _write_varint(value):
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    out.append(value)
    return bytes(out)


def parse(data):
    message, at = [], 0
    while at < len(data):
        key, at = _varint(data, at)
        wire = key & 7
        if wire == 0:
            value, at = _varint(data, at)
        else:
            size, at = {1: (8, at), 5: (4, at)}.get(wire) or _varint(data, at)
            value = data[at : at + size]
            at += size
        message.append([key >> 3, wire, value])
    return message


def serialize(message):
    out = bytearray()
    for field, wire, value in message:
        out += _write_varint(field << 3 | wire)
        if wire == 0:
            out += _write_varint(value)
        else:
            out += (_write_varint(len(value)) if wire == 2 else b"") + value
    return bytes(out)


def values(message, field):
    return [value for f, _, value in message if f == field]


def text(message, field):
    """The last value of a string field; empty if it is not set."""
    return ([b""] + values(message, field))[-1].decode()


def put(message, field, value):
    """Sets a field that occurs at most once."""
    wire = 0 if isinstance(value, int) else 2
    value = value.encode() if isinstance(value, str) else value
    message[:] = [entry for entry in message if entry[0] != field] + [[field, wire, value]]


def edit(message, field, change):
    """Calls change(i, submessage) on each submessage of a repeated field, which it may alter."""
    i = 0
    for entry in message:
        if entry[0] == field:
            inner = parse(entry[2])
            change(i, inner)
            entry[2] = serialize(inner)
            i += 1


class Model:
    """An ONNX file; `graph` may be changed with edit() and put() before write()."""

    def __init__(self, path):
        with open(path, "rb") as file:
            self.message = parse(file.read())
        self.graph = parse(values(self.message, MODEL_GRAPH)[0])

    def write(self, path):
        for entry in self.message:
            if entry[0] == MODEL_GRAPH:
                entry[2] = serialize(self.graph)
        with open(path, "wb") as file:
            file.write(serialize(self.message))

    def edit_nodes(self, change):
        edit(self.graph, GRAPH_NODES, change)

    def edit_initializers(self, change):
        edit(self.graph, GRAPH_INITIALIZERS, change)


def dims(tensor):
    """The shape of a tensor: `dims` is packed or not, as the writer liked."""
    result = []
    for field, wire, value in tensor:
        if field != TENSOR_DIMS:
            continue
        if wire == 0:
            result.append(value)
            continue
        at = 0
        while at < len(value):
            size, at = _varint(value, at)
            result.append(size)
    return result


def put_dims(tensor, shape):
    tensor[:] = [entry for entry in tensor if entry[0] != TENSOR_DIMS]
    tensor[:0] = [[TENSOR_DIMS, 0, size] for size in shape]


def floats(tensor):
    raw = values(tensor, TENSOR_RAW)[0]
    return list(struct.unpack(f"<{len(raw) // 4}f", raw))
