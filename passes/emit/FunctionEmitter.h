//===- FunctionEmitter.h - one function of the program as C++ -------------===//
#pragma once

#include "dialect/Colrow.h"
#include "passes/emit/Calls.h"
#include "passes/emit/Names.h"
#include "passes/emit/Text.h"
#include "passes/emit/WatchedValues.h"
#include "passes/lower/Plan.h"

#include <fmt/format.h>

namespace colrow {

/// The attributes of the operations of LossOps.td.
struct LossAttributes {
  int64_t valid, ignore;
  double labelSmoothing, zLoss;
};

/// What functions need of the class around them: communicators, maps of cut dimensions,
/// exchanges. Each gets a member, made once in the constructor.
class ProgramMembers {
public:
  explicit ProgramMembers(GridAttr grid) : grid(grid) {}

  GridAttr getGrid() const { return grid; }
  /// The member for the ranks along these axes.
  std::string communicator(mlir::ArrayAttr axes);
  /// The rank's part of one dimension of a global type: an IndexMap.
  std::string indexMap(mlir::RankedTensorType global, int64_t dim);
  /// The rank's part of a loss's vocabulary, and what the loss is: a VocabularySlice.
  std::string vocabulary(mlir::RankedTensorType global, int64_t dim, const LossAttributes &loss);
  /// The rank's part of a tensor: Slices.
  std::string slices(mlir::RankedTensorType global);
  /// The SliceExchange of a conversion.
  std::string exchange(mlir::ArrayAttr axes, mlir::RankedTensorType from,
                       mlir::RankedTensorType to);

  struct Member {
    std::string type, name, initializer, comment;
  };
  const std::vector<Member> &members() const { return list; }

private:
  std::string member(const std::string &type, const std::string &prefix,
                     const std::string &initializer, const std::string &comment);

  GridAttr grid;
  std::vector<Member> list;
};

class FunctionEmitter {
public:
  FunctionEmitter(const FunctionPlan &plan, const ProgramPlan &program,
                  const ProgramNumbers &numbers, const WatchedValues &watched,
                  ProgramMembers &members);

  /// The whole member function. Emits an error at an operation without a kernel.
  mlir::FailureOr<std::string> run();

  // What the emitters of op families use.

  /// A pointer to the first element of a value; declares a variable for it where there is none.
  std::string pointer(mlir::Value value);
  /// The same without a declaration, as an expression.
  std::string pointerExpression(mlir::Value value);
  /// "{name, {4, 32}}", with strides where it is not contiguous; or in another, contiguous shape.
  std::string view(mlir::Value value);
  std::string view(mlir::Value value, llvm::ArrayRef<int64_t> shape);
  /// "{}" for a value that nothing reads.
  std::string viewOrAbsent(mlir::Value value);
  /// How a kernel that adds to its result does so: "0" writes, "1" adds, or as the microbatch says.
  std::string beta(const Step &step) const;
  std::string workspace(const Step &step, unsigned number, llvm::StringRef name,
                        llvm::ArrayRef<int64_t> shape);
  /// A statement, wrapped.
  void line(const std::string &text) { body += wrapped(indent, text); }
  void comment(const std::string &text);
  std::string elementType(mlir::Value value) {
    return memoryType(mlir::cast<mlir::RankedTensorType>(value.getType()).getElementType());
  }

  const FunctionPlan &plan;
  ProgramMembers &members;
  Names names;
  unsigned indent = 4;

private:
  std::string signature();
  std::string bufferExpression(const Buffer &buffer, mlir::Type elementType);
  std::string returnStatement();
  mlir::LogicalResult emitStep(const Step &step);
  void emitCopy(const Step &step);
  void emitCall(mlir::func::CallOp call);
  void emitWatch(const Step &step);
  CallForm findForm(const FunctionPlan &function) const;

  const ProgramPlan &program;
  const ProgramNumbers &numbers;
  const WatchedValues &watched;
  CallForm form;                        ///< of this function, if it is outlined
  llvm::StringMap<CallForm> callForms;  ///< of the functions it calls
  std::string body;
  llvm::DenseMap<mlir::Value, std::string> variables;
  llvm::DenseMap<unsigned, std::string> bufferVariables; ///< arguments and results, by buffer
};

// Families of operations. Each returns false where an operation is not of its own.
void emitLoop(FunctionEmitter &e, const Step &step);                  // Loops.cpp
bool emitKernel(FunctionEmitter &e, const Step &step);                // Kernels.cpp
bool emitAttention(FunctionEmitter &e, const Step &step);             // KernelsAttention.cpp
bool emitComm(FunctionEmitter &e, mlir::Operation *op);               // Comm.cpp

/// The DropoutSite of an operation that draws random numbers; an outlined layer is told the id.
std::string dropoutSite(FunctionEmitter &e, mlir::Operation *op, mlir::Value random, int64_t id,
                        double rate);

} // namespace colrow
