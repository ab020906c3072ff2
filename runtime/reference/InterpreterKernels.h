//===- InterpreterKernels.h - from operations to reference kernels --------===//
//
// Internal to the interpreter: one function for each family of operations, each in the file that
// is named after the family's .td file.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "dialect/Colrow.h"
#include "runtime/reference/InterpreterTypes.h"

#include "colrow/Rank.h"

#include <optional>

namespace colrow {

using Tensors = std::vector<reference::Tensor>;

/// Where operations are evaluated.
struct Place {
  reference::Precision precision = reference::Precision::f64;
  GridAttr grid;        ///< null: one rank
  Rank *rank = nullptr; ///< null where nothing may communicate

  int64_t index() const { return rank ? rank->index() : 0; }
  /// What this rank holds of a tensor of this global type.
  LocalShape localShape(mlir::RankedTensorType global) const {
    return localShapeOf(global, grid, index());
  }
};

/// The results of an operation of the family; nothing where it is of another.
std::optional<Tensors> evaluateMath(mlir::Operation *op, const Tensors &operands,
                                    const Place &place);
std::optional<Tensors> evaluateShape(mlir::Operation *op, const Tensors &operands,
                                     const Place &place);
std::optional<Tensors> evaluateNN(mlir::Operation *op, const Tensors &operands,
                                  const Place &place);
std::optional<Tensors> evaluateComm(mlir::Operation *op, const Tensors &operands,
                                    const Place &place);

/// Tries all families.
std::optional<Tensors> evaluateByKernel(mlir::Operation *op, const Tensors &operands,
                                        const Place &place);

} // namespace colrow
