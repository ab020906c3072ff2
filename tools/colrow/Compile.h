//===- Compile.h - colrow compile and colrow train ------------------------===//
#pragma once

#include "colrow/Launch.h"
#include "runtime/train/Options.h"
#include "tools/colrow/Model.h"

namespace CLI {
class Option;
} // namespace CLI

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

struct TrainCommand {
  Launch launch;
  ModelOptions model;
  int64_t ranks = 1;
  TrainOptions training;
  bool checksMemory = true;
  std::vector<const CLI::Option *> passedOn; ///< those that are the trainer's
};

/// Adds the options of the model and of training.
void addTrain(CLI::App &app, TrainCommand &command);

/// Compiles if needed and becomes the trainer's `train`. Throws Error.
[[noreturn]] void train(TrainCommand &command);

} // namespace colrow
