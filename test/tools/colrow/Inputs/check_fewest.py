"""Plans without --tp: with exactly the memory of a rank at tp = N, or one byte less than the number before
needs, N is the smallest: check_fewest.py MODEL OUTPUT"""
import json
import subprocess
import sys

model, output = sys.argv[1:3]


def plan(*options):
    command = ["colrow", "plan", model, "--sequence", "128", "--json", output, *options]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    with open(output) as file:
        return json.load(file)


choices = [1, 2, 3, 4, 6, 12]
sizes = [plan("--tp", str(ranks), "--memory", "1TiB")["memory"]["per_rank"] for ranks in choices]
assert sizes == sorted(sizes, reverse=True), sizes
for i, (ranks, size) in enumerate(zip(choices, sizes)):
    most = sizes[i - 1] - 1 if i else size
    for memory in {size, most}:
        found = plan("--memory", str(memory))
        assert found["tp"] == found["smallest_tp"] == ranks, (ranks, memory, found["tp"])
    # From the plan of another number of ranks the same is found.
    other = plan("--tp", "12", "--memory", str(size))
    assert other["smallest_tp"] == ranks, (ranks, other["smallest_tp"])
print("ok: of tp =", ", ".join(map(str, choices)), "each is the fewest for its memory")
