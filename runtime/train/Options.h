//===- Options.h - what a trainer's command line says ----------------------===//
#pragma once

#include "Schedule.h"
#include "TrainingData.h"
#include "colrow/RankRunner.h"

#include <functional>
#include <iosfwd>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace CLI {
class App;
class ParseError;
} // namespace CLI

namespace colrow {

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

/// Makes this process one rank of a grid; empty where the trainer was built without MPI.
using ProcessRanks = std::function<std::unique_ptr<RankRunner>(const std::vector<GridAxis> &,
                                                               const ThreadRankOptions &)>;

/// What both subcommands have.
struct CommonOptions {
  bool init = false;   ///< from scratch
  std::string weights; ///< file of the initial weights
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
  std::optional<double> minLearningRate; ///< a tenth of the learning rate where not given
  int64_t warmup = 0;
  int64_t saveEvery = 0, keep = 2, checkEvery = 0;
  bool resume = false;    ///< go on from the newest checkpoint in `out`, if there is one
  std::string resumeFrom; ///< go on from this checkpoint
  int64_t logEvery = 10, evalEvery = 0, evalBatches = 20;
  std::optional<int64_t> ignoreToken, maskToken;
  std::string profile; ///< file for the time of steps by kernel; empty: not measured

  DataOptions dataOptions() const { return {format, ignoreToken, maskToken, seed}; }
};

struct ReplayOptions : CommonOptions {
  std::string batches;
};

/// Add the options of `trainer train` and `trainer replay`. The first are those of `colrow train`
/// too, which is how it tells a wrong one before it compiles.
void addTrainOptions(CLI::App &command, TrainOptions &options);
void addReplayOptions(CLI::App &command, ReplayOptions &options);

/// The line "error: ..." for a wrong command line.
std::string usageMessage(const CLI::ParseError &error);

/// The whole program: reads the command line (`arguments` without the program's name), runs the
/// subcommand and returns the exit code: 0 done, 1 bad input or failed, 2 wrong usage. `folder` is
/// where the program lies; `weights.safetensors` there is the default for --weights. Where a
/// launcher started several processes (see Launch), each is one rank and one of them prints.
int trainerMain(const std::vector<std::string> &arguments, const std::string &folder,
                const GeneratedProgram &generated, const Console &console,
                const ProcessRanks &processRanks = {});

} // namespace colrow
