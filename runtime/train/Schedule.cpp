//===- Schedule.cpp - hyperparameters and the learning rate over the steps -===//

#include "Schedule.h"

#include <cmath>

namespace colrow {

double Schedule::at(int64_t step) const {
  if (step < warmup)
    return peak * double(step + 1) / double(warmup);
  if (step >= steps)
    return floor;
  double progress = double(step - warmup) / double(steps - warmup);
  return floor + (peak - floor) * 0.5 * (1 + std::cos(3.14159265358979323846 * progress));
}

StepScalars stepScalars(const Hyperparameters &hyperparameters, uint64_t seed, int64_t step) {
  StepScalars scalars;
  scalars.seed = seed;
  scalars.step = step;
  scalars.learningRate = hyperparameters.learningRate;
  scalars.beta1 = hyperparameters.beta1;
  scalars.beta2 = hyperparameters.beta2;
  scalars.epsilon = hyperparameters.epsilon;
  scalars.weightDecay = hyperparameters.weightDecay;
  scalars.clipNorm = hyperparameters.clipNorm;
  return scalars;
}

} // namespace colrow
