//===- InterpreterTypes.h - MLIR's types and constants as tensors ---------===//
#pragma once

#include "dialect/Layout.h"
#include "mlir/IR/BuiltinAttributeInterfaces.h"
#include "runtime/reference/Sharding.h"
#include "runtime/reference/Tensor.h"

namespace colrow {

/// The element type of a tensor type: f32, f64, i64, i32, i8 (unsigned) or i1. Throws Error for
/// any other.
reference::ElementType toElementType(mlir::Type type);
mlir::Type fromElementType(mlir::MLIRContext *context, reference::ElementType type);

/// The value of a constant. Splats take the memory of one element. Throws Error where the
/// attribute's elements cannot be read.
reference::Tensor toTensor(mlir::ElementsAttr attribute);

/// The tensor as a constant's value: a splat where all elements have the same bits. Floats of
/// element type f32 are rounded.
mlir::DenseElementsAttr toElementsAttr(mlir::MLIRContext *context, const reference::Tensor &x);

/// The axes of a grid; none for a null grid, which is one rank.
std::vector<GridAxis> gridAxes(GridAttr grid);

/// How a tensor of this global type is held on the grid.
reference::Placement placementOf(mlir::RankedTensorType type, GridAttr grid);

/// What `rank` of the grid holds of a tensor of this global type.
LocalShape localShapeOf(mlir::RankedTensorType type, GridAttr grid, int64_t rank);

} // namespace colrow
