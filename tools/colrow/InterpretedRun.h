//===- InterpretedRun.h - trains a program in the interpreter -------------===//
#pragma once

#include "tools/colrow/Model.h"
#include "tools/colrow/Training.h"
#include "tools/colrow/Weights.h"

namespace colrow {

/// Trains `steps` steps of the model on tp = `ranks` thread ranks in fp64, from these weights; step
/// s uses batch s mod count, dropout is off. AdamW and clipping are those of the reference runs,
/// the trainer's defaults. Throws Error.
TrainingRun interpretTraining(Model &model, int64_t ranks, const Batches &batches, int64_t steps,
                              const ParameterData &weights);

} // namespace colrow
