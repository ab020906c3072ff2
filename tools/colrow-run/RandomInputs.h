//===- RandomInputs.h - arguments for a function when none are given ------===//
#pragma once

#include "dialect/Colrow.h"
#include "runtime/reference/Tensor.h"

#include <map>
#include <string>

namespace colrow {

/// A whole tensor for every argument of a function that is not localized yet, by tensorKey:
/// normally distributed floats, integers below what they are used to look up, and what the
/// arguments that the compiler adds (counts, optimizer scalars) may hold.
std::map<std::string, reference::Tensor> randomInputs(mlir::func::FuncOp function, uint64_t seed);

} // namespace colrow
