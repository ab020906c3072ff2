"""each.py FOLDER COMMAND...: runs a command for each *.colrow of a folder, by name; all have to succeed."""
import glob
import subprocess
import sys

folder, *command = sys.argv[1:]
files = sorted(glob.glob(folder + "/*.colrow"))
assert files
for file in files:
    subprocess.run(command + [file], check=True)
