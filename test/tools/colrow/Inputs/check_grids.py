"""Training is the same at tp = 1, 2, 4: dropout masks, order of the data, clipping, evaluation,
initial values; and two microbatches are one batch of twice the size.

  check_grids.py MODELS FOLDER

The emitted programs of gpt2-tiny-train are run, the dropout sites of which are active, in attention
too; gpt2-tiny is the same model without them.
"""
import math
import sys

from onnx_file import NODE_ATTRIBUTES, NODE_INPUTS, NODE_NAME, NODE_OP, Model, put, text
from runs import Trainers, check, check_far, check_near, finish, tensor_distance, write_tokens

models, folder = sys.argv[1:]
trainers = Trainers(folder)
dropout, plain = f"{models}/gpt2-tiny-train/model.onnx", f"{models}/gpt2-tiny/model.onnx"
data = f"{models}/README.md"
grids = (1, 2, 4)

# A learning rate that is 0 as a float: every step sees the initial parameters.
FROZEN = ("--lr", "1e-300", "--min-lr", 0)
# AdamW divides by the gradient's size; with this epsilon rounding does not become an update.
STEADY = ("--eps", "1e-4")

# The main run on every grid.
schedule = {"peak": 3e-3, "floor": 2e-4, "warmup": 3, "steps": 8}
options = ("--data", data, "--steps", 8, "--lr", "3e-3", "--min-lr", "2e-4", "--warmup", 3, "--seed", 5,
           "--eval-data", data, "--eval-every", 4, "--eval-batches", 5, "--save-every", 4, *STEADY)
runs = {tp: trainers.train(dropout, *options, tp=tp) for tp in grids}
one = runs[1]
for tp in (2, 4):
    check_near(f"tp={tp}: losses with dropout", runs[tp].losses, one.losses, 1e-5)
    check_near(f"tp={tp}: gradient norms before clipping", runs[tp].norms, one.norms, 1e-5)
    check_near(f"tp={tp}: evaluation losses", [e["eval_loss"] for e in runs[tp].evaluations],
               [e["eval_loss"] for e in one.evaluations], 1e-5)
    far = tensor_distance(runs[tp].tensors(), one.tensors())
    check(f"tp={tp}: final parameters", far <= 1e-5, far)
check("clipping is active", min(one.norms) > 1, one.norms)


def rate(step):
    if step < schedule["warmup"]:
        return schedule["peak"] * (step + 1) / schedule["warmup"]
    done = (step - schedule["warmup"]) / (schedule["steps"] - schedule["warmup"])
    return schedule["floor"] + (schedule["peak"] - schedule["floor"]) * (1 + math.cos(math.pi * done)) / 2


check_near("learning rates: warm-up, then a cosine", [s["learning_rate"] for s in one.steps],
           [rate(step) for step in range(8)], 1e-12)

# The run folder.
keys = ["step", "loss", "grad_norm", "learning_rate", "tokens", "tokens_per_second", "seconds"]
check("metrics have their keys", all(list(line) == keys for line in one.steps), one.steps[0])
check("metrics count steps and tokens",
      [(line["step"], line["tokens"]) for line in one.steps] == [(i, 128 * i) for i in range(1, 9)])
check("evaluations come at their steps", [line["step"] for line in one.evaluations] == [4, 8])
expected = {"grid": {"tp": 4}, "batch": 4, "sequence": 32, "steps": 8, "lr": 3e-3, "min_lr": 2e-4,
            "warmup": 3, "seed": 5, "eps": 1e-4, "data": data, "eval_data": data, "eval_every": 4,
            "eval_batches": 5, "save_every": 4, "accumulate": 1, "clip": 1.0, "init": False}
config = runs[4].config
check("the configuration is saved", all(config[key] == value for key, value in expected.items()), config)

# A checkpoint is a file of weights like any other.
resumed = trainers.train(dropout, "--weights", one.file("checkpoint-000004.safetensors"), "--data", data,
                         "--steps", 1, *FROZEN, "--eval-data", data, "--eval-batches", 5)
check_near("a checkpoint can be loaded", [resumed.evaluations[0]["eval_loss"]],
           [one.evaluations[0]["eval_loss"]], 1e-6)

