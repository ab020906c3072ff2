"""Data in every format is the same data, and weights from a file are those of the export.

  check_inputs.py MODELS FOLDER
"""
import os
import shutil
import sys

from onnx_file import GRAPH_INITIALIZERS, TENSOR_NAME, Model, dims, floats, parse, text, values
from runs import Trainers, check, check_near, finish, write_tensors, write_tokens

models, folder = sys.argv[1:]
trainers = Trainers(folder)
model = f"{models}/gpt2-tiny-dynamo/model.onnx"  # its weights are in a file beside it

# Formats.
tokens = list(open(f"{models}/README.md", "rb").read()[:5000])
with open(f"{folder}/data.txt", "wb") as file:
    file.write(bytes(tokens))
write_tokens(f"{folder}/raw.bin", tokens)
write_tokens(f"{folder}/header.bin", tokens, header=[20240520, 1, len(tokens)] + [0] * 253)
write_tokens(f"{folder}/wide.bin", tokens, "I")
os.rename(f"{folder}/wide.bin", f"{folder}/wide")
options = ("--steps", 3, "--lr", "3e-3")
of_text = trainers.train(model, "--data", f"{folder}/data.txt", *options)
for name, more in {"raw.bin": (), "header.bin": (), "wide": ("--data-dtype", "uint32"),
                   "data.txt": ("--data-dtype=text",)}.items():
    run = trainers.train(model, "--data", f"{folder}/{name}", *options, *more)
    check(f"{name} holds the same tokens", run.losses == of_text.losses, run.losses)
    check(f"{name} is {run.config['data_dtype']} of 5000",
          run.config["data_dtype"] in ("text", "uint16", "uint32") and run.config["data_tokens"] == 5000)

# An export without weights gets torch's: the file that state_dict would give, of gpt2-tiny.
weights = {}
for initializer in values(Model(f"{models}/gpt2-tiny/model.onnx").graph, GRAPH_INITIALIZERS):
    tensor = parse(initializer)
    if text(tensor, TENSOR_NAME).startswith("transformer."):
        weights[text(tensor, TENSOR_NAME)] = (dims(tensor), floats(tensor))
write_tensors(f"{folder}/torch.safetensors", weights)
weights["lm_head.weight"] = weights["transformer.wte.weight"]  # torch writes both names or one
write_tensors(f"{folder}/both.safetensors", weights)
headless = {name.removeprefix("transformer."): value for name, value in weights.items()
            if name != "lm_head.weight"}
write_tensors(f"{folder}/headless.safetensors", headless)
os.mkdir(f"{folder}/graph")
shutil.copy(model, f"{folder}/graph/model.onnx")
for name in ("torch", "both", "headless"):
    run = trainers.train(f"{folder}/graph/model.onnx", "--weights", f"{folder}/{name}.safetensors", "--data",
                         f"{folder}/data.txt", *options, tp=2)
    check_near(f"weights of {name}.safetensors", run.losses, of_text.losses, 1e-5)

# What training writes goes back in.
run = trainers.train(f"{folder}/graph/model.onnx", "--weights", run.file(), "--data",
                     f"{folder}/data.txt", *options, tp=2)
check("training goes on from its own file", run.losses[0] < of_text.losses[0], run.losses)

# Every option arrives, however it is written.
everything = trainers.train(
    model, "--data", f"{folder}/raw.bin", "--steps=4", "--seed=7", "--lr", "2e-3", "--min-lr=1e-4", "--warmup",
    2, "--betas", "0.8,0.9", "--eps=1e-6", "--weight-decay", "0.1", "--clip=0.5", "--accumulate", 2, "--eval-data",
    f"{folder}/data.txt", "--eval-every=2", "--eval-batches", 3, "--save-every", 3, "--keep=3", "--check-every=2", "--log-every=1",
    "--ignore-token", 32, "--threads-per-rank", 1, "--wait-limit=60", "--init", "--", "--data-dtype", "auto")
expected = {"steps": 4, "seed": 7, "lr": 2e-3, "min_lr": 1e-4, "warmup": 2, "betas": [0.8, 0.9], "eps": 1e-6,
            "weight_decay": 0.1, "clip": 0.5, "accumulate": 2, "eval_every": 2, "eval_batches": 3,
            "save_every": 3, "keep": 3, "check_every": 2, "log_every": 1, "ignore_token": 32, "threads": 1, "init": True, "weights": None}
check("all options arrive", all(everything.config[key] == value for key, value in expected.items()),
      everything.config)
check("and do what they say",
      [line["step"] for line in everything.evaluations] == [2, 4]
      and everything.output.count("\nstep ") == 6
      and os.path.exists(everything.file("checkpoint-000003.safetensors")), everything.output)
finish()
