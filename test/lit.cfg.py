"""The lit suite `colrow`: tests of IR and of tools, written as RUN lines.

Programs of build/bin and LLVM's FileCheck, not, count and split-file are found by name.
  %models     test/models, the small real exports
  %source     the root of the tree
  %build      the build folder
  %python     Python 3, standard library only
  %llvm_tools, %llvm_include   folders of LLVM's programs and headers
Features for REQUIRES lines: `full` (run-tests --full), `onnxruntime` (Python can import it), `mpi`
(built with MPI, and mpirun is Open MPI's).
"""
import os
import shutil
import subprocess

import lit.formats

config.name = "colrow"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir", ".test"]
config.excludes = ["Inputs", "models"]
config.test_source_root = os.path.join(config.colrow_source, "test")
config.test_exec_root = os.path.join(config.colrow_build, "test", "lit")

config.environment["PATH"] = os.pathsep.join(
    [os.path.join(config.colrow_build, "bin"), config.llvm_tools, config.environment["PATH"]]
)
# Modules that tests share; no caches of them in the tree.
config.environment["PYTHONPATH"] = os.path.join(config.test_source_root, "Inputs")
config.environment["PYTHONDONTWRITEBYTECODE"] = "1"
config.environment["COLROW_FULL"] = os.environ.get("COLROW_FULL", "0")

python = shutil.which("python3", path=config.environment["PATH"])
config.substitutions += [
    ("%models", os.path.join(config.test_source_root, "models")),
    ("%source", config.colrow_source),
    ("%build", config.colrow_build),
    ("%python", python),
    ("%llvm_tools", config.llvm_tools),
    ("%llvm_include", os.path.join(os.path.dirname(config.llvm_tools), "include")),
]

# Root may use mpirun, as in containers; and no rank is bound to a core that another test is on.
config.environment["OMPI_ALLOW_RUN_AS_ROOT"] = config.environment["OMPI_ALLOW_RUN_AS_ROOT_CONFIRM"] = "1"
config.environment["OMPI_MCA_rmaps_base_oversubscribe"] = "1"
config.environment["OMPI_MCA_hwloc_base_binding_policy"] = "none"
mpirun = shutil.which("mpirun", path=config.environment["PATH"])
if config.colrow_mpi == "ON" and mpirun:
    version = subprocess.run([mpirun, "--version"], capture_output=True, text=True)
    if "Open MPI" in version.stdout:
        config.available_features.add("mpi")
if config.environment["COLROW_FULL"] == "1":
    config.available_features.add("full")
if subprocess.run([python, "-c", "import onnxruntime"], capture_output=True).returncode == 0:
    config.available_features.add("onnxruntime")
