"""Every function of the runtime's kernels is a name that no variable gets: check_names.py SOURCE"""
import glob
import re
import sys

source = sys.argv[1]
names = open(f"{source}/passes/emit/Names.cpp").read()
functions = set()
for header in glob.glob(f"{source}/runtime/include/colrow/Kernels*.h"):
    functions |= set(re.findall(r"(\w+)\(KernelContext &", open(header).read()))
missing = [name for name in sorted(functions) if f'"{name}"' not in names]
assert len(functions) > 30, functions
assert not missing, missing
print(f"{len(functions)} functions")
