//===- WatchedValues.h - tensors that a step shows to an observer ---------===//
//
// A trainer whose loss is not finite repeats the step and looks for the first tensor of the forward
// pass that is not finite either (Program::observe). For that the emitted code shows each value that
// it has written to memory, behind the statement that writes it:
//
//   watch(5 + 13 * layer, node_add_166, 786432);
//
// The numbers are places in ProgramInfo::values, which has the user's names: those of a layer that
// is called n times are there n times, each with its own.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "colrow/Program.h"
#include "passes/lower/Plan.h"

#include <vector>

namespace colrow {

class WatchedValues {
public:
  /// Of @forward_backward and the functions that its forward pass calls; the plan must stay.
  explicit WatchedValues(const ProgramPlan &program);

  /// What is shown behind a step.
  llvm::ArrayRef<mlir::Value> valuesOf(const Step &step) const;
  /// The number of such a value; in an outlined function that of the first call.
  int64_t numberOf(mlir::Value value) const { return numbers.lookup(value); }
  /// By how much numbers grow from call to call; 0 where a function shows nothing.
  int64_t valuesPerCall(const FunctionPlan &function) const { return perCall.lookup(&function); }
  const std::vector<ValueInfo> &describe() const { return infos; }

private:
  void add(const FunctionPlan &plan, const ProgramPlan &program);
  void number(llvm::ArrayRef<mlir::Value> values, size_t calls);
  /// Whether elements of a value are infinite in a sound step: what is masked by adding or
  /// selecting minus infinity, until something sums over it.
  bool mayBeInfinite(mlir::Value value);
  bool makesInfinities(mlir::Operation *op);

  llvm::DenseMap<const Step *, llvm::SmallVector<mlir::Value, 1>> shown;
  llvm::DenseMap<mlir::Value, int64_t> numbers;
  llvm::DenseMap<const FunctionPlan *, int64_t> perCall;
  llvm::DenseMap<mlir::Value, bool> infinite;
  std::vector<ValueInfo> infos;
};

} // namespace colrow
