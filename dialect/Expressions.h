//===- Expressions.h - formulas as operations -----------------------------===//
//
// Gradients and decompositions are formulas. This writes them as such: numbers become constants
// that may stand beside the values of the formula, see OpBuilderWithLayouts::scalar.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "dialect/Colrow.h"

namespace colrow {

class Expressions {
public:
  /// Numbers get the element type of `like` and are declared to stand beside it.
  Expressions(OpBuilderWithLayouts &b, mlir::Type like) : b(b), like(like) {}

  using Value = mlir::Value;

  Value number(double value) { return b.scalar(value, mlir::getElementTypeOrSelf(like), like); }

  Value add(Value x, Value y) { return b.create<AddOp>(x, y); }
  Value sub(Value x, Value y) { return b.create<SubOp>(x, y); }
  Value mul(Value x, Value y) { return b.create<MulOp>(x, y); }
  Value div(Value x, Value y) { return b.create<DivOp>(x, y); }
  Value add(Value x, double y) { return add(x, number(y)); }
  Value sub(double x, Value y) { return sub(number(x), y); }
  Value mul(Value x, double y) { return mul(x, number(y)); }
  Value div(Value x, double y) { return div(x, number(y)); }
  Value square(Value x) { return mul(x, x); }

  template <typename OpTy> Value apply(Value x) { return b.create<OpTy>(x); }

  Value sum(Value x, llvm::ArrayRef<int64_t> axes, bool keepdims) {
    return b.create<ReduceSumOp>(x, axes, keepdims);
  }

private:
  OpBuilderWithLayouts &b;
  mlir::Type like;
};

/// Sums a value of broadcast shape over what was broadcast, back to `shape`.
mlir::Value sumToShape(OpBuilderWithLayouts &b, mlir::Value value, llvm::ArrayRef<int64_t> shape);

/// A scalar zero that may stand beside the value where an operation is linear in both: partial
/// where the value is, else replicated where it is not invariant.
mlir::Value zeroBeside(OpBuilderWithLayouts &b, mlir::Value value);

/// A reduced value with its reduced dimensions as dimensions of size 1 again.
mlir::Value keepReducedDims(OpBuilderWithLayouts &b, mlir::Value reduced,
                            llvm::ArrayRef<int64_t> inputShape, llvm::ArrayRef<int64_t> axes);

} // namespace colrow
