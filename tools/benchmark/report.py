"""Prints what tools/bench measured, and holds it against the goals."""


def table(head, rows, names=1):
    """Columns as wide as their widest entry; all but the first, or the first `names`, are numbers."""
    lines = [head] + rows
    widths = [max(len(line[column]) for line in lines) for column in range(len(head))]
    for line in lines:
        print("  " + "  ".join(text.ljust(width) if column < names else text.rjust(width)
                               for column, (text, width) in enumerate(zip(line, widths))).rstrip())


def seconds_text(seconds):
    if seconds < 1e-3:
        return f"{seconds * 1e6:.1f} us"
    return f"{seconds * 1e3:.1f} ms" if seconds < 1 else f"{seconds:.2f} s"


def size_text(size):
    return f"{size >> 20} MiB" if size >= 1 << 20 else f"{size >> 10} KiB"


def show_machine(results):
    machine = results["machine"]
    print(f"{machine['processor']}, cores {', '.join(map(str, machine['cores']))}, "
          f"{machine['memory_bytes'] / 1e9:.0f} GB; load before: {machine['load_before']:.2f}")
    if machine["load_before"] > 0.5:
        print("the machine was busy: trust the ratios more than the numbers, and neither much")


def show_peak(results):
    print("\npeak")
    rows = []
    for cores, rate in results["peak"].items():
        product = rate["onednn_product"].split("/")[1:4]
        rows.append([f"{cores} core{'s' if cores != '1' else ''}", f"{rate['fma_flops'] / 1e9:.1f}",
                     f"{rate['onednn_flops'] / 1e9:.1f}", f"{100 * rate['onednn_flops'] / rate['fma_flops']:.0f}%",
                     " ".join(product), f"{rate['triad_bytes'] / 1e9:.1f}"])
    table(["", "FMA GFLOP/s", "oneDNN GFLOP/s", "of peak", "oneDNN's best", "triad GB/s"], rows)


def show_compile(results):
    compile = results["compile"]
    print(f"\ncompile at tp=2, {compile['workload']} tokens")
    table(["", "seconds"], [[row["phase"], f"{row['seconds']:.3f}"] for row in compile["phases"]] +
          [["model to source, in one process", f"{compile['source_seconds']:.3f}"],
           ["C++ compiler and CMake", f"{compile['build_seconds']:.3f}"]])
    if results.get("deep"):
        deep = results["deep"]
        print(f"  8.3 billion parameters, imported, sharded and planned at tp=8: {deep['seconds']:.2f} s, "
              f"{deep['peak_bytes'] / 1e6:.0f} MB; {deep['planned_bytes_per_rank'] / 1e9:.1f} GB for a rank")


def show_steps(results):
    print("\ntraining steps (median of the measured ones, fastest and slowest)")
    rows = []
    for row in results["steps"]:
        memory = f"{row['peak_resident_bytes'] / 1e9:.2f}"
        planned = f"{row['planned_bytes'] / 1e9:.2f}" if "planned_bytes" in row else ""
        rows.append([row["workload"], row["configuration"], f"{row['median_seconds']:.3f}",
                     f"{min(row['seconds']):.3f} to {max(row['seconds']):.3f}", str(len(row["seconds"])),
                     f"{row['tokens_per_second']:.1f}", f"{row['percent_of_peak']:.1f}%",
                     f"{row['ratio_to_one_core']:.2f}", memory, planned])
    table(["tokens", "", "s/step", "from, to", "steps", "tokens/s", "of peak", "to tp=1 on 1 core", "resident GB",
           "planned GB"], rows, names=2)
    for workload, flops in {row["workload"]: row["flops"] for row in results["steps"]}.items():
        print(f"  {workload}: {flops / 1e9:.1f} GFLOP in matrix products, attention not halved")


