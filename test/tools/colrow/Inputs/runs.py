"""Training runs of emitted programs, for tests that compare them.

Trainers are compiled once and kept in FOLDER/cache. Standard library only.
"""
import json
import os
import shutil
import struct
import subprocess
import sys
from array import array

ARRAYS = {"F32": "f", "F64": "d", "I64": "q"}


def read_tensors(path):
    """name -> (shape, values)"""
    with open(path, "rb") as file:
        raw = file.read()
    (size,) = struct.unpack_from("<Q", raw)
    tensors = {}
    for name, entry in json.loads(raw[8 : 8 + size]).items():
        if name != "__metadata__":
            begin, end = entry["data_offsets"]
            values = array(ARRAYS[entry["dtype"]])
            values.frombytes(raw[8 + size + begin : 8 + size + end])
            tensors[name] = (entry["shape"], values)
    return tensors


def write_tensors(path, tensors):
    """tensors: name -> (shape, floats)"""
    header, data, offset = {}, b"", 0
    for name, (shape, values) in tensors.items():
        raw = array("f", values).tobytes()
        header[name] = {"dtype": "F32", "shape": shape, "data_offsets": [offset, offset + len(raw)]}
        data += raw
        offset += len(raw)
    text = json.dumps(header).encode()
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text + data)


def write_tokens(path, tokens, code="H", header=()):
    with open(path, "wb") as file:
        file.write(struct.pack(f"<{len(header)}i", *header) + array(code, tokens).tobytes())


class Run:
    """What `colrow train` left in its folder."""

    def __init__(self, folder, output):
        self.folder, self.output = folder, output
        with open(f"{folder}/metrics.jsonl") as file:
            lines = [json.loads(line) for line in file]
        self.steps = [line for line in lines if "loss" in line]
        self.evaluations = [line for line in lines if "eval_loss" in line]
        self.losses = [line["loss"] for line in self.steps]
        self.norms = [line["grad_norm"] for line in self.steps]
        with open(f"{folder}/config.json") as file:
            self.config = json.load(file)

    def file(self, name="final.safetensors"):
        return f"{self.folder}/{name}"

    def tensors(self, name="final.safetensors"):
        return read_tensors(self.file(name))


class Trainers:
    def __init__(self, folder):
        self.folder = folder
        shutil.rmtree(folder, ignore_errors=True)
        os.makedirs(folder)
        self.count = 0

    def environment(self):
        return os.environ | {"XDG_CACHE_HOME": f"{self.folder}/cache"}

    def train(self, model, *options, tp=1, batch=4, sequence=32):
        self.count += 1
        out = f"{self.folder}/run{self.count}"
        command = ["colrow", "train", model, "--tp", str(tp), "--batch", str(batch), "--out", out, *map(str, options)]
        if sequence:
            command += ["--sequence", str(sequence)]
        done = subprocess.run(command, capture_output=True, text=True, env=self.environment())
        if done.returncode != 0:
            sys.exit(f"{' '.join(command)} failed:\n{done.stdout}{done.stderr}")
        return Run(out, done.stdout)


failures = 0


def check(what, passes, detail=""):
    global failures
    failures += not passes
    print(f"{'ok' if passes else 'WRONG'} {what}{'' if passes else f': {detail}'}", flush=True)


def distance(a, b):
    """The largest relative distance of any two numbers."""
    assert len(a) == len(b) > 0
    return max(abs(x - y) / max(abs(x), abs(y), 1e-300) if x != y else 0 for x, y in zip(a, b))


def check_near(what, a, b, limit):
    far = distance(a, b)
    check(what, far <= limit, f"distance {far:.1e}, limit {limit:.0e}")


def check_far(what, a, b, least):
    far = distance(a, b)
    check(what, far >= least, f"distance {far:.1e}, expected at least {least:.0e}")


def tensor_distance(a, b):
    """Of two files: the largest ‖a - b‖ / ‖b‖ of any tensor."""
    assert a.keys() == b.keys()
    worst = 0
    for name, (shape, values) in a.items():
        assert shape == b[name][0], name
        other = b[name][1]
        difference = sum((x - y) ** 2 for x, y in zip(values, other)) ** 0.5
        worst = max(worst, difference / max(sum(y * y for y in other) ** 0.5, 1e-30))
    return worst


def finish():
    sys.exit(1 if failures else 0)
