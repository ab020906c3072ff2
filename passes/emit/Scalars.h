//===- Scalars.h - elementwise operations as C++ expressions --------------===//
#pragma once

#include "mlir/IR/Operation.h"

#include <string>

namespace colrow {

/// How tightly the outermost operator of an expression binds.
enum class Binding { weakest, sum, product, unary, atom };

/// A C++ expression of one number.
struct Scalar {
  std::string text;
  Binding binding = Binding::atom;

  /// For a place that needs an expression which binds at least so tightly.
  std::string in(Binding least) const { return binding < least ? "(" + text + ")" : text; }
};

/// One elementwise operation on the elements of its operands. Operands keep their order and
/// grouping: the sums and products are those of the operation.
Scalar scalarExpression(mlir::Operation *op, llvm::ArrayRef<Scalar> operands);

} // namespace colrow
