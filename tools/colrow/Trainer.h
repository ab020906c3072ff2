//===- Trainer.h - emits, builds and runs a trainer -----------------------===//
#pragma once

#include "tools/colrow/Model.h"
#include "tools/colrow/Training.h"

#include <functional>
#include <string>
#include <vector>

namespace colrow {

/// Writes the folder of a trainer on tp = `ranks` ranks: source, manifest and, where the model has
/// them, its weights as weights.safetensors under torch's names. Throws Error.
void writeTrainer(Model &model, int64_t ranks, const std::string &folder);

/// Told the manifest of a trainer before anything is built; may throw.
using ManifestCheck = std::function<void(const std::string &manifest)>;

/// The folder of a trainer that is built, made once for each model, options and grid and kept in
/// the user's cache ($XDG_CACHE_HOME/colrow, else ~/.cache/colrow). Throws Error.
std::string cachedTrainer(Model &model, int64_t ranks, const ManifestCheck &check = {});

/// Goes on as FOLDER/trainer with these arguments: signals and the exit code are the trainer's own.
/// Throws Error where it cannot be started.
[[noreturn]] void becomeTrainer(const std::string &folder, std::vector<std::string> arguments);

/// What the emitted program computes: `trainer replay` on these batches, from the weights of a file
/// (empty: those of the model, or from scratch where it has none). Throws Error.
TrainingRun replayTraining(Model &model, int64_t ranks, const Batches &batches, int64_t steps,
                           const std::string &weights);

} // namespace colrow
