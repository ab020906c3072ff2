"""check_run.py RUN RUN: both runs started at the loss of a model that knows nothing, and agree."""
import json
import math
import sys

runs = []
for folder in sys.argv[1:]:
    lines = [json.loads(line) for line in open(folder + "/metrics.jsonl")]
    runs.append([line["loss"] for line in lines if "loss" in line])
for losses in runs:
    assert len(losses) == 5, losses
    assert abs(losses[0] - math.log(384)) < 0.1, losses
    assert losses[-1] < losses[0] - 0.05, losses
for one, other in zip(*runs):
    assert abs(one - other) < 1e-4 * one, runs
