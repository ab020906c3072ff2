//===- Compile.h - colrow compile and colrow train ------------------------===//
#pragma once

#include "tools/colrow/Model.h"

namespace colrow {

struct CompileOptions {
  ModelOptions model;
  int64_t ranks = 1;
  std::string output;
  bool build = true;
};

/// Adds the subcommand's options.
void addCompile(CLI::App &app, CompileOptions &options);

/// Writes the trainer's folder and builds it. Throws Error.
void compile(CompileOptions &options);

struct TrainOptions {
  ModelOptions model;
  int64_t ranks = 1;
};

/// Adds the options of the model; what it does not know goes to the trainer.
void addTrain(CLI::App &app, TrainOptions &options);

/// Compiles if needed and runs the trainer's `train` with `rest`. Its exit code. Throws Error.
int train(TrainOptions &options, const std::vector<std::string> &rest);

} // namespace colrow
