//===- Plan.h - what a function does step by step, and where values are ---===//
//
// The emitted program has no tensors that come and go: every value has a place in memory that is
// fixed when the program is compiled. A FunctionPlan says, for one localized function,
//
//   - its steps, in order: a call of a kernel or of an outlined function, one loop for a group of
//     elementwise operations, a product added to a gradient, a copy into a result;
//   - the buffer of every value. Reshapes are the same memory; so are transposes and slices where
//     all readers take strides, sums in a fixed order in place, and results of kernels that may
//     overwrite an operand which nothing reads later;
//   - the offsets of buffers in two segments: `activation` for what the forward pass leaves for the
//     backward pass, `scratch` for the rest. Buffers that are not alive at the same time share
//     memory.
//
// Arguments and results of an outlined function are pointers that its caller passes. Its own scratch
// lies behind that of its callers.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/MapVector.h"

#include <map>
#include <memory>

namespace colrow {

/// Of an operation whose first result has the memory of an operand (its number), and of a
/// function's result that has the memory of an argument.
constexpr llvm::StringLiteral inPlaceAttrName = "colrow.in_place";

/// Of a sum that is the first of a step to add to a gradient, and of that gradient's argument: in the
/// first microbatch the sum need not read what was there.
constexpr llvm::StringLiteral beginsAttrName = "colrow.begins";

/// Of the location of an operation in an outlined function: those of the operations of all layers
/// that it stands for, in the order of the calls.
constexpr llvm::StringLiteral instancesLocName = "instances";

/// Whether an operation belongs to the backward pass: its location says so.
bool isBackward(mlir::Operation *op);

/// Whether an operation of the backward pass computes again what the forward pass did not keep, and
/// the location that says so.
bool isRecomputed(mlir::Operation *op);
mlir::Location recomputedLocation(mlir::Location forward);

/// The argument whose memory a result of the program takes over: the same role (parameter, state,
/// gradient) and name.
std::optional<unsigned> getTiedArgument(mlir::func::FuncOp function, unsigned result);

/// The function an operation calls, or null.
mlir::func::FuncOp getCallee(mlir::Operation *op);

enum class Segment {
  argument,   ///< pointer passed by the caller; offset is its number
  result,     ///< likewise, of an outlined function
  constant,   ///< a dense constant
  output,     ///< outputs of the program: they stay after the call
  activation, ///< from the forward pass to the backward pass
  scratch,
};

/// Contiguous memory for one or more values.
struct Buffer {
  Segment segment = Segment::scratch;
  int64_t offset = 0; ///< bytes from the segment's begin; for pointers their number
  int64_t bytes = 0;
  int64_t first = 0, last = 0; ///< steps between which it is alive, both included
  mlir::Value value;           ///< the first value in it; null for a kernel's workspace
};

/// Where a value is: elements from `offset` on, dimension d with strides[d] (in elements).
struct Place {
  unsigned buffer = 0;
  int64_t offset = 0;
  llvm::SmallVector<int64_t> strides;
};

struct Step {
  enum Kind {
    call,       ///< ops[0]: a kernel, a collective, a function
    loop,       ///< ops: elementwise, over the elements of `shape`
    accumulate, ///< ops[0], a result of which is added in the place of ops[1], a sum
    copy,       ///< `source` to result number `result` of the function
  };
  explicit Step(Kind kind, llvm::ArrayRef<mlir::Operation *> ops = {}) : kind(kind), ops(ops) {}

  Kind kind;
  llvm::SmallVector<mlir::Operation *> ops;
  llvm::SmallVector<int64_t> shape;    ///< of a loop: refines the shape of every operation in it
  llvm::SmallVector<unsigned> workspace; ///< buffers a kernel needs beside operands and results
  mlir::Value source;
  unsigned result = 0;
  bool backward = false;
};

class FunctionPlan {
public:
  mlir::func::FuncOp function;
  bool outlined = false; ///< arguments and results are pointers passed by the caller
  std::vector<Step> steps;
  std::vector<Buffer> buffers;
  int64_t scratchBegin = 0, scratchBytes = 0, activationBytes = 0, outputBytes = 0;

  /// Where a value is. Constants that are one number have no place where only loops read them.
  const Place &place(mlir::Value value) const;
  bool hasPlace(mlir::Value value) const { return places.count(value); }
  const Buffer &bufferOf(mlir::Value value) const { return buffers[place(value).buffer]; }
  bool isContiguous(mlir::Value value) const;
  /// Whether a loop keeps this value in a variable only.
  bool isStored(mlir::Value value) const { return stored.contains(value); }
  /// Where result number `i` of the function has to be.
  const Buffer &resultBuffer(unsigned i) const { return buffers[resultBuffers[i]]; }

  llvm::DenseMap<mlir::Value, Place> places;
  llvm::DenseSet<mlir::Value> stored;
  llvm::SmallVector<unsigned> resultBuffers; ///< for each result; ~0u where it is a number read
};

/// The plans of all functions of a module, callers before the functions they call.
class ProgramPlan {
public:
  /// Emits an error where the module cannot be planned (it is not localized).
  static mlir::FailureOr<ProgramPlan> create(mlir::ModuleOp module);

  std::vector<std::unique_ptr<FunctionPlan>> functions;
  /// Dense constants that need memory, by value, with their offsets.
  llvm::MapVector<mlir::Attribute, int64_t> constants;
  int64_t scratchBytes = 0, activationBytes = 0, outputBytes = 0, constantBytes = 0;

  const FunctionPlan *lookup(llvm::StringRef name) const;
};

/// Alignment of buffers, in bytes.
constexpr int64_t bufferAlignment = 64;

/// Bytes of an element as the runtime holds it: a boolean is one byte.
int64_t elementBytes(mlir::Type elementType);
int64_t tensorBytes(mlir::Type type);

// Parts of planning, in order. See the files of the same names.
void planSteps(FunctionPlan &plan);                           // Steps.cpp
mlir::LogicalResult planMemory(FunctionPlan &plan, ProgramPlan &program); // Memory.cpp

/// Shapes of what the kernel of an operation needs beside operands and results (f32).
llvm::SmallVector<mlir::RankedTensorType> workspaceTypes(mlir::Operation *op);

/// Whether the reader of an operand takes any strides.
bool acceptsStrides(mlir::OpOperand &operand);

/// The order in which the dimensions of a kernel's result lie in memory, outermost first, where the
/// kernel writes with any strides and a transpose alone reads: that of the transpose, which then is
/// contiguous.
std::optional<llvm::ArrayRef<int64_t>> writtenOrder(mlir::Value value);

/// Whether a reshape makes more dimensions of its operand's and joins none.
bool takesDimensionsApart(mlir::Operation *reshape);

/// Whether an operation only sees its operand in another way: transpose, slice or broadcast where
/// every reader takes strides, and reshape of contiguous memory. It has no step of its own.
bool isView(mlir::Operation *op);

} // namespace colrow
