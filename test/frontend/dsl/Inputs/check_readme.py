"""check_readme.py README.md TABLE FOLDER: the README has the table; its whole models go into the folder."""
import os
import re
import sys

readme, table, folder = open(sys.argv[1]).read(), open(sys.argv[2]).read(), sys.argv[3]
assert table in readme, "frontend/dsl/README.md lacks what colrow-translate --dsl-op-table prints"
os.makedirs(folder)
examples = re.findall(r"```colrow\n(.*?)```", readme, re.DOTALL)
assert len(examples) >= 2
for i, text in enumerate(examples):
    with open(f"{folder}/{i}.colrow", "w") as file:
        file.write(text)
