//===- Plan.h - colrow plan, and the head of colrow train -----------------===//
#pragma once

#include "tools/colrow/Model.h"

namespace colrow {

struct PlanOptions {
  ModelOptions model;
  std::optional<int64_t> ranks;   ///< none: the smallest that fits
  int64_t accumulate = 1;         ///< microbatches of a step
  std::optional<uint64_t> memory; ///< of each rank; none: the ranks share this machine's
  std::string json;
};

/// Adds the subcommand's options.
void addPlan(CLI::App &app, PlanOptions &options);

/// Prints what a step on these ranks takes. Throws Error after that where memory does not suffice.
void plan(PlanOptions &options);

/// What a training run will do, of a model that is compiled.
struct TrainingPlan {
  int64_t ranks = 1, accumulate = 1;
  bool evaluates = false; ///< memory for outputs is needed too
  bool checksMemory = true;
  int64_t ranksHere = 1; ///< of them, on this machine
};

/// Prints the head of its plan, and throws Error where the ranks of this machine together need more
/// memory than it has.
void checkTraining(Model &model, const TrainingPlan &training, const std::string &manifest);

} // namespace colrow
