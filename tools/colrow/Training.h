//===- Training.h - what a training run computed, to compare runs by ------===//
#pragma once

#include "runtime/reference/Tensor.h"

#include <map>
#include <string>
#include <vector>

namespace colrow {

/// AdamW and clipping, as in PyTorch; the defaults are those of the reference runs.
struct Hyperparameters {
  double learningRate = 1e-3, beta1 = 0.9, beta2 = 0.95, epsilon = 1e-8, weightDecay = 0.01,
         clipNorm = 1.0;
};

/// Batches by input name, [count, ...]; labels are not shifted.
using Batches = std::map<std::string, reference::Tensor>;

/// Tensors of parameters have the orientation of the program's argument and no padding.
struct TrainingRun {
  std::map<std::string, reference::Tensor> outputs;   ///< of batch 0, before training
  std::map<std::string, reference::Tensor> gradients; ///< of batch 0, before clipping
  std::map<std::string, reference::Tensor> final;     ///< parameters after all steps
  std::vector<double> losses, norms;                  ///< of each step, before its update
};

} // namespace colrow
