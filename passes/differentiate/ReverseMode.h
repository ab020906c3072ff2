//===- ReverseMode.h - gradients of one value by the chain rule -----------===//
#pragma once

#include "dialect/Colrow.h"

namespace colrow {

/// Reverse mode over the operations of one block.
class ReverseMode {
public:
  /// `variables` are the values to differentiate by; only what depends on them gets gradients.
  ReverseMode(mlir::Block &block, llvm::ArrayRef<mlir::Value> variables)
      : block(block), variables(variables) {}

  /// Builds, in front of the terminator, the gradients of a scalar `loss`. Decomposes operations on
  /// the way from a variable to the loss that have no gradient of their own but a decomposition.
  /// Emits an error that names the user's node where there is neither.
  llvm::LogicalResult run(mlir::Value loss);

  /// The gradient of a value after run(), of exactly gradientType(value's type), or null where the
  /// loss does not depend on it.
  mlir::Value gradientOf(mlir::Value value) const { return gradients.lookup(value); }

private:
  void markActive();
  llvm::FailureOr<bool> decomposeStep(mlir::Value loss);
  llvm::LogicalResult sweep(mlir::Operation *op, OpBuilderWithLayouts &b);
  void add(mlir::Value value, mlir::Value gradient, OpBuilderWithLayouts &b);

  mlir::Block &block;
  llvm::ArrayRef<mlir::Value> variables;
  /// Values that depend on a variable in a differentiable way.
  llvm::DenseSet<mlir::Value> active;
  llvm::DenseMap<mlir::Value, mlir::Value> gradients;
};

/// The location of the backward pass of something at `loc`.
mlir::Location backwardLoc(mlir::Location loc);

} // namespace colrow
