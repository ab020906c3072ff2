"""How long compiling takes, by phase, and what planning a deep model takes."""
import json
import lzma

PARTS = 5  # passes that are named; the others are one line


def phases(run, model, workload, folder):
    """Makes a trainer in `folder`. Seconds of `colrow compile` at tp=2, and of its phases by tools of their own,
    which also print and parse IR."""
    run.say(f"compiling at tp=2 for {workload}")
    sizes = ["--batch", workload.batch, "--sequence", workload.sequence]
    command = [run.program("colrow"), "compile", model, "--tp", 2, "-o", folder] + sizes
    source = run(command + ["--no-build"])
    whole = run(command)

    imported, step = run.folder / "model.mlir", run.folder / "step.mlir"
    translate = run.program("colrow-translate")
    importing = run([translate, "--import-onnx", model, "--locations", "-o", imported] + sizes)
    timing = run.folder / "errors"  # where MLIR prints it
    run([run.program("colrow-opt"), imported, "--colrow-to-trainer=axes=tp=2", "--mlir-print-debuginfo", "-o", step,
         "--mlir-timing", "--mlir-timing-display=list", "--mlir-output-format=json"])
    no_passes = ("root", "Total", "Rest", "Parser", "Output", "(")  # "(": analyses of a pass
    passes = [(entry["name"], entry["wall"]["duration"]) for entry in json.loads(timing.read_text())
              if not entry["name"].startswith(no_passes)]
    emitting = run([translate, "--colrow-to-cpp", step, "-o", run.folder / "step.cpp"])
    rows = [("import", importing.seconds)] + passes[:PARTS]
    rows += [("other passes", sum(seconds for _, seconds in passes[PARTS:])), ("emit", emitting.seconds)]
    return {"workload": str(workload), "source_seconds": source.seconds, "source_peak_bytes": source.peak_bytes,
            "build_seconds": whole.seconds - source.seconds,
            "phases": [{"phase": name, "seconds": seconds} for name, seconds in rows]}


def deep_plan(run, packed):
    """Imports, shards and plans GPT-2 with 8.3 billion parameters for eight ranks."""
    if not packed.exists():
        run.miss("planning 8.3 billion parameters", f"'{packed}' is missing")
        return None
    run.say("planning 8.3 billion parameters at tp=8")
    model = run.folder / "deep.onnx"
    model.write_bytes(lzma.decompress(packed.read_bytes()))
    plan = run.folder / "plan.json"
    # Memory is given, so that the plan does not depend on this machine's.
    done = run([run.program("colrow"), "plan", model, "--tp", 8, "--batch", 1, "--sequence", 1024, "--memory", "1TiB",
                "--json", plan])
    with open(plan) as file:
        planned = json.load(file)
    return {"seconds": done.seconds, "peak_bytes": done.peak_bytes, "flops": planned["flops"],
            "planned_bytes_per_rank": planned["memory"]["per_rank"]}
