//===- FoldingBuilder.h - builds operations, and runs those it can --------===//
//
// The importer writes every ONNX operator as a few operations of the dialect. An operation whose
// operands are all known is run at once by the reference interpreter instead of being added to the
// program: that one rule folds shape arithmetic, masks, positions and rotary tables, with no
// folder for any operation.
//
// A known value is a Value like any other, an argument of a scratch block with a tensor beside it.
// Only when an unknown value needs it does it become a colrow.constant. Worked example, a causal
// mask of sequence 1024 for 8 rows and 12 heads:
//
//   Range, Unsqueeze, LessOrEqual      1024x1024 booleans, known
//   Expand to 8x1x1024x1024            the same storage, stride 0 along the batch
//   Where(mask, 0, -3.4e38)            run on 1x1x1024x1024, stride 0 along the batch
//   Add(scores, mask)                  constant of 1x1x1024x1024, which add broadcasts
//
//===----------------------------------------------------------------------===//
#pragma once

#include "dialect/Colrow.h"
#include "runtime/reference/Tensor.h"
#include "llvm/ADT/MapVector.h"

namespace colrow {

class FoldingBuilder {
public:
  using Shape = llvm::ArrayRef<int64_t>;
  using Attributes = llvm::ArrayRef<mlir::NamedAttribute>;

  /// Constants of more bytes than this are an error where they vary everywhere.
  static constexpr int64_t largestConstant = int64_t(64) << 20;

  /// Operations go to the end of `body`.
  FoldingBuilder(mlir::MLIRContext *context, mlir::Block *body);

  mlir::MLIRContext *getContext() const { return context; }
  void setLocation(mlir::Location newLocation) { location = newLocation; }
  mlir::Location getLocation() const { return location; }

  /// An operation with one result, of the type it infers or of `result`. Throws Error (without
  /// node or file) where shapes or types do not fit.
  template <typename OpTy>
  mlir::Value create(mlir::ValueRange operands, Attributes attributes = {},
                     mlir::Type result = {}) {
    return build(OpTy::getOperationName(), operands, attributes, result);
  }

  /// The value of a known Value, else null.
  const reference::Tensor *known(mlir::Value value) const;
  /// A known value.
  mlir::Value constant(reference::Tensor tensor);
  mlir::Value integers(Shape values);
  /// A known scalar of this element type.
  mlir::Value scalar(double value, mlir::Type element);
  mlir::Value scalarLike(double value, mlir::Value like);
  /// The value as part of the program.
  mlir::Value materialize(mlir::Value value);

  // Short forms.
  mlir::Value add(mlir::Value a, mlir::Value b) { return create<AddOp>({a, b}); }
  mlir::Value sub(mlir::Value a, mlir::Value b) { return create<SubOp>({a, b}); }
  mlir::Value mul(mlir::Value a, mlir::Value b) { return create<MulOp>({a, b}); }
  mlir::Value div(mlir::Value a, mlir::Value b) { return create<DivOp>({a, b}); }
  mlir::Value add(mlir::Value a, double b) { return add(a, scalarLike(b, a)); }
  mlir::Value mul(mlir::Value a, double b) { return mul(a, scalarLike(b, a)); }
  mlir::Value div(mlir::Value a, double b) { return div(a, scalarLike(b, a)); }
  mlir::Value compare(Predicate predicate, mlir::Value a, mlir::Value b);
  mlir::Value compare(Predicate predicate, mlir::Value a, double b);
  mlir::Value select(mlir::Value condition, mlir::Value a, mlir::Value b);
  mlir::Value cast(mlir::Value x, mlir::Type element);
  mlir::Value reshape(mlir::Value x, Shape shape);
  mlir::Value transpose(mlir::Value x, Shape permutation);
  mlir::Value broadcast(mlir::Value x, Shape shape);
  mlir::Value slice(mlir::Value x, int64_t axis, int64_t start, int64_t limit);
  mlir::Value concat(mlir::ValueRange parts, int64_t axis);
  mlir::Value take(mlir::Value table, mlir::Value ids, int64_t axis);
  mlir::Value einsum(llvm::StringRef equation, mlir::Value a, mlir::Value b);
  template <typename OpTy> mlir::Value reduce(mlir::Value x, Shape axes, bool keepdims) {
    if (axes.empty())
      return x;
    llvm::SmallVector<mlir::NamedAttribute> attributes{dims("axes", axes)};
    if (keepdims)
      attributes.push_back(unit("keepdims"));
    return create<OpTy>({x}, attributes);
  }
  /// Each element's index along a dimension.
  mlir::Value iota(Shape shape, int64_t dimension, mlir::Type element);
  /// 0, 1, ... of int64.
  mlir::Value indices(int64_t count);

  // Attributes.
  mlir::NamedAttribute attr(llvm::StringRef name, mlir::Attribute value);
  mlir::NamedAttribute dims(llvm::StringRef name, Shape values);
  mlir::NamedAttribute integer(llvm::StringRef name, int64_t value);
  mlir::NamedAttribute number(llvm::StringRef name, double value);
  mlir::NamedAttribute unit(llvm::StringRef name);

  /// Forgets known values made since the last call, but for `kept`.
  void forgetTemporaries(mlir::ValueRange kept);
  void forget(mlir::Value value);

private:
  mlir::Value build(llvm::StringRef name, mlir::ValueRange operands, Attributes attributes,
                    mlir::Type result);
  mlir::Operation *createOp(llvm::StringRef name, mlir::ValueRange operands, Attributes attributes,
                            mlir::Type result);
  void dropBroadcasts(mlir::Operation *op);
  mlir::Value emitConstant(mlir::DenseElementsAttr attribute, mlir::Type element);

  mlir::MLIRContext *context;
  mlir::OpBuilder builder;
  mlir::Location location;
  mlir::Block scratch; // its arguments stand for known values
  llvm::DenseMap<mlir::Value, reference::Tensor> tensors;
  llvm::SmallVector<mlir::Value> temporaries;
  /// In the program, by value and element type.
  llvm::DenseMap<std::pair<mlir::Attribute, mlir::Type>, mlir::Value> constants;
};

/// The tensor with every dimension along which its elements only repeat cut to size 1.
reference::Tensor withoutRepetition(const reference::Tensor &tensor);

inline mlir::RankedTensorType typeOf(mlir::Value value) {
  return llvm::cast<mlir::RankedTensorType>(value.getType());
}
inline llvm::SmallVector<int64_t> shapeOf(mlir::Value value) {
  return llvm::to_vector(typeOf(value).getShape());
}
inline int64_t rankOf(mlir::Value value) { return typeOf(value).getRank(); }
inline mlir::Type elementOf(mlir::Value value) { return typeOf(value).getElementType(); }

} // namespace colrow
