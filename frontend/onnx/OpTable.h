//===- OpTable.h - all operators that are imported ------------------------===//
#pragma once

#include "frontend/onnx/OnnxNode.h"

#include <vector>

namespace colrow {

/// By name.
const std::vector<const OnnxOp *> &allOnnxOps();

/// Null if the operator is not imported.
const OnnxOp *findOnnxOp(llvm::StringRef name);

/// What to say about a node that cannot be imported at this opset; empty if it can.
std::string whyNotImported(llvm::StringRef name, int64_t opset);

} // namespace colrow
