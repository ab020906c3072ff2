//===- GradientsShape.cpp - gradients of what moves and masks elements ----===//
//
// All of these are linear, so each gradient is the transpose: reshape and reshape back, slice and
// pad, take and take_grad.
//
//===----------------------------------------------------------------------===//

#include "dialect/Expressions.h"

using namespace mlir;

namespace colrow {

LogicalResult ReshapeOp::buildGradient(OpBuilderWithLayouts &b, ValueRange resultGradients,
                                       ArrayRef<bool>,
                                       SmallVectorImpl<Value> &operandGradients) {
  operandGradients[0] =
      b.create<ReshapeOp>(withLayout(getInput().getType(), {}), resultGradients[0]);
  return success();
}

LogicalResult TransposeOp::buildGradient(OpBuilderWithLayouts &b, ValueRange resultGradients,
                                         ArrayRef<bool>,
                                         SmallVectorImpl<Value> &operandGradients) {
  SmallVector<int64_t> inverse(getPermutation().size());
  for (auto [to, from] : llvm::enumerate(getPermutation()))
    inverse[from] = to;
  operandGradients[0] = b.create<TransposeOp>(resultGradients[0], inverse);
  return success();
}

LogicalResult BroadcastOp::buildGradient(OpBuilderWithLayouts &b, ValueRange resultGradients,
                                         ArrayRef<bool>,
                                         SmallVectorImpl<Value> &operandGradients) {
  operandGradients[0] = sumToShape(b, resultGradients[0], getInput().getType().getShape());
  return success();
}

//===----------------------------------------------------------------------===//
// Slice, pad, concat
//===----------------------------------------------------------------------===//

LogicalResult SliceOp::buildGradient(OpBuilderWithLayouts &b, ValueRange resultGradients,
                                     ArrayRef<bool>, SmallVectorImpl<Value> &operandGradients) {
  RankedTensorType input = getInput().getType();
  SmallVector<int64_t> high;
  for (int64_t dim = 0; dim < input.getRank(); ++dim) {
    int64_t taken = getType().getDimSize(dim);
    int64_t covered = taken == 0 ? 0 : (taken - 1) * getSteps()[dim] + 1;
    high.push_back(input.getDimSize(dim) - getStarts()[dim] - covered);
  }
  operandGradients[0] = b.create<PadOp>(resultGradients[0], getStarts(), high, getSteps(),
                                        APFloat(0.0));
  return success();
}

LogicalResult PadOp::buildGradient(OpBuilderWithLayouts &b, ValueRange resultGradients,
                                   ArrayRef<bool>, SmallVectorImpl<Value> &operandGradients) {
  SmallVector<int64_t> limits;
  for (auto [size, low, step] : llvm::zip(getInput().getType().getShape(), getLow(), getSteps()))
    limits.push_back(size == 0 ? low : low + (size - 1) * step + 1);
  operandGradients[0] = b.create<SliceOp>(resultGradients[0], getLow(), limits, getSteps());
  return success();
}

LogicalResult ConcatOp::buildGradient(OpBuilderWithLayouts &b, ValueRange resultGradients,
                                      ArrayRef<bool> needed,
                                      SmallVectorImpl<Value> &operandGradients) {
  int64_t along = getDimension();
  SmallVector<int64_t> starts(getType().getRank(), 0), limits(getType().getShape()),
      steps(getType().getRank(), 1);
  for (auto [i, input] : llvm::enumerate(getInputs())) {
    limits[along] = starts[along] + cast<RankedTensorType>(input.getType()).getDimSize(along);
    if (needed[i])
      operandGradients[i] = b.create<SliceOp>(resultGradients[0], starts, limits, steps);
    starts[along] = limits[along];
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Lookups and masks
//===----------------------------------------------------------------------===//

LogicalResult TakeOp::buildGradient(OpBuilderWithLayouts &b, ValueRange resultGradients,
                                    ArrayRef<bool>, SmallVectorImpl<Value> &operandGradients) {
  operandGradients[0] = b.create<TakeGradOp>(gradientType(getTable().getType()), getIds(),
                                             resultGradients[0], getAxis(), TypeAttr());
  return success();
}

LogicalResult TakeAlongOp::buildGradient(OpBuilderWithLayouts &b, ValueRange resultGradients,
                                         ArrayRef<bool>,
                                         SmallVectorImpl<Value> &operandGradients) {
  operandGradients[0] = b.create<TakeAlongGradOp>(gradientType(getInput().getType()),
                                                  getIndices(), resultGradients[0], getAxis(),
                                                  TypeAttr());
  return success();
}

LogicalResult MaskPaddingOp::buildGradient(OpBuilderWithLayouts &b, ValueRange resultGradients,
                                           ArrayRef<bool>,
                                           SmallVectorImpl<Value> &operandGradients) {
  operandGradients[0] = b.create<MaskPaddingOp>(resultGradients[0], getDimension(), getValid(),
                                                APFloat(0.0), TypeAttr());
  return success();
}

LogicalResult DropoutOp::buildGradient(OpBuilderWithLayouts &b, ValueRange resultGradients,
                                       ArrayRef<bool>, SmallVectorImpl<Value> &operandGradients) {
  operandGradients[0] = b.create<DropoutOp>(resultGradients[0], getRandom(), getRate(), getId(),
                                            TypeAttr());
  return success();
}

SmallVector<Value> DropoutOp::evaluationForm(OpBuilderWithLayouts &) { return {getInput()}; }

} // namespace colrow
