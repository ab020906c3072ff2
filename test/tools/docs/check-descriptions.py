"""Checks that what is generated into the reference pages says something.

usage: check-descriptions.py LLVM_TBLGEN MLIR_INCLUDE SOURCE

Every pass has a summary and a description; every operation a summary, and a description too where it
is big (has a decomposition; its gradient operation is described by it) or changes a layout. Prints
what is missing; exit code 1 if anything is.
"""
import json
import pathlib
import subprocess
import sys


def records(tblgen, include, source, file):
    command = [tblgen, "-dump-json", "-I", source, "-I", include, str(file)]
    return json.loads(subprocess.run(command, check=True, capture_output=True).stdout)


def main():
    tblgen, include, source = sys.argv[1:]
    missing = []
    checked = 0

    def check(file, name, record, needs):
        nonlocal checked
        checked += 1
        for field in needs:
            if not (record.get(field) or "").strip():
                missing.append(f"{file}: {name} has no {field}")

    files = sorted(pathlib.Path(source, "passes").glob("*/Passes.td"))
    for file in files:
        dump = records(tblgen, include, source, file)
        for name in dump["!instanceof"]["PassBase"]:
            check(file.relative_to(source), dump[name]["argument"], dump[name],
                  ["summary", "description"])

    dump = records(tblgen, include, source, pathlib.Path(source, "dialect", "ColrowOps.td"))
    for name in dump["!instanceof"]["Op"]:
        record = dump[name]
        traits = {dump[trait["def"]].get("cppInterfaceName", dump[trait["def"]].get("trait"))
                  for trait in record["traits"]}
        big = traits & {"DecomposableOpInterface", "ConversionOpInterface"}
        described = big and not record["opName"].endswith("_grad")
        check("dialect", f"colrow.{record['opName']}", record,
              ["summary", "description"] if described else ["summary"])

    print("\n".join(missing))
    print(f"{checked} passes and operations checked, {len(missing)} descriptions missing")
    return 1 if missing else 0


sys.exit(main())
