"""Label smoothing and z-loss are PyTorch's, on every grid, and a run that goes on has to have the same.

  check_terms.py MODELS FOLDER

Expected losses, of the logits that the reference of gpt2-tiny holds (torch 2.14, float64):
  x, y = logits[:, :-1].flatten(0, 1), labels[:, 1:].flatten()
  F.cross_entropy(x, y, label_smoothing=e) + c * x[y != -100].logsumexp(-1).square().mean()
"""
import subprocess
import sys

from runs import Trainers, check, check_near, finish
from safetensors_io import read, write

models, folder = sys.argv[1:]
trainers = Trainers(folder)
rows = {}
for name, (dtype, shape, data) in read(f"{models}/gpt2-tiny/reference.safetensors").items():
    if name.startswith("batch."):
        rows[name.removeprefix("batch.")] = (dtype, shape[1:], data[: len(data) // shape[0]])
data = f"{folder}/rows.safetensors"
write(data, rows)
expected = {(0.1, 0): 6.455258713108719, (0.1, 0.01): 6.867047619352903}
for (smoothing, z), loss in expected.items():
    for tp in (1, 3) if z == 0 else (2,):
        run = trainers.train(f"{models}/gpt2-tiny/model.onnx", "--data", data, "--eval-data", data, "--steps", 1, "--lr",
                             "1e-30", "--label-smoothing", smoothing, "--z-loss", z, "--save-every", 1, tp=tp,
                             sequence=None)
        check_near(f"label smoothing {smoothing}, z-loss {z}, tp={tp}: PyTorch's loss",
                   [run.losses[0], run.evaluations[0]["eval_loss"]], [loss, loss], 1e-5)
        check("config.json has them", (run.config["label_smoothing"], run.config["z_loss"]) == (smoothing, z))
other = subprocess.run(["colrow", "train", f"{models}/gpt2-tiny/model.onnx", "--tp", "2", "--batch", "4", "--data", data,
                        "--eval-data", data, "--steps", "2", "--lr", "1e-30", "--label-smoothing", "0.2", "--out",
                        run.folder, "--resume"],
                       capture_output=True, text=True, env=trainers.environment())
check("other terms are another run",
      other.returncode == 1 and "--label-smoothing is 0.1 there and 0.2 here" in other.stderr
      and "--z-loss is 0.01 there and not given here" in other.stderr, other.stderr)
finish()
