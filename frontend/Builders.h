//===- Builders.h - what several frontends write in the same operations ---===//
//
// A model comes out as the same program whichever form it is read from: where an operation of a
// frontend is more than one of the dialect's, both forms are built here. All throw Error, without
// node or file.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "frontend/FoldingBuilder.h"

namespace colrow {

/// numpy.matmul: leading dimensions broadcast. A dimension of size 1 against a larger one is
/// dropped from its operand: einsum repeats it.
mlir::Value buildMatMul(FoldingBuilder &b, mlir::Value lhs, mlir::Value rhs);

/// Known indices along a dimension of `size`, counted from 0. Throws Error for one outside, which
/// names the `table`.
reference::Tensor checkedIndices(llvm::StringRef table, const reference::Tensor &indices,
                                 int64_t size);

/// Slices of `table` (called `name`) along an axis. Known indices that only repeat along a
/// dimension are looked up once and broadcast, and consecutive ones are a slice: a position table
/// is cut, not searched.
mlir::Value buildLookup(FoldingBuilder &b, mlir::Value table, mlir::Value ids, int64_t axis,
                        llvm::StringRef name);

/// Su et al., RoFormer (arXiv 2104.09864), equation 34: pairs of elements of the last dimension are
/// turned by angles that are given by their cosines and sines, [..., pairs]. Pairs are neighbours
/// (`interleaved`) or half the dimension apart.
mlir::Value buildRotaryTurn(FoldingBuilder &b, mlir::Value x, mlir::Value cosine, mlir::Value sine,
                            bool interleaved);

/// The mean over axes, which stay with size 1.
mlir::Value buildMean(FoldingBuilder &b, mlir::Value x, llvm::ArrayRef<int64_t> axes);

/// Over the dimensions from `axis` on (Zhang and Sennrich, arXiv 1910.07467, equation 4).
mlir::Value buildRmsNorm(FoldingBuilder &b, mlir::Value x, mlir::Value weight, int64_t axis,
                         double epsilon);

} // namespace colrow
