//===- GraphChecksum.h - tells graphs apart whose parameters are alike -----===//
#pragma once

#include "frontend/onnx/Parameters.h"

#include <string>

namespace colrow {

/// 16 hexadecimal digits that depend on the operations of a graph: their kinds, order, attributes
/// and operands, the shapes of parameters and the values of constants. They depend neither on names,
/// nor on the values of parameters, nor on the sizes that are bound to symbols, nor on a grid.
std::string graphChecksum(const OnnxModel &model, const ParameterTable &table);

} // namespace colrow
