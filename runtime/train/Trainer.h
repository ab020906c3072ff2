//===- Trainer.h - the training loop ---------------------------------------===//
#pragma once

#include "Options.h"
#include "colrow/RankRunner.h"

namespace colrow {

/// `trainer train`: trains on `ranks`, the program's grid, and writes the run folder. Throws
/// Error for bad input, and when the loss is no longer a number.
void runTraining(const GeneratedProgram &generated, const TrainOptions &options,
                 const Console &console, RankRunner &ranks);

} // namespace colrow
