"""A trainer's folder builds elsewhere with g++, CMake and oneDNN alone, and then trains.

  check_folder.py MODEL_FOLDER SOURCE_ROOT FOLDER
"""
import os
import shutil
import subprocess
import sys

from runs import Run, check, check_near, finish, read_tensors

models, root, folder = sys.argv[1:]
shutil.rmtree(folder, ignore_errors=True)
os.makedirs(f"{folder}/elsewhere")
shutil.copy(f"{models}/model.onnx", f"{folder}/gpt.onnx")
environment = {"HOME": folder, "CXX": "g++", "PATH": "/usr/bin:/bin"}


def run(*command, **options):
    done = subprocess.run(command, capture_output=True, text=True, **options)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)} failed:\n{done.stdout[-3000:]}{done.stderr[-3000:]}")
    return done.stdout + done.stderr


run("colrow", "compile", f"{folder}/gpt.onnx", "--tp", "2", "--batch", "4", "--sequence", "32", "--no-build", "-o",
    f"{folder}/trainer")
os.rename(f"{folder}/gpt.onnx", f"{folder}/gone.onnx")
trainer = f"{folder}/elsewhere/trainer"
os.rename(f"{folder}/trainer", trainer)
naming = subprocess.run(["grep", "-r", "--exclude-dir=third_party", "-e", root + "/", "-e", "llvm", trainer],
                        capture_output=True, text=True).stdout.splitlines()
naming = [line for line in naming if f"{folder}/gpt.onnx" not in line]  # what it was made from
check("it refers to nothing outside", not naming, naming)
run("cmake", "-S", trainer, "-B", f"{trainer}/build", env=environment)
built = run("cmake", "--build", f"{trainer}/build", "--parallel", "2", env=environment)
check("it builds without a warning", "warning" not in built, built)
check("with g++", "g++" in open(f"{trainer}/build/CMakeCache.txt").read())
libraries = run("ldd", f"{trainer}/trainer")
check("it needs no compiler's library", "LLVM" not in libraries and "MLIR" not in libraries, libraries)

run(f"{trainer}/trainer", "replay", "--batches", f"{models}/reference.safetensors", "--steps", "20", "--out",
    f"{folder}/result.safetensors", env=environment)
result, reference = read_tensors(f"{folder}/result.safetensors"), read_tensors(f"{models}/reference.safetensors")
for name in ("losses", "grad_norms"):
    check_near(f"{name} are PyTorch's", result[name][1], reference[name][1], 1e-5)
output = run(f"{trainer}/trainer", "train", "--data", f"{trainer}/src/step.cpp", "--steps", "40", "--lr", "3e-3",
             "--out", f"{folder}/run", env=environment)
losses = Run(f"{folder}/run", output).losses
check("and the loss falls", sum(losses[-5:]) < 0.8 * sum(losses[:5]), losses)
finish()
