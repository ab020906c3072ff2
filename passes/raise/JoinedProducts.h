//===- JoinedProducts.h - products of batches of matrices -----------------===//
#pragma once

#include "dialect/Colrow.h"

namespace colrow {

/// The sizes that each dimension of a shape is a product of where it is taken apart to another;
/// nothing where it is not.
std::optional<llvm::SmallVector<llvm::SmallVector<int64_t>>>
takenApart(llvm::ArrayRef<int64_t> from, llvm::ArrayRef<int64_t> to);

/// The value in another shape, without a reshape there and back.
mlir::Value withShape(OpBuilderWithLayouts &b, mlir::Value value, llvm::ArrayRef<int64_t> shape);

/// A product as one with a letter for each part of those dimensions that are taken apart: batch and
/// heads, which an exporter joins for a product of batches of matrices. `letters` are those of one
/// of its tensors, `parts` what each of its dimensions becomes.
EinsumOp takeApart(EinsumOp product, llvm::StringRef letters,
                   llvm::ArrayRef<llvm::SmallVector<int64_t>> parts);

/// The same of a value that is made from a product by elementwise operations: of all of them. A
/// reshape where there is nothing to take apart.
mlir::Value takeFormulaApart(mlir::Value value, llvm::ArrayRef<llvm::SmallVector<int64_t>> parts);

} // namespace colrow
