//===- Trainer.h - emits, builds and runs a trainer -----------------------===//
#pragma once

#include "tools/colrow/Model.h"
#include "tools/colrow/Training.h"

#include <string>
#include <vector>

namespace colrow {

/// Writes the folder of a trainer on tp = `ranks` ranks: source, manifest and, where the model has
/// them, its weights as weights.safetensors under torch's names. Throws Error.
void writeTrainer(Model &model, int64_t ranks, const std::string &folder);

/// The folder of a trainer that is built, made once for each model, options and grid and kept in
/// the user's cache ($XDG_CACHE_HOME/colrow, else ~/.cache/colrow). Throws Error.
std::string cachedTrainer(Model &model, int64_t ranks);

/// Runs FOLDER/trainer with these arguments and the terminal of this program. Its exit code.
int runTrainer(const std::string &folder, const std::vector<std::string> &arguments);

/// What the emitted program computes: `trainer replay` on these batches. Throws Error.
TrainingRun replayTraining(Model &model, int64_t ranks, const Batches &batches, int64_t steps);

} // namespace colrow
