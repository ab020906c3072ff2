"""Training steps of GPT-2 124M in PyTorch, as tools/bench compares them with colrow's.

Eager, fp32, no dropout, fused AdamW, gradients clipped to norm 1, labels on every position. The last line it prints
is JSON: the seconds of every step, and PyTorch's version.
"""
import argparse
import json
import time

import torch
import transformers

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
for name in ("threads", "batch", "sequence", "steps"):
    parser.add_argument(f"--{name}", type=int, required=True)
arguments = parser.parse_args()

torch.set_num_threads(arguments.threads)
torch.manual_seed(0)
config = transformers.GPT2Config(resid_pdrop=0, embd_pdrop=0, attn_pdrop=0, use_cache=False,
                                 attn_implementation="sdpa")
model = transformers.GPT2LMHeadModel(config).train()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, betas=(0.9, 0.95), weight_decay=0.01, fused=True)
seconds = []
for _ in range(arguments.steps):
    ids = torch.randint(256, (arguments.batch, arguments.sequence))
    begin = time.perf_counter()
    optimizer.zero_grad(set_to_none=False)
    model(input_ids=ids, labels=ids).loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    seconds.append(time.perf_counter() - begin)
print(json.dumps({"seconds": seconds, "version": torch.__version__}))
