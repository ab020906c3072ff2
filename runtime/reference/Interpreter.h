//===- Interpreter.h - runs the dialect on N thread ranks -----------------===//
//
// The oracle: what a program means, in fp64 or fp32, with the naive kernels of this folder. It
// runs localized programs (pass colrow-localize), one thread for each rank of the module's grid,
// or one rank where there is no grid. Whole tensors go in and come out; what a rank holds of them
// is in the arguments' and results' `colrow.global`.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "mlir/IR/BuiltinOps.h"
#include "runtime/reference/Tensor.h"

#include <map>
#include <string>
#include <vector>

namespace colrow {

struct InterpreterOptions {
  reference::Precision precision = reference::Precision::f64;
  /// Seconds a rank may wait in one collective before the run ends with an error.
  double deadlockLimit = 60;
  /// Of the random summands into which a partial argument is taken apart.
  uint64_t seed = 1;
};

/// The name of a function's argument or result among whole tensors: its `colrow.name`, with
/// ".gradient" behind where its role is gradient (a parameter and its gradient have one name).
/// Without a name: `fallback` and its number, as in "arg0" and "result0".
std::string tensorKey(llvm::StringRef role, llvm::StringRef name, llvm::StringRef fallback,
                      unsigned number);

struct NamedTensor {
  std::string key, role, name;
  reference::Tensor value;
};

struct InterpreterResult {
  std::vector<NamedTensor> outputs; ///< in the order of the function's results

  /// Throws Error naming the key and those there are.
  const reference::Tensor &get(llvm::StringRef key) const;
};

/// Runs `function` of a localized module on all ranks. `inputs` has a whole tensor for the key
/// (see tensorKey) of every argument; others are ignored.
///
/// Throws Error (or what a rank threw): a function, input or kernel that is missing; an input of
/// another shape or element type; ranks that disagree about a result that should have the same
/// bits on all of them; ranks that wait for each other.
InterpreterResult interpret(mlir::ModuleOp module, llvm::StringRef function,
                            const std::map<std::string, reference::Tensor> &inputs,
                            const InterpreterOptions &options = {});

/// Evaluates one operation without layouts on one rank: constant folding by execution. A big
/// operation without a kernel is decomposed first. Throws Error.
std::vector<reference::Tensor>
evaluate(mlir::Operation *op, const std::vector<reference::Tensor> &operands,
         reference::Precision precision = reference::Precision::f64);

} // namespace colrow
