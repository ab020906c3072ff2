//===- InterpreterProgram.h - functions made ready to run ------------------===//
#pragma once

#include "runtime/reference/InterpreterKernels.h"

#include "llvm/ADT/StringMap.h"

namespace colrow {

/// The functions of a module with their values numbered and the end of each value's life known.
/// Built once, then read by all ranks at the same time.
class InterpreterProgram {
public:
  /// Throws Error where a type still has a layout.
  explicit InterpreterProgram(mlir::ModuleOp module);

  /// Null where there is none.
  mlir::func::FuncOp lookup(llvm::StringRef function) const;
  /// "'main', 'update'", for messages.
  std::string names() const;

  /// Runs a function on the rank of `place`. Arguments are given up, so that what only the
  /// function needs is freed early.
  Tensors run(llvm::StringRef function, Tensors arguments, const Place &place) const;

private:
  struct Step {
    mlir::Operation *op;
    llvm::SmallVector<unsigned> operands, results;
    llvm::SmallVector<unsigned> dead; ///< values that no later step reads
  };
  struct Function {
    mlir::func::FuncOp op;
    unsigned values = 0;
    std::vector<Step> steps;
  };

  static Function numbered(mlir::func::FuncOp op);

  llvm::StringMap<Function> functions;
};

/// The results of one operation, by its kernel. Throws Error naming the operation.
Tensors evaluateOnRank(mlir::Operation *op, const Tensors &operands, const Place &place);

} // namespace colrow
