//===- OnnxNode.h - a node as the builders of operators see it ------------===//
//
// Internal to the importer. A builder reads operands and attributes of its node, creates
// operations through `b`, and sets the results:
//
//   static void buildFlatten(OnnxNode &node) {
//     int64_t axis = node.axis(node.integer("axis", 1), node.rank(0) + 1);
//     ...
//     node.set(b.reshape(node.in(0), {before, behind}));
//   }
//
//===----------------------------------------------------------------------===//
#pragma once

#include "frontend/FoldingBuilder.h"
#include "onnx/onnx_pb.h"
#include "runtime/reference/InterpreterTypes.h"

#include <functional>
#include <set>

namespace colrow {

/// What the nodes of a graph share.
struct OnnxGraphState {
  int64_t opset = 0;
  std::set<std::string> used;          ///< values that a node or the graph's results read
  std::function<mlir::Value()> random; ///< the program's argument [seed, step, microbatch, active]
  std::vector<std::string> suspicions; ///< what may be the cause of an error later on
};

class OnnxNode {
public:
  OnnxNode(FoldingBuilder &b, const onnx::NodeProto &proto, llvm::ArrayRef<mlir::Value> inputs,
           OnnxGraphState &state)
      : b(b), proto(proto), opset(state.opset), inputs(inputs), state(state),
        results(proto.output_size()) {}

  FoldingBuilder &b;
  const onnx::NodeProto &proto;
  const int64_t opset;

  llvm::StringRef op() const { return proto.op_type(); }

  // Operands. Optional ones may be missing.
  size_t numInputs() const { return inputs.size(); }
  bool has(size_t i) const { return i < inputs.size() && inputs[i]; }
  mlir::Value in(size_t i) const;
  int64_t rank(size_t i) const { return rankOf(in(i)); }
  mlir::Type element(size_t i) const { return elementOf(in(i)); }
  /// Operand i, which must be known at compile time; `what` it is goes into the error.
  const reference::Tensor &known(size_t i, llvm::StringRef what) const;
  llvm::SmallVector<int64_t> integers(size_t i, llvm::StringRef what) const;
  /// One number.
  int64_t integerIn(size_t i, llvm::StringRef what) const;
  double numberIn(size_t i, llvm::StringRef what) const;

  // Attributes.
  const onnx::AttributeProto *attribute(llvm::StringRef name) const;
  bool hasAttribute(llvm::StringRef name) const { return attribute(name); }
  /// Throws Error where the attribute has another type or, without `otherwise`, is not there.
  int64_t integer(llvm::StringRef name) const;
  int64_t integer(llvm::StringRef name, int64_t otherwise) const;
  /// As the decimal number it was written as: 1e-5, not its float32 image 9.99999974e-06.
  double number(llvm::StringRef name, double otherwise) const;
  std::string text(llvm::StringRef name, llvm::StringRef otherwise) const;
  llvm::SmallVector<int64_t> integerList(llvm::StringRef name) const;
  /// What is attribute `name` before opset `since` and operand i from it on; nothing where the node
  /// has neither.
  std::optional<llvm::SmallVector<int64_t>> integersOrAttribute(llvm::StringRef name, size_t i,
                                                                int64_t since) const;

  /// The axis counted from 0. Throws Error unless it is one of `rank`.
  int64_t axis(int64_t axis, int64_t rank) const;
  llvm::SmallVector<int64_t> axes(llvm::ArrayRef<int64_t> axes, int64_t rank) const;

  // Results.
  size_t numOutputs() const { return results.size(); }
  /// Whether the node has output i and something reads it.
  bool wants(size_t i) const;
  void set(mlir::Value value, size_t i = 0) { results[i] = value; }
  llvm::ArrayRef<mlir::Value> outputs() const { return results; }

  /// The program's argument [seed, step, microbatch, active].
  mlir::Value random() const { return state.random(); }

  /// Remembers what may be the cause where a later node fails.
  void suspect(const llvm::Twine &text) const { state.suspicions.push_back(text.str()); }

  /// Throws Error; the importer puts file and node before the message.
  [[noreturn]] void fail(const llvm::Twine &message) const;

  /// Whether what is attribute `name` before opset `since` and operand i from it on is an operand
  /// here. Throws Error where the node has it in the other form.
  bool isOperand(llvm::StringRef name, size_t i, int64_t since) const;

private:
  const reference::Tensor &knownScalar(size_t i, llvm::StringRef what) const;
  const onnx::AttributeProto *attribute(llvm::StringRef name, int type) const;
  llvm::ArrayRef<mlir::Value> inputs;
  OnnxGraphState &state;
  llvm::SmallVector<mlir::Value> results;
};

/// The reference interpreter's type of an onnx::TensorProto_DataType. Throws Error for types that
/// are not imported.
reference::ElementType onnxElementType(int32_t dtype);

/// The number with the shortest decimal notation that has this float32 image.
double shortestDecimal(float image);

/// A tensor of a `value` attribute.
reference::Tensor tensorFromProto(const onnx::TensorProto &tensor);

/// How an ONNX operator is imported.
///
/// `operands` has a letter an operand, for the element types that ONNX's definition of the operator
/// allows there, of those that are imported (fewer where the importer builds less):
///
///   a  any                      i  int64, int32
///   n  numbers: all but bool    l  int64
///   s  numbers but uint8        b  bool
///   f  float, double
///
/// Operands with upper-case letters have to be of one type. '*' behind a letter: any number of such
/// operands. So "bAA" is Where's condition and its two choices.
struct OnnxOp {
  llvm::StringLiteral name;
  int64_t since; ///< the first opset that has it, minOpset if older
  llvm::StringLiteral operands;
  void (*build)(OnnxNode &node);
  llvm::StringLiteral remark = ""; ///< for the table: what is not covered

  /// How many operands there may be.
  size_t operandLimit() const { return operands.ends_with("*") ? SIZE_MAX : operands.size(); }
  char operandClass(size_t i) const { return operands.ends_with("*") ? operands[0] : operands[i]; }
};

/// Whether operand i may be of this type.
bool takesOperandOf(const OnnxOp &op, size_t i, reference::ElementType type);

/// Throws Error for a node with operands of other types than `op` takes, or with too many.
void checkOperandTypes(const OnnxNode &node, const OnnxOp &op);

// The operators, a family a file.
llvm::ArrayRef<OnnxOp> activationOps(); // ImportActivation.cpp
llvm::ArrayRef<OnnxOp> attentionOps();  // ImportAttention.cpp
llvm::ArrayRef<OnnxOp> convOps();       // ImportConv.cpp
llvm::ArrayRef<OnnxOp> lookupOps();     // ImportLookup.cpp
llvm::ArrayRef<OnnxOp> lossOps();       // ImportLoss.cpp
llvm::ArrayRef<OnnxOp> mathOps();       // ImportMath.cpp
llvm::ArrayRef<OnnxOp> nnOps();         // ImportNN.cpp
llvm::ArrayRef<OnnxOp> productOps();    // ImportProduct.cpp
llvm::ArrayRef<OnnxOp> reduceOps();     // ImportReduce.cpp
llvm::ArrayRef<OnnxOp> shapeOps();      // ImportShape.cpp
llvm::ArrayRef<OnnxOp> sourceOps();     // ImportSource.cpp

/// log(softmax(x)) along an axis, in primitives (ImportNN.cpp).
mlir::Value buildLogSoftmax(FoldingBuilder &b, mlir::Value x, int64_t axis);

} // namespace colrow
