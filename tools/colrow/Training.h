//===- Training.h - what a training run computed, to compare runs by ------===//
#pragma once

#include "runtime/reference/Tensor.h"
#include "runtime/train/Schedule.h"

#include <map>
#include <string>
#include <vector>

namespace colrow {

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
