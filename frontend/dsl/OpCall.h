//===- OpCall.h - a call of an operation as its builder sees it -----------===//
//
// Internal to the frontend. A builder reads the arguments of its call by name and returns what the
// call is worth:
//
//   static Value buildSoftmax(OpCall &call) {
//     Value x = call.tensor("x");
//     return call.b.create<SoftmaxOp>({x}, {call.b.integer("axis", call.axis("dim", rankOf(x)))});
//   }
//
// and its signature, "x, dim=-1", is all that is known about arguments: their order and what stands
// for those that are not given. What is wrong with an argument is an error at it.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "frontend/FoldingBuilder.h"
#include "frontend/dsl/Datum.h"
#include "frontend/dsl/Source.h"

#include <functional>

namespace colrow::dsl {

/// What operations need from the model they are in.
struct OpContext {
  FoldingBuilder &b;
  /// Throws SourceError with the calls around.
  std::function<void(llvm::SMRange, const std::string &)> fail;
  /// The program's argument [seed, step, microbatch, active].
  std::function<mlir::Value()> random;
  /// A name in the model for something the operation is or has: `h.0.attn.dropout`.
  std::function<std::string(llvm::StringRef)> nameOf;
  /// The transpose of a matrix, which `linear` reads.
  std::function<mlir::Value(mlir::Value)> transposed;
  /// What a tensor is called, for errors.
  std::function<std::string(mlir::Value)> sourceOf;
};

class OpCall {
public:
  struct Given {
    Datum value;
    llvm::SMRange range;
  };

  OpCall(OpContext &context, llvm::StringRef op, llvm::SMRange range)
      : b(context.b), op(op), range(range), context(context) {}

  FoldingBuilder &b;
  const llvm::StringRef op;
  const llvm::SMRange range;
  std::vector<std::pair<std::string, Given>> arguments; ///< all of the signature

  bool has(llvm::StringRef name) const { return !given(name).value.isNone(); }
  /// A number counts as a tensor beside one: scalar() of the type of `like`.
  mlir::Value tensor(llvm::StringRef name) const;
  mlir::Value tensorLike(llvm::StringRef name, mlir::Value like) const;
  /// Of floating type.
  mlir::Value floats(llvm::StringRef name) const;
  std::vector<mlir::Value> tensors(llvm::StringRef name) const;
  int64_t integer(llvm::StringRef name) const;
  double number(llvm::StringRef name) const;
  bool truth(llvm::StringRef name) const;
  std::string text(llvm::StringRef name) const;
  llvm::SmallVector<int64_t> integers(llvm::StringRef name) const;
  /// The axis counted from 0.
  int64_t axis(llvm::StringRef name, int64_t rank) const;
  /// One axis or several.
  llvm::SmallVector<int64_t> axes(llvm::StringRef name, int64_t rank) const;
  const Given &given(llvm::StringRef name) const;

  mlir::Value random() const { return context.random(); }
  std::string nameOf(llvm::StringRef what) const { return context.nameOf(what); }
  mlir::Value transposed(mlir::Value weight) const { return context.transposed(weight); }
  std::string sourceOf(llvm::StringRef name) const { return context.sourceOf(tensor(name)); }

  [[noreturn]] void fail(const llvm::Twine &message) const;
  [[noreturn]] void fail(llvm::StringRef argument, const llvm::Twine &message) const;

private:
  [[noreturn]] void expects(llvm::StringRef argument, const llvm::Twine &what) const;
  OpContext &context;
};

/// An operation of the language.
struct Op {
  llvm::StringLiteral name;
  llvm::StringLiteral signature; ///< `x, dim=-1`
  Datum (*build)(OpCall &call);
  llvm::StringLiteral text; ///< for the table
};

// The operations, a family a file.
llvm::ArrayRef<Op> mathOps();  // OpsMath.cpp
llvm::ArrayRef<Op> nnOps();    // OpsNN.cpp
llvm::ArrayRef<Op> shapeOps(); // OpsShape.cpp

/// All of them by name.
const std::vector<const Op *> &allOps();
/// Null where there is none.
const Op *findOp(llvm::StringRef name);

/// One argument of a signature.
struct Formal {
  std::string name;
  std::string otherwise; ///< empty: it has to be given
};
std::vector<Formal> formals(llvm::StringRef signature);

/// What a default is worth: `none`, `true`, `-1`, `1e-5`, `"none"`.
Datum defaultOf(const Formal &formal);

/// The operators between two tensors (or a tensor and a number), and before one.
mlir::Value buildBinary(OpCall &call, llvm::StringRef op);
mlir::Value buildUnary(OpCall &call, llvm::StringRef op);

inline Datum datumOf(mlir::Value value) { return {value}; }
inline Datum datumOf(llvm::ArrayRef<mlir::Value> values) {
  List list;
  for (mlir::Value value : values)
    list.push_back({value});
  return {list};
}

} // namespace colrow::dsl
