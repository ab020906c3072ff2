//===- WriteBack.h - the original ONNX file with trained parameters -------===//
#pragma once

#include "frontend/onnx/Parameters.h"

#include <functional>
#include <string>
#include <vector>

namespace colrow {

/// The elements of a parameter in the orientation of its value: valueShape(), row-major.
using ParameterData = std::function<std::vector<float>(const Parameter &)>;

/// Writes the model with new data for every parameter. `data` is asked once for each, one at a
/// time, so that a large model need not be in memory at once.
///
/// The file keeps its nodes, names, metadata and constants, except that
///   - parameters that were merged have initializers of their own, in place of Identity nodes,
///   - biases that were dropped are there again,
///   - Dropout nodes are in inference form (no training_mode).
/// A tied weight that the file holds twice stays there twice, with equal data. Initializers that
/// were external are external again, in `<path>.data`; all large ones are if the file would pass 1
/// GiB. Both files replace old ones only when they are complete. `table` must be that of `model`.
/// Throws Error naming the file, or the parameter whose data has the wrong size or no float type.
void writeOnnx(const std::string &path, const OnnxModel &model, const ParameterTable &table,
               const ParameterData &data);

} // namespace colrow
