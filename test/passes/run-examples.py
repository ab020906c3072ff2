"""Runs the examples in the descriptions of passes.

usage: run-examples.py LLVM_TBLGEN MLIR_INCLUDE SOURCE COLROW_OPT

Every pass shows IR before and after it. The one before, given to the pass, must become the one after:

    Before `--colrow-decompose=ops=colrow.gelu`:      (the options only where there are any)
    ```mlir                                           (or short, inline: Before: `module {}`.)
    ...
    ```
    After:
    ```mlir
    ...
    ```

IR after in a block marked `mlir` has whole functions, and each must be equal, whatever the names of
its values. In a block without the mark, each line must be found in order: names of values may differ
but consistently, `...` stands for any text, and a line may end early.
"""
import json
import pathlib
import re
import subprocess
import sys
import textwrap

BLOCK = re.compile(r"```(mlir)?\n(.*?)```", re.S)
BEFORE = re.compile(r"^Before\b", re.M)
AFTER = re.compile(r"^(?:[^\n]*\. )?After\b[^\n]*:\n", re.M)


class Mismatch(Exception):
    pass


def run(opt, arguments, ir):
    done = subprocess.run([opt, *arguments, "-"], input=ir, capture_output=True, text=True)
    if done.returncode:
        raise Mismatch(f"colrow-opt {' '.join(arguments)} fails: {done.stderr.splitlines()[0]}\n{ir}")
    return done.stdout


def functions(ir):
    """The text of each function by its name, in printed IR, without indentation."""
    found = {}
    for match in re.finditer(r"^( *)func\.func (?:private )?@(\w+).*?^\1}$", ir, re.M | re.S):
        found[match.group(2)] = textwrap.dedent(match.group(0))
    return found


def compare_whole(opt, expected, actual):
    expected = run(opt, [], expected)
    wanted, got = functions(expected), functions(actual)
    if not wanted and expected != actual:
        raise Mismatch(f"expects:\n{expected}\ngot:\n{actual}")
    for name, text in wanted.items():
        if text != got.get(name):
            raise Mismatch(f"expects:\n{text}\ngot:\n{got.get(name, actual)}")


def compare_lines(expected, actual):
    lines = iter(actual.splitlines())
    names = {}
    for line in filter(None, map(str.strip, expected.splitlines())):
        pattern, groups = r"\s*", {}
        for part in re.split(r"(%\w+|\.\.\.)", line):
            if part == "...":
                pattern += ".*"
            elif not part.startswith("%"):
                pattern += re.escape(part)
            elif part in names:
                pattern += re.escape(names[part]) + r"\b"
            elif part in groups:
                pattern += rf"(?P={groups[part]})\b"
            else:
                groups[part] = f"v{len(groups)}"
                pattern += rf"(?P<{groups[part]}>%\w+)"
        match = next(filter(None, (re.match(pattern, candidate) for candidate in lines)), None)
        if not match:
            raise Mismatch(f"expects in this order:\n{line}\ngot:\n{actual}")
        names.update({name: match.group(group) for name, group in groups.items()})


def check(opt, argument, description):
    description = textwrap.dedent(description)
    before = BEFORE.search(description)
    after = AFTER.search(description, before.start()) if before else None
    if not after:
        raise Mismatch("has no example: expects IR 'Before:' and 'After:'")
    text = description[before.start():after.end()]
    options = re.search(rf"`(--{argument}\b[^`]*)`", text)
    block = BLOCK.search(text) or re.search(r"Before: `()([^`]*)`", text)
    result = BLOCK.search(description, after.end())
    if not block or not result:
        raise Mismatch("has no IR in its example")
    command = options.group(1).replace('"', "") if options else f"--{argument}"
    actual = run(opt, [command], block.group(2))
    if result.group(1):
        compare_whole(opt, result.group(2), actual)
    else:
        compare_lines(result.group(2), actual)


def main():
    tblgen, include, source, opt = sys.argv[1:]
    passed, failed = 0, 0
    for file in sorted(pathlib.Path(source, "passes").glob("*/Passes.td")):
        command = [tblgen, "-dump-json", "-I", source, "-I", include, str(file)]
        dump = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
        for name in dump["!instanceof"]["PassBase"]:
            argument = dump[name]["argument"]
            try:
                check(opt, argument, dump[name]["description"])
                passed += 1
                print(f"{argument}: the example holds")
            except Mismatch as mismatch:
                failed += 1
                print(f"{file.relative_to(source)}: {argument}: {mismatch}")
    return 1 if failed or not passed else 0


sys.exit(main())
