//===- Recognisers.h - bigger operations out of small ones ----------------===//
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <string>

namespace colrow {

/// One of the recognisers of colrow-raise: replaces what it finds in a function, with a remark for
/// each. What is no longer read stays for the pass to erase.
struct Recogniser {
  llvm::StringLiteral name;
  void (*run)(mlir::func::FuncOp function);
};

void recogniseAttention(mlir::func::FuncOp function);  // Attention.cpp
void recogniseGelu(mlir::func::FuncOp function);       // Gelu.cpp
void recogniseLayerNorm(mlir::func::FuncOp function);  // Norm.cpp
void recogniseRmsNorm(mlir::func::FuncOp function);    // Norm.cpp
void recogniseSilu(mlir::func::FuncOp function);       // Silu.cpp

/// All of them, in the order in which they run.
llvm::ArrayRef<Recogniser> getRecognisers();

/// What is wrong with names of recognisers: the first unknown one and those there are; empty if
/// nothing is.
std::string checkRecognisers(llvm::ArrayRef<std::string> names);

} // namespace colrow
