//===- GradientsNN.cpp - gradients of big operations ----------------------===//
//
// Each is one big operation again. Where that needs something the forward pass computes anyway
// (statistics of rows, the gradients of the loss), the forward operation gives way to a form that
// yields it.
//
//===----------------------------------------------------------------------===//

#include "dialect/Expressions.h"

using namespace mlir;

namespace colrow {

//===----------------------------------------------------------------------===//
// Activations, softmax, norms
//===----------------------------------------------------------------------===//

LogicalResult GeluOp::buildGradient(OpBuilderWithLayouts &b, ValueRange resultGradients,
                                    ArrayRef<bool>, SmallVectorImpl<Value> &operandGradients) {
  operandGradients[0] = b.create<GeluGradOp>(getForm(), resultGradients[0], getInput());
  return success();
}

LogicalResult SiluOp::buildGradient(OpBuilderWithLayouts &b, ValueRange resultGradients,
                                    ArrayRef<bool>, SmallVectorImpl<Value> &operandGradients) {
  operandGradients[0] = b.create<SiluGradOp>(resultGradients[0], getInput());
  return success();
}

LogicalResult SoftmaxOp::buildGradient(OpBuilderWithLayouts &b, ValueRange resultGradients,
                                       ArrayRef<bool>, SmallVectorImpl<Value> &operandGradients) {
  operandGradients[0] = b.create<SoftmaxGradOp>(resultGradients[0], getResult(), getAxis());
  return success();
}

LogicalResult LayerNormOp::buildGradient(OpBuilderWithLayouts &b, ValueRange resultGradients,
                                         ArrayRef<bool> needed,
                                         SmallVectorImpl<Value> &operandGradients) {
  auto saving = b.createBefore<LayerNormWithStatisticsOp>(*this, getInput(), getScale(), getBias(),
                                                          getAxis(), getEpsilon());
  getResult().replaceAllUsesWith(saving.getResult());
  auto gradient =
      b.create<LayerNormGradOp>(resultGradients[0], getInput(), saving.getMean(),
                                saving.getRstd(), getScale(), getAxis());
  unsigned bias = getScale() ? 2 : 1;
  if (needed[0])
    operandGradients[0] = gradient.getInputGradient();
  if (getScale() && needed[1])
    operandGradients[1] = gradient.getScaleGradient();
  if (getBias() && needed[bias])
    operandGradients[bias] = gradient.getBiasGradient();
  return success();
}

LogicalResult RmsNormOp::buildGradient(OpBuilderWithLayouts &b, ValueRange resultGradients,
                                       ArrayRef<bool> needed,
                                       SmallVectorImpl<Value> &operandGradients) {
  auto saving = b.createBefore<RmsNormWithStatisticsOp>(*this, getInput(), getScale(), getAxis(),
                                                        getEpsilon());
  getResult().replaceAllUsesWith(saving.getResult());
  auto gradient = b.create<RmsNormGradOp>(resultGradients[0], getInput(), saving.getRstd(),
                                          getScale(), getAxis());
  for (unsigned i = 0; i < getNumOperands(); ++i)
    if (needed[i])
      operandGradients[i] = gradient->getResult(i);
  return success();
}

//===----------------------------------------------------------------------===//
// Loss
//===----------------------------------------------------------------------===//

/// The count is data: a parameter in its place is a mistake in the graph.
static LogicalResult checkCount(Operation *op, bool needed) {
  return needed ? op->emitOpError("has no gradient with respect to the count of labels")
                : LogicalResult(success());
}

LogicalResult CrossEntropyOp::buildGradient(OpBuilderWithLayouts &b, ValueRange resultGradients,
                                            ArrayRef<bool> needed,
                                            SmallVectorImpl<Value> &operandGradients) {
  if (failed(checkCount(*this, needed[2])))
    return failure();
  auto saving = b.createBefore<CrossEntropyWithStatisticsOp>(
      *this, getLogits(), getLabels(), getCount(), getIgnore(), getValid(), TypeAttr(),
      getLabelSmoothingAttr(), getZLossAttr());
  getResult().replaceAllUsesWith(saving.getResult());
  Type type = getLogits().getType();
  operandGradients[0] = b.create<CrossEntropyGradOp>(
      b.beside(resultGradients[0], type), getLogits(), getLabels(), getCount(),
      b.beside(saving.getLogSumExp(), type), getIgnore(), getValid(), TypeAttr(),
      getLabelSmoothingAttr(), getZLossAttr());
  return success();
}

/// Whether the value is the constant 1, as the gradient of a loss by itself is.
static bool isOne(Value value) {
  while (auto f = value.getDefiningOp<FOp>())
    value = f.getInput();
  auto constant = value.getDefiningOp<ConstantOp>();
  auto splat = constant ? dyn_cast<SplatElementsAttr>(constant.getValue()) : SplatElementsAttr();
  return splat && splat.getSplatValue<APFloat>().isExactlyValue(1.0);
}

LogicalResult LinearCrossEntropyOp::buildGradient(OpBuilderWithLayouts &b,
                                                  ValueRange resultGradients,
                                                  ArrayRef<bool> needed,
                                                  SmallVectorImpl<Value> &operandGradients) {
  if (failed(checkCount(*this, needed[3])))
    return failure();
  auto saving = b.createBefore<LinearCrossEntropyWithGradOp>(
      *this, getInput(), getWeight(), getLabels(), getCount(), getIgnore(), getValid(), TypeAttr(),
      getLabelSmoothingAttr(), getZLossAttr());
  getResult().replaceAllUsesWith(saving.getResult());
  Value dloss = resultGradients[0];
  for (unsigned i : {0, 1}) {
    if (!needed[i])
      continue;
    Value gradient = saving->getResult(1 + i);
    operandGradients[i] =
        isOne(dloss) ? gradient
                     : Value(b.create<MulOp>(gradient, b.beside(dloss, gradient.getType())));
  }
  return success();
}

} // namespace colrow
