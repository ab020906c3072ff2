//===- Schedule.h - hyperparameters and the learning rate over the steps ---===//
#pragma once

#include "colrow/Program.h"

namespace colrow {

/// AdamW's hyperparameters. The defaults are those of StepScalars.
struct Hyperparameters {
  double learningRate = 1e-3, beta1 = 0.9, beta2 = 0.95, epsilon = 1e-8, weightDecay = 0.01;
  double clipNorm = 1.0; ///< 0: no clipping
};

/// Linear warm-up, then half a cosine down to a floor (Loshchilov and Hutter, "SGDR", 2017).
struct Schedule {
  double peak = 1e-3, floor = 1e-4;
  int64_t warmup = 0, steps = 1;

  /// The learning rate of step 0, 1, ... steps - 1: peak * (step + 1) / warmup during warm-up,
  /// peak at step `warmup`, and `floor` would be reached at step `steps`.
  double at(int64_t step) const;
};

/// The scalars of a step, but for the learning rate and the labels.
StepScalars stepScalars(const Hyperparameters &hyperparameters, uint64_t seed, int64_t step);

} // namespace colrow
