"""Training on a file of named inputs: every objective, on every grid, and as PyTorch computes it.

  check_data.py MODELS FOLDER

The rows are those of the reference's batches, so that the loss of the first rows before training is known.
"""
import os
import sys

from onnx_file import GRAPH_INPUTS, GRAPH_NODES, GRAPH_OUTPUTS, NODE_INPUTS, NODE_OP, NODE_OUTPUTS, VALUE_NAME, Model, \
    edit, parse, put, serialize, text, values
from runs import Trainers, check, check_near, finish, tensor_distance, write_tokens
from safetensors_io import read, write

models, folder = sys.argv[1:]
trainers = Trainers(folder)


def write_rows(name, count=None):
    """The batches of a reference as rows; the first `count` of them."""
    rows = {}
    for tensor, (dtype, shape, data) in read(f"{models}/{name}/reference.safetensors").items():
        if tensor.startswith("batch."):
            total = shape[0] * shape[1]
            kept = count or total
            rows[tensor.removeprefix("batch.")] = (dtype, [kept, *shape[2:]], data[: len(data) // total * kept])
    path = f"{folder}/{name}-{count or 'all'}.safetensors"
    write(path, rows)
    return path


# The lengths of rows are those of the data: nothing but the batch has to be said.
for name, objective in {"bert-tiny": "masked_lm", "vit-tiny": "classification", "t5-tiny": "seq2seq",
                        "gpt2-tiny-loss": "causal_lm"}.items():
    model, data = f"{models}/{name}/model.onnx", write_rows(name)
    loss = read(f"{models}/{name}/reference.safetensors")["loss"][2][0]
    still = trainers.train(model, "--data", data, "--eval-data", write_rows(name, 4), "--steps", 1, "--lr", "1e-30",
                           sequence=None)
    check(f"{name} is {objective}", still.config["objective"] == objective, still.config)
    check_near(f"{name}: PyTorch's loss", [still.evaluations[0]["eval_loss"]], [loss], 1e-5)
    options = ("--data", data, "--steps", 30, "--lr", "3e-3")
    one = trainers.train(model, *options, sequence=None)
    check(f"{name}: the loss falls", one.losses[-1] < 0.8 * one.losses[0], one.losses)
    check(f"{name}: there are 16 rows", one.config["data_rows"] == 16, one.config)
    if name in ("bert-tiny", "gpt2-tiny-loss"):  # on two ranks below
        continue
    two = trainers.train(model, *options, tp=2, sequence=None)
    check_near(f"{name}: tp=2", two.losses, one.losses, 1e-4)
    if name != "t5-tiny":
        continue
    halves = trainers.train(model, *options, "--accumulate", 2, batch=2, sequence=None)
    check_near(f"{name}: two microbatches of half the rows", halves.losses, one.losses, 1e-4)
    half = trainers.train(model, *options, "--save-every", 15, tp=2, sequence=None)
    again = trainers.train(model, *options, "--resume-from", half.file("checkpoint-000015.safetensors"), tp=2,
                           sequence=None)
    check(f"{name}: it goes on with the same bits", again.losses == two.losses[15:], again.losses)
    check(f"{name}: to the same weights", tensor_distance(again.tensors(), two.tensors()) == 0)

# A masked language model on plain tokens.
tokens = list(open(f"{models}/README.md", "rb").read()[:6000])
write_tokens(f"{folder}/tokens.bin", tokens)
options = ("--data", f"{folder}/tokens.bin", "--mask-token", 3, "--steps", 60, "--lr", "3e-3")
one = trainers.train(f"{models}/bert-tiny/model.onnx", *options)
two = trainers.train(f"{models}/bert-tiny/model.onnx", *options, tp=2)
check("bert-tiny on tokens: the loss falls", sum(one.losses[-10:]) < 0.8 * sum(one.losses[:10]), one.losses)
check_near("bert-tiny on tokens: tp=2", two.losses, one.losses, 1e-4)

# A graph of two losses: that of the model, and `twice`, which is the graph's own affair.
model = Model(f"{models}/gpt2-tiny-loss/model.onnx")
node = []
for name in ("loss", "loss"):
    node.append([NODE_INPUTS, 2, name.encode()])
put(node, NODE_OP, "Add")
put(node, NODE_OUTPUTS, "twice")
model.graph.append([GRAPH_NODES, 2, serialize(node)])
for output in values(model.graph, GRAPH_OUTPUTS):
    if text(parse(output), VALUE_NAME) == "loss":
        twice = parse(output)
put(twice, VALUE_NAME, "twice")
model.graph.append([GRAPH_OUTPUTS, 2, serialize(twice)])
model.write(f"{folder}/two-losses.onnx")
options = ("--data", f"{folder}/gpt2-tiny-loss-all.safetensors", "--steps", 3, "--clip", 0)
runs = {(name, tp): trainers.train(f"{folder}/two-losses.onnx", *options, "--loss", name, tp=tp, sequence=None)
        for name, tp in (("loss", 1), ("twice", 1), ("twice", 2))}
check("the loss that is named", runs["loss", 1].config["objective"] == "causal_lm")
alone = trainers.train(f"{models}/gpt2-tiny-loss/model.onnx", *options, sequence=None)
check("is trained", runs["loss", 1].losses == alone.losses, alone.losses)
check("another one is the graph's own", runs["twice", 1].config["objective"] == "in_graph")
check_near("it is twice as large", [runs["twice", 1].losses[0]], [2 * runs["loss", 1].losses[0]], 1e-6)
check_near("and so are its gradients", [runs["twice", 1].norms[0]], [2 * runs["loss", 1].norms[0]], 1e-5)
check_near("on two ranks too", runs["twice", 2].losses, runs["twice", 1].losses, 1e-5)

# The labels have the name that the graph gives them.
model = Model(f"{models}/gpt2-tiny-loss/model.onnx")


def rename(_, message):
    for field in (NODE_INPUTS, VALUE_NAME):
        message[:] = [[f, wire, b"targets" if f == field and value == b"labels" else value]
                      for f, wire, value in message]


model.edit_nodes(rename)
edit(model.graph, GRAPH_INPUTS, rename)
model.write(f"{folder}/targets.onnx")
rows = read(f"{folder}/gpt2-tiny-loss-all.safetensors")
rows["targets"] = rows.pop("labels")
write(f"{folder}/targets.safetensors", rows)
renamed = trainers.train(f"{folder}/targets.onnx", "--data", f"{folder}/targets.safetensors", *options[2:], sequence=None)
check("labels of another name", renamed.losses == runs["loss", 1].losses, renamed.losses)
finish()
