//===- Units.h - what the number of ranks has to divide -------------------===//
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace colrow {

/// The number of ranks along `axis` has to divide this number for colrow-shard to cut the forward
/// program: heads, and units of blocks. 0 where it cuts nothing but vocabularies, which are padded.
int64_t unitsToDivide(mlir::func::FuncOp function, llvm::StringRef axis);

} // namespace colrow
