//===- Elementwise.h - operations that can share one loop -----------------===//
#pragma once

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Operation.h"

namespace colrow {

/// Whether element i of the one result follows from the operands' elements at i, with numpy
/// broadcasting. broadcast is one.
bool isElementwise(mlir::Operation *op);

/// The coarsest shape that both refine: dimensions of either are products of consecutive ones of
/// it. [4, 32, 64] for [128, 64] and [4, 32, 64]. Nothing where there is none. Without dimensions
/// of size 1.
std::optional<llvm::SmallVector<int64_t>> commonRefinement(llvm::ArrayRef<int64_t> lhs,
                                                           llvm::ArrayRef<int64_t> rhs);

/// Strides, for a walk over `refined`, of an operand that broadcasts to `result`: the operand has
/// `shape` and lies in memory with `strides`; `refined` refines `result`.
llvm::SmallVector<int64_t> stridesOver(llvm::ArrayRef<int64_t> refined,
                                       llvm::ArrayRef<int64_t> result,
                                       llvm::ArrayRef<int64_t> shape,
                                       llvm::ArrayRef<int64_t> strides);

/// Strides of a tensor of shape `from` and these strides once its dimensions are taken apart into
/// those of `to`. Nothing where some would be joined.
std::optional<llvm::SmallVector<int64_t>> takenApart(llvm::ArrayRef<int64_t> from,
                                                     llvm::ArrayRef<int64_t> strides,
                                                     llvm::ArrayRef<int64_t> to);

/// Row-major strides of a shape.
llvm::SmallVector<int64_t> rowMajorStrides(llvm::ArrayRef<int64_t> shape);

} // namespace colrow
