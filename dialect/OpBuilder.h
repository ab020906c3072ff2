//===- OpBuilder.h - builds operations and infers their layouts -----------===//
#pragma once

#include "dialect/ShardingRule.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinAttributes.h"

namespace colrow {

/// An OpBuilder at one location whose results get their layouts from the operands by L1 to L8. A
/// result type passed with a layout says what is wanted where a rule leaves a choice (a broadcast
/// into a cut dimension). An operation that breaks a rule emits an error and sets failed().
class OpBuilderWithLayouts : public mlir::OpBuilder {
public:
  OpBuilderWithLayouts(mlir::Location loc, mlir::OpBuilder &builder)
      : mlir::OpBuilder(builder), loc(loc) {}
  OpBuilderWithLayouts(mlir::Operation *before)
      : mlir::OpBuilder(before), loc(before->getLoc()) {}

  mlir::Location getLoc() const { return loc; }
  void setLoc(mlir::Location newLoc) { loc = newLoc; }
  bool failed() const { return violated; }

  template <typename OpTy, typename... Args> OpTy create(Args &&...args) {
    OpTy op = OpTy::create(*this, loc, std::forward<Args>(args)...);
    infer(op);
    return op;
  }

  /// create() in front of another operation and at its location: a form of that operation.
  template <typename OpTy, typename... Args>
  OpTy createBefore(mlir::Operation *other, Args &&...args) {
    InsertionGuard guard(*this);
    mlir::Location here = loc;
    setInsertionPoint(other);
    loc = other->getLoc();
    OpTy op = create<OpTy>(std::forward<Args>(args)...);
    loc = here;
    return op;
  }

  /// A scalar constant of a floating or integer type, declared replicated on the axes where `like`
  /// is not invariant, so that it can stand beside it (L2). A null `like` is invariant everywhere.
  mlir::Value scalar(double value, mlir::Type elementType, mlir::Type like = {});

  /// The value with f on every axis where it is invariant and `like` is not (L2). Integers and
  /// booleans stay as they are (L6).
  mlir::Value beside(mlir::Value value, mlir::Type like);

private:
  void infer(mlir::Operation *op);

  mlir::Location loc;
  bool violated = false;
};

/// Replaces a big operation by its decomposition and erases it. Emits an error where that fails.
mlir::LogicalResult replaceByDecomposition(mlir::Operation *op);

/// The type, replicated on every axis where `like` is not invariant.
mlir::RankedTensorType replicatedLike(mlir::RankedTensorType type, mlir::Type like);

} // namespace colrow