def show_work(results):
    for work in results["work"]:
        print(f"\ntime of a step by kind of work: {work['workload']} tokens, {work['configuration']}, rank 0")
        rows = []
        for name, kind in work["kinds"].items():
            if kind["seconds"] <= 0 or kind["calls"] == 0:
                continue
            rows.append([name, seconds_text(kind["seconds"]), f"{100 * kind['seconds'] / work['step_seconds']:.1f}%",
                         seconds_text(kind["bound_seconds"]), f"{kind['seconds'] / kind['bound_seconds']:.2f}"
                         if kind["bound_seconds"] else "", kind["bound"]])
        rows.append(["step", seconds_text(work["step_seconds"]), "100%",
                     seconds_text(sum(kind["bound_seconds"] for kind in work["kinds"].values())), "", ""])
        table(["", "time", "share", "bound", "time / bound", "bound by"], rows)


def show_kernels(results):
    if not results.get("kernels"):
        return
    print("\nkernels by themselves (threads:2 is two ranks at once)")
    rows = []
    for row in results["kernels"]:
        rate = f"{row['flops'] / 1e9:.1f} GFLOP/s" if row["flops"] else f"{row['bytes'] / 1e9:.1f} GB/s"
        rows.append([row["name"].removeprefix("kernel"), seconds_text(row["seconds"]), rate])
    table(["", "time", "rate"], rows)


def show_all_reduce(results):
    print("\nall-reduce between two ranks")
    table(["", "threads", "Open MPI"],
          [[size_text(row["bytes"]), seconds_text(row["threads_seconds"]),
            seconds_text(row["mpi_seconds"]) if row["mpi_seconds"] else "not measured"]
           for row in results["all_reduce"]])


def find_step(results, workload, configuration):
    return next((row for row in results.get("steps") or [] if row["workload"] == workload and
                 row["configuration"] == configuration and row["seconds"]), None)


def goals(results):
    """What the project promises for GPT-2 124M; `measured` is null where that was not."""
    long, short = (find_step(results, workload, "tp=2 on 2 cores") for workload in ("1 x 1024", "1 x 128"))
    compile, deep = results.get("compile"), results.get("deep")

    def goal(what, source, key, least=None, most=None, digits=2):
        value = source[key] if source else None
        met = None if value is None else (value >= least if least is not None else value <= most)
        return {"what": what, "wanted": f">= {least:g}" if least is not None else f"<= {most:g}", "measured": value,
                "digits": digits, "met": met}

    return [
        goal("tp=2, 1 x 1024: % of FMA peak (82 is aimed at)", long, "percent_of_peak", least=70, digits=1),
        goal("tp=2, 1 x 1024: ratio to tp=1 on one core", long, "ratio_to_one_core", least=1.8),
        goal("tp=2, 1 x 1024: planned bytes of both ranks", long, "planned_bytes", most=2.8e9),
        goal("tp=2, 1 x 1024: peak resident bytes of training", long, "peak_resident_bytes", most=2.8e9),
        goal("tp=2, 1 x 128: ratio to tp=1 on one core", short, "ratio_to_one_core", least=1.3),
        goal("model to source, seconds", compile, "source_seconds", most=2),
        goal("compiling the generated C++, seconds", compile, "build_seconds", most=10),
        goal("8.3 billion parameters planned at tp=8, seconds", deep, "seconds", most=10),
        goal("8.3 billion parameters planned at tp=8, bytes", deep, "peak_bytes", most=1e9),
    ]


def show_goals(results):
    if not results["goals"]:
        return
    print("\ngoals")
    rows = []
    for goal in results["goals"]:
        value = goal["measured"]
        text = "not measured" if value is None else f"{value:.3e}" if value >= 1e6 else f"{value:.{goal['digits']}f}"
        rows.append([goal["what"], goal["wanted"], text, {True: "met", False: "NOT MET", None: ""}[goal["met"]]])
    table(["", "wanted", "measured", ""], rows)


def show(results):
    for key, part in (("machine", show_machine), ("peak", show_peak), ("compile", show_compile),
                      ("steps", show_steps), ("work", show_work), ("kernels", show_kernels),
                      ("all_reduce", show_all_reduce), ("goals", show_goals)):
        if results.get(key):
            part(results)
    for missing in results["not_measured"]:
        print(f"\nnot measured: {missing['what']}: {missing['why']}")
    print(f"\nmeasured in {results['seconds']:.0f} s")
