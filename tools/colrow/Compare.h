//===- Compare.h - how far one training run is from another ---------------===//
#pragma once

#include "colrow/Safetensors.h"
#include "frontend/onnx/Parameters.h"
#include "tools/colrow/Training.h"

#include <cmath>
#include <string>
#include <vector>

namespace colrow {

/// One number of the table: relative distance and what it may be.
struct Distance {
  std::string quantity; ///< logits, loss, losses, grad_norms, gradient, final
  std::string name;     ///< of the parameter or output
  double value = 0, limit = 0;
  bool compared = true; ///< false: the reference lacks it
  bool passes() const { return !compared || (std::isfinite(value) && value <= limit); }
};

/// Against a file in the form of test/models/README.md, under ONNX or torch names. A gradient in it
/// that belongs to no parameter is a row that fails. Throws Error where the file has nothing to
/// compare with.
std::vector<Distance> compareWithReference(const TrainingRun &run, const SafetensorsFile &reference,
                                           const ParameterList &parameters, double limit);

/// Against the same model on another grid. `noise` is what an element of each parameter's gradient
/// is uncertain by: final values of elements with gradients of that size are not compared.
std::vector<Distance> compareRuns(const TrainingRun &run, const TrainingRun &other, double limit,
                                  const std::map<std::string, double> &noise = {});

/// The root mean square of the difference of each parameter's gradient in two runs.
std::map<std::string, double> gradientNoise(const TrainingRun &run, const TrainingRun &other);

} // namespace colrow
