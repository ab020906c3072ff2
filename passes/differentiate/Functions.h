//===- Functions.h - results of functions, and what nobody reads ----------===//
#pragma once

#include "dialect/Colrow.h"

namespace colrow {

/// A result of a function with its attributes.
struct Result {
  mlir::Value value;
  mlir::DictionaryAttr attributes;
};
void setResults(mlir::func::FuncOp function, llvm::ArrayRef<Result> results);
Result getResult(mlir::func::FuncOp function, unsigned i);

/// The number of the one result of role `loss`, a scalar; emits an error where there is none.
llvm::FailureOr<unsigned> findLoss(mlir::func::FuncOp function);

void mergeEqualValues(mlir::func::FuncOp function);

/// Where no gradient is taken any more stop_gradient means nothing; what nobody reads goes.
void cleanUp(mlir::func::FuncOp function);

} // namespace colrow
