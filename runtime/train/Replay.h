//===- Replay.h - training on given batches, every number written down -----===//
#pragma once

#include "Options.h"
#include "colrow/RankRunner.h"

namespace colrow {

/// `trainer replay`: see its help. What it writes proves a program against another run of the
/// same steps. Tensors in the result:
///
///   <output>        the program's outputs of batch 0, before training
///   grad.<name>     gradient of batch 0, before clipping; whole, in storage orientation
///   final.<name>    parameters after the last step; whole, in storage orientation
///   loss            F64 [], evaluate's loss of batch 0, before training
///   losses          F64 [steps], of each step before its update
///   grad_norm       F64 [], the first of
///   grad_norms      F64 [steps], before clipping
///
/// <name> is ParameterInfo::name.
void runReplay(const GeneratedProgram &generated, const ReplayOptions &options,
               const Console &console, RankRunner &ranks);

} // namespace colrow