# Rows that are all the same: their order says nothing, so that only masks can differ.
rows = f"{folder}/same.bin"
write_tokens(rows, [i * i % 61 for i in range(32)] * 40 + [0])
same = ("--data", rows, "--steps", 2, *FROZEN)
masked = trainers.train(dropout, *same, "--eval-data", rows)
unmasked = trainers.train(plain, *same)
check_near("without dropout each step is the same", unmasked.losses[:1], unmasked.losses[1:], 1e-7)
check_far("with dropout another loss", masked.losses, unmasked.losses, 1e-3)
check_far("and another one in each step", masked.losses[:1], masked.losses[1:], 1e-4)
check_far("and with another seed", masked.losses,
          trainers.train(dropout, *same, "--seed", 1).losses, 1e-4)
check_near("evaluation is without dropout", [masked.evaluations[0]["eval_loss"]], unmasked.losses[:1],
           1e-6)

# Attention's dropout by itself. TorchScript writes it without the input that says that it is active.
def pass_others(_, node):
    if text(node, NODE_OP) == "Dropout" and not text(node, NODE_NAME).endswith("/attn/Dropout"):
        node[:] = [entry for entry in node if entry[0] not in (NODE_INPUTS, NODE_ATTRIBUTES)] + [
            entry for entry in node if entry[0] == NODE_INPUTS][:1]
        put(node, NODE_OP, "Identity")


attention = Model(dropout)
attention.edit_nodes(pass_others)
attention.write(f"{folder}/attention.onnx")
attended = {tp: trainers.train(f"{folder}/attention.onnx", *same, tp=tp) for tp in (1, 2)}
check_far("dropout in attention alone", attended[1].losses, unmasked.losses, 1e-5)
check_near("is the same at tp=2", attended[2].losses, attended[1].losses, 1e-6)

# The order of the data: of the seed, and T + 1 tokens a row.
ordered = trainers.train(plain, "--data", data, "--steps", 3, *FROZEN).losses
check_far("another seed, another order", ordered,
          trainers.train(plain, "--data", data, "--steps", 3, *FROZEN, "--seed", 1).losses, 1e-4)
last = []
for token in (1, 2):
    write_tokens(f"{folder}/last{token}.bin", [i * i % 97 for i in range(128)] + [token])
    run = trainers.train(plain, "--data", f"{folder}/last{token}.bin", "--steps", 1, *FROZEN)
    check("a batch is 4 x 32 + 1 tokens", "129 tokens (uint16)" in run.output and "4 rows of 32" in run.output)
    last += run.losses
check_far("the last of them is a label", last[:1], last[1:], 1e-5)

# Two microbatches are one batch of twice the size: masks, means and updates.
options = ("--data", data, "--steps", 6, "--lr", "3e-3", *STEADY)
whole = trainers.train(dropout, *options, tp=2)
half = trainers.train(dropout, *options, "--accumulate", 2, tp=2, batch=2)
check_near("accumulation: losses", half.losses, whole.losses, 1e-5)
check_near("accumulation: gradient norms", half.norms, whole.norms, 1e-5)
far = tensor_distance(half.tensors(), whole.tensors())
check("accumulation: final parameters", far <= 1e-5, far)

# From scratch.
fresh = {tp: trainers.train(dropout, "--init", "--data", data, "--steps", 1, *FROZEN, tp=tp) for tp in grids}
initial = {tp: open(run.file(), "rb").read() for tp, run in fresh.items()}
check("initial parameters are equal bit for bit", initial[1] == initial[2] == initial[4])
check("and others with another seed",
      initial[1] != open(trainers.train(dropout, "--init", "--seed", 1, "--data", data, "--steps", 1,
                                        *FROZEN).file(), "rb").read())
for name, (shape, values) in fresh[1].tensors().items():
    if len(shape) == 2:
        mean = sum(values) / len(values)
        deviation = (sum((x - mean) ** 2 for x in values) / len(values)) ** 0.5
        passes = abs(deviation - 0.02) < 0.001 and abs(mean) < 0.001
        detail = f"mean {mean}, deviation {deviation}"
    else:
        constant = 1.0 if ".ln_" in name and name.endswith(".weight") else 0.0
        passes = all(x == constant for x in values)
        detail = f"{min(values)} to {max(values)}"
    if not passes:
        check("initial " + name, False, detail)
check("initial parameters have their roles' values", True)
finish()
