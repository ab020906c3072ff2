//===- Layout.h - states of a tensor on the axes of the grid --------------===//
//
// A value lives on a grid of ranks with named axes. Per axis it is in one state, and a state is a
// pair: how the value is held, how its gradient is held. Taking a gradient swaps the pair:
//
//   state            the value on the ranks of the axis            its gradient
//   invariant    I   whole, equal bits, equal work with it         whole (I)
//   replicated   R   whole, equal bits, each rank its own work     sum (P)
//   partial      P   summands                                      whole (R)
//   shard        S   its slice                                     slice (S)
//
// That is the whole theory of sharded backpropagation; dialect/README.md has the rules.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "colrow/Layout.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/TensorEncoding.h"
#include "llvm/ADT/Hashing.h"
#include "llvm/ADT/SmallVector.h"

namespace colrow {

enum class StateKind { invariant, replicated, partial, partialMax, shard };

/// The state of a tensor on one axis. For shard: the dimension and how it is dealt out, see Cut.
struct AxisState {
  mlir::StringAttr axis;
  StateKind kind = StateKind::invariant;
  int64_t dim = 0, blocks = 1, unit = 1;

  bool isInvariant() const { return kind == StateKind::invariant; }
  bool isReplicated() const { return kind == StateKind::replicated; }
  bool isPartial() const { return kind == StateKind::partial; }
  bool isPartialMax() const { return kind == StateKind::partialMax; }
  bool isShard() const { return kind == StateKind::shard; }

  static AxisState invariant(mlir::StringAttr axis) { return {axis, StateKind::invariant}; }
  static AxisState replicated(mlir::StringAttr axis) { return {axis, StateKind::replicated}; }
  static AxisState partial(mlir::StringAttr axis) { return {axis, StateKind::partial}; }
  static AxisState partialMax(mlir::StringAttr axis) { return {axis, StateKind::partialMax}; }
  static AxisState shard(mlir::StringAttr axis, int64_t dim, int64_t blocks = 1,
                         int64_t unit = 1) {
    return {axis, StateKind::shard, dim, blocks, unit};
  }

  /// The state of this value's gradient. partial<max> has none: asserts.
  AxisState transposed() const;

  /// Without the axis: `invariant`, `shard<2, blocks = 3, unit = 16>`.
  std::string str() const;

  bool operator==(const AxisState &o) const {
    return axis == o.axis && kind == o.kind && dim == o.dim && blocks == o.blocks &&
           unit == o.unit;
  }
  bool operator!=(const AxisState &o) const { return !(*this == o); }
};

inline llvm::hash_code hash_value(const AxisState &state) {
  return llvm::hash_combine(state.axis.getAsOpaquePointer(), static_cast<int>(state.kind),
                            state.dim, state.blocks, state.unit);
}

} // namespace colrow

#define GET_ATTRDEF_CLASSES
#include "dialect/ColrowAttrs.h.inc"

namespace colrow {

/// The layout of a tensor type, or null when it is invariant on every axis.
LayoutAttr getLayout(mlir::Type type);

/// The state of a tensor type on an axis.
AxisState getState(mlir::Type type, mlir::StringAttr axis);

/// The type with its layout replaced; with null, removed.
mlir::RankedTensorType withLayout(mlir::Type type, LayoutAttr layout);

/// The type with its state on one axis replaced.
mlir::RankedTensorType withState(mlir::Type type, AxisState state);

/// The type of this value's gradient: every state transposed.
mlir::RankedTensorType gradientType(mlir::Type type);

/// The grid of the module around `op`, or null.
GridAttr getGrid(mlir::Operation *op);

/// The slices of a tensor type on this grid: global sizes and cuts.
std::vector<DimSlice> getSlices(mlir::RankedTensorType type, GridAttr grid);

/// The same of a parameter, which knows by its attributes how its storage is filled up.
std::vector<DimSlice> getStorage(mlir::RankedTensorType type, mlir::DictionaryAttr attributes,
                                 GridAttr grid);

/// What one rank holds of a tensor type: local shape, no layout. Needs every cut to divide.
mlir::RankedTensorType getLocalType(mlir::RankedTensorType type, GridAttr grid);

/// Whether two types are equal but for their layouts.
bool sameIgnoringLayout(mlir::TypeRange lhs, mlir::TypeRange rhs);

} // namespace colrow
