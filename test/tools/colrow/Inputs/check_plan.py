"""Holds `colrow plan --json` against the manifest of the trainer: check_plan.py PLAN MANIFEST MICROBATCHES"""
import json
import sys

plan, manifest = (json.load(open(path)) for path in sys.argv[1:3])
microbatches = int(sys.argv[3])


def equal(what, got, expected):
    assert got == expected, f"{what}: {got} in the plan, {expected} expected"


equal("sizes", [plan[key] for key in ("batch", "sequence", "tp", "accumulate", "assumed")],
      [4, 32, 2, microbatches, []])
equal("collectives", plan["collectives"], manifest["collectives"])
equal("segments", plan["memory"]["segments"], manifest["segments"])
equal("flops", plan["flops"], microbatches * manifest["flops"]["forward_backward"])

assert {"parameters", "gradients", "optimizer", "activations", "scratch", "inputs"} <= set(manifest["segments"])
equal("segments of first use", plan["memory"]["on_first_use"], ["outputs", "whole_outputs"])
rank = sum(size for name, size in manifest["segments"].items() if name not in plan["memory"]["on_first_use"])
equal("memory of a rank", plan["memory"]["per_rank"], rank)
equal("memory of all ranks", plan["memory"]["all_ranks"], 2 * rank)
equal("memory given", plan["memory"]["given_per_rank"], 100 * 2**20)
assert plan["fits"] is True and plan["smallest_tp"] == 1

for phase, traffic in plan["traffic"].items():
    times = microbatches if phase in ("forward", "backward") else 1
    sent = [c["wire_bytes_per_rank"] for c in manifest["collectives"] if c["phase"] == phase]
    equal(phase, traffic, {"count": times * len(sent), "sent_bytes_per_rank": times * sum(sent)})
equal("phases", set(plan["traffic"]), {c["phase"] for c in manifest["collectives"]})
assert 0 < plan["machine"]["available"] <= plan["machine"]["total"], plan["machine"]
