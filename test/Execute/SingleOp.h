//===- SingleOp.h - one operation, sharded in every way, against one rank --===//
#pragma once

#include "dialect/Colrow.h"
#include "runtime/reference/Tensor.h"

#include <map>
#include <ostream>
#include <set>
#include <string>
#include <vector>

namespace colrow::test {

/// An operation with the shapes and values it is tried with.
struct Instance {
  std::string text;  ///< without results: "colrow.neg %0 : (tensor<4xf32>) -> tensor<4xf32>"
  unsigned results = 1;
  int64_t idsBelow = 2;  ///< integer operands are 0 up to this
  bool positive = false; ///< floating operands are greater than 0
  int constant = -1;     ///< a floating operand by which there is no gradient
};

/// For GoogleTest.
inline void PrintTo(const Instance &instance, std::ostream *out) { *out << instance.text; }

/// The operation alone in a function @f: arguments are its operands in order, then a gradient for
/// each floating result; results are the operation's, then the gradients of its floating operands.
class SingleOp {
public:
  /// Types as written in the instance, without layouts.
  SingleOp(mlir::MLIRContext &context, const Instance &instance, GridAttr grid);

  mlir::Operation *op() const { return operation; }
  mlir::ModuleOp module() const { return *owner; }

  /// Gives operands and results these types. Returns whether the verifier accepts them.
  bool setTypes(llvm::ArrayRef<mlir::Type> operands, llvm::ArrayRef<mlir::Type> results);

  /// Adds gradients where the operation, or what it decomposes into, has them.
  /// Returns whether it has. To be called last: it may replace the operation.
  bool addGradients();

  /// Decomposes, localizes and runs @f on the ranks of the grid. Notes the name of every
  /// operation that ran in `executed`.
  std::vector<reference::Tensor> run(const std::map<std::string, reference::Tensor> &inputs,
                                     std::set<std::string> &executed);

private:
  void returnAlso(mlir::ValueRange values);

  mlir::OwningOpRef<mlir::ModuleOp> owner;
  mlir::func::FuncOp function;
  int constant;
  mlir::Operation *operation = nullptr;
};

/// Random values for the arguments of @f of an unsharded SingleOp (gradients included).
std::map<std::string, reference::Tensor> randomArguments(const SingleOp &single,
                                                         const Instance &instance);

/// States that a tensor may be in on an axis of this size: all of them, with cuts of every
/// dimension in some numbers of blocks and sizes of units.
llvm::SmallVector<AxisState> allStates(mlir::Type type, mlir::StringAttr axis, int64_t ranks);

/// Fails the current test where results differ; `what` says of what.
void expectSame(const std::vector<reference::Tensor> &expected,
                const std::vector<reference::Tensor> &got, const std::string &what);

/// A context with the dialect.
mlir::MLIRContext &testContext();

/// Operations that ran in any test of this program.
std::set<std::string> &executedOps();

GridAttr makeGrid(llvm::ArrayRef<std::pair<const char *, int64_t>> axes);

} // namespace colrow::test
