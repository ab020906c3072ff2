//===- Views.h - tensors seen in another order ----------------------------===//
#pragma once

#include "mlir/IR/Value.h"
#include "llvm/ADT/SmallVector.h"

#include <optional>

namespace colrow {

/// A value, as a tensor of some shape, is factor times a source of as many dimensions, seen in another
/// order: dimension i of the shape is dimension order[i] of the source. What lies between them
/// (transposes, reshapes there and back, products with numbers) moves no other elements.
struct ReorderedView {
  mlir::Value source;
  llvm::SmallVector<int64_t> shape; ///< of the source, with the dimensions of 1 it may lack
  llvm::SmallVector<int64_t> order;
  double factor = 1;
  /// Where the source has fewer elements along the dimension `repeated`: how many consecutive
  /// elements of the value are one of the source.
  int64_t repeats = 1;
};

/// The view of the source that lies furthest up; of the value itself, reshaped, where there is no
/// other. `shape` is that of the value but for dimensions of 1. Looks through repeated elements of
/// its dimension `repeated` where one is given.
ReorderedView findView(mlir::Value value, llvm::ArrayRef<int64_t> shape,
                       std::optional<int64_t> repeated = std::nullopt);

} // namespace colrow
