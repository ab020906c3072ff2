//===- Options.h - what the trainer's command line says --------------------===//
#pragma once

#include "DataSource.h"
#include "Schedule.h"

#include <functional>
#include <iosfwd>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace colrow {

class Rank;

/// The generated part of a trainer.
struct GeneratedProgram {
  const ProgramInfo &info;
  std::function<std::unique_ptr<Program>(Rank &)> create;
};

/// Where a program prints.
struct Console {
  std::ostream &out, &err;
  bool terminal = false; ///< `out` is one: the progress line is rewritten in place
};

/// What both subcommands have.
struct CommonOptions {
  std::string weights; ///< file of the initial weights; empty: from scratch
  uint64_t seed = 0;
  Hyperparameters hyperparameters;
  int64_t accumulate = 1; ///< microbatches of a step
  int64_t steps = 0;
  std::string out;
  int threads = 1;      ///< of each rank
  double waitLimit = 0; ///< see ThreadRankOptions
};

struct TrainOptions : CommonOptions {
  std::string data, evalData;
  DataFormat format = DataFormat::automatic;
  double minLearningRate = 1e-4;
  int64_t warmup = 0;
  int64_t saveEvery = 0, logEvery = 10, evalEvery = 0, evalBatches = 20;
  std::optional<int64_t> ignoreToken;
};

struct ReplayOptions : CommonOptions {
  std::string batches;
};

/// The whole program: reads the command line (`arguments` without the program's name), runs the
/// subcommand and returns the exit code: 0 done, 1 bad input or failed, 2 wrong usage. `folder` is
/// where the program lies; `weights.safetensors` there is the default for --weights.
int trainerMain(const std::vector<std::string> &arguments, const std::string &folder,
                const GeneratedProgram &generated, const Console &console);

} // namespace colrow
