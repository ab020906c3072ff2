"""What `colrow inspect --tp 2 --json` says of gpt2-tiny at batch 4, sequence 32."""
import json
import math
import sys

said = json.load(open(sys.argv[1]))
assert said["grid"] == {"tp": 2} and said["batch"] == 4 and said["sequence"] == 32
assert said["assumed"] == [] and said["opset"] == 17
assert said["layers"] == {"count": 2, "first": "transformer.h.0"}, said["layers"]
assert all(set(b) == {"kind", "count", "in_layer"} and b["count"] > 0 for b in said["blocks"])
parameters = {p["name"]: p for p in said["parameters"]}
assert len(parameters) == 28
assert said["parameter_count"] == sum(math.prod(p["shape"]) for p in parameters.values())
for p in parameters.values():
    assert p["rule"] and p["because"] and p["onnx"], p
    stored = 512 * 64 if "wte" in p["name"] else math.prod(p["shape"])
    assert p["bytes_per_rank"] == 4 * stored // (2 if "shard" in p["layout"] else 1), p
wte = parameters["transformer.wte.weight"]
assert wte["tied_to"] == ["lm_head.weight"] and wte["rule"] == "vocabulary-parallel"
# 2L + 1 sums of tokens x hidden in each direction, and at most 3 numbers a token for the loss.
for phase in ("forward", "backward", "evaluate"):
    sums = [c for c in said["collectives"] if c["phase"] == phase]
    assert len([c for c in sums if c["payload_bytes"] == 4 * 32 * 64 * 4]) == 5, phase
    rest = sum(c["payload_bytes"] for c in sums) - 5 * 4 * 32 * 64 * 4
    assert rest <= 3 * 4 * 32 * 4, (phase, rest)
# Every product of GPT-2, the backward pass as twice the forward: 12 h^2 a layer, the head, scores.
batch, sequence, layers, hidden, vocabulary = 4, 32, 2, 64, 512
forward = batch * sequence * (2 * (12 * layers * hidden**2 + vocabulary * hidden) + 4 * layers * sequence * hidden)
assert said["flops"] == {"forward_backward": 3 * forward, "evaluate": forward}, (said["flops"], forward)
assert said["segments"]["optimizer"] == 2 * said["segments"]["parameters"]
