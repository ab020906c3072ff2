//===- GradientsReduce.cpp - gradients of reductions and products ---------===//

#include "dialect/Expressions.h"

using namespace mlir;

namespace colrow {

//===----------------------------------------------------------------------===//
// Reductions
//===----------------------------------------------------------------------===//

Value keepReducedDims(OpBuilderWithLayouts &b, Value reduced, ArrayRef<int64_t> inputShape,
                      ArrayRef<int64_t> axes) {
  SmallVector<int64_t> shape(inputShape);
  for (int64_t axis : axes)
    shape[axis] = 1;
  auto type = cast<RankedTensorType>(reduced.getType());
  if (type.getShape() == ArrayRef<int64_t>(shape))
    return reduced;
  return b.create<ReshapeOp>(RankedTensorType::get(shape, type.getElementType()), reduced);
}

LogicalResult ReduceSumOp::buildGradient(OpBuilderWithLayouts &b, ValueRange resultGradients,
                                         ArrayRef<bool>,
                                         SmallVectorImpl<Value> &operandGradients) {
  RankedTensorType type = getInput().getType();
  Value kept = keepReducedDims(b, resultGradients[0], type.getShape(), getAxes());
  // Where the input is cut along a reduced dimension the layout asked for decides.
  operandGradients[0] = b.create<BroadcastOp>(gradientType(type), kept);
  return success();
}

/// Of reduce_max and reduce_min: equal ones share the gradient.
static Value shareAmongEqual(OpBuilderWithLayouts &b, Value input, Value result, Value dy,
                             ArrayRef<int64_t> axes) {
  auto type = cast<RankedTensorType>(input.getType());
  Value kept = keepReducedDims(b, result, type.getShape(), axes);
  Value equal = b.create<CompareOp>(Predicate::eq, input, kept);
  auto plain = withLayout(type, {});
  Value weight = b.create<CastOp>(replicatedLike(plain, type), equal);
  Value count = b.create<ReduceSumOp>(weight, axes, /*keepdims=*/true);
  Value share = b.create<DivOp>(keepReducedDims(b, dy, type.getShape(), axes), count);
  return b.create<MulOp>(share, weight);
}

LogicalResult ReduceMaxOp::buildGradient(OpBuilderWithLayouts &b, ValueRange resultGradients,
                                         ArrayRef<bool>,
                                         SmallVectorImpl<Value> &operandGradients) {
  operandGradients[0] =
      shareAmongEqual(b, getInput(), getResult(), resultGradients[0], getAxes());
  return success();
}
LogicalResult ReduceMinOp::buildGradient(OpBuilderWithLayouts &b, ValueRange resultGradients,
                                         ArrayRef<bool>,
                                         SmallVectorImpl<Value> &operandGradients) {
  operandGradients[0] =
      shareAmongEqual(b, getInput(), getResult(), resultGradients[0], getAxes());
  return success();
}

LogicalResult CumSumOp::buildGradient(OpBuilderWithLayouts &b, ValueRange resultGradients,
                                      ArrayRef<bool>,
                                      SmallVectorImpl<Value> &operandGradients) {
  operandGradients[0] =
      b.create<CumSumOp>(resultGradients[0], getAxis(), getExclusive(), !getReverse());
  return success();
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

LogicalResult EinsumOp::buildGradient(OpBuilderWithLayouts &b, ValueRange resultGradients,
                                      ArrayRef<bool> needed,
                                      SmallVectorImpl<Value> &operandGradients) {
  // Every letter is in two of the three tensors, so each follows from the other two.
  StringRef lhs = lhsLetters(), rhs = rhsLetters(), result = resultLetters();
  Value dy = resultGradients[0];
  if (needed[0])
    operandGradients[0] =
        b.create<EinsumOp>((result + "," + rhs + "->" + lhs).str(), dy, getRhs());
  if (needed[1])
    operandGradients[1] =
        b.create<EinsumOp>((lhs + "," + result + "->" + rhs).str(), getLhs(), dy);
  return success();
}

} // namespace colrow
