//===- DecompositionsNN.cpp - big operations in primitive ones ------------===//
//
// These define what the big operations mean; kernels are tested against them.
//
//===----------------------------------------------------------------------===//

#include "dialect/Expressions.h"

using namespace mlir;

namespace colrow {

using Decomposition = FailureOr<SmallVector<Value>>;

//===----------------------------------------------------------------------===//
// Activations
//===----------------------------------------------------------------------===//

Decomposition GeluOp::decompose(OpBuilderWithLayouts &b) {
  Value x = getInput();
  Expressions e(b, x.getType());
  Value curve;
  if (getForm() == GeluForm::erf) {
    curve = e.apply<ErfOp>(e.mul(x, std::sqrt(0.5)));
  } else {
    Value cubic = e.add(x, e.mul(e.mul(e.square(x), x), 0.044715));
    curve = e.apply<TanhOp>(e.mul(cubic, std::sqrt(2 / M_PI)));
  }
  return SmallVector<Value>{e.mul(e.mul(x, 0.5), e.add(curve, 1))};
}

Decomposition SiluOp::decompose(OpBuilderWithLayouts &b) {
  Expressions e(b, getInput().getType());
  return SmallVector<Value>{e.mul(getInput(), e.apply<SigmoidOp>(getInput()))};
}

//===----------------------------------------------------------------------===//
// Softmax and norms
//===----------------------------------------------------------------------===//

Decomposition SoftmaxOp::decompose(OpBuilderWithLayouts &b) {
  Value x = getInput();
  Expressions e(b, x.getType());
  SmallVector<int64_t> axes{static_cast<int64_t>(getAxis())};
  // Any shift gives the same result, so the maximum is a constant for differentiation.
  Value maximum = b.create<ReduceMaxOp>(e.apply<StopGradientOp>(x), axes, /*keepdims=*/true);
  Value exp = e.apply<ExpOp>(e.sub(x, maximum));
  return SmallVector<Value>{e.div(exp, e.sum(exp, axes, /*keepdims=*/true))};
}

Decomposition LayerNormOp::decompose(OpBuilderWithLayouts &b) {
  Value x = getInput();
  Expressions e(b, x.getType());
  SmallVector<int64_t> axes = llvm::to_vector(llvm::seq<int64_t>(getAxis(), getType().getRank()));
  double count = 1;
  for (int64_t axis : axes)
    count *= getType().getDimSize(axis);
  auto mean = [&](Value value) { return e.div(e.sum(value, axes, /*keepdims=*/true), count); };
  Value centred = e.sub(x, mean(x));
  Value variance = mean(e.square(centred));
  Value deviation = e.apply<SqrtOp>(e.add(variance, getEpsilon().convertToDouble()));
  Value result = e.div(centred, deviation);
  if (getScale())
    result = e.mul(result, getScale());
  if (getBias())
    result = e.add(result, getBias());
  return SmallVector<Value>{result};
}

//===----------------------------------------------------------------------===//
// Loss
//===----------------------------------------------------------------------===//

/// g on the axes where the value is a sum or a maximum over the cut dimension `dim` of `like`, so
/// that it is whole again.
static Value reduceOver(OpBuilderWithLayouts &b, Value value, Type like, int64_t dim) {
  SmallVector<Attribute> axes;
  Type type = value.getType();
  if (LayoutAttr layout = getLayout(like))
    for (const AxisState &state : layout.getStates())
      if (state.isShard() && state.dim == dim) {
        axes.push_back(state.axis);
        type = withState(type, AxisState::invariant(state.axis));
      }
  if (axes.empty())
    return value;
  return b.create<GOp>(type, value, b.getArrayAttr(axes));
}

// With a cut vocabulary two numbers a token are reduced (maximum and sum), and in the backward pass
// one more (the transpose of the f behind the sum). The logit of the label exists on one rank only,
// so that token's loss does too: a masked lookup in the log probabilities, and only the loss itself
// is summed over the ranks.
Decomposition CrossEntropyOp::decompose(OpBuilderWithLayouts &b) {
  RankedTensorType type = getLogits().getType();
  Expressions e(b, type);
  int64_t vocabulary = type.getRank() - 1;
  SmallVector<int64_t> axes{vocabulary};
  Value logits = getLogits();
  if (static_cast<int64_t>(getValid()) < type.getDimSize(vocabulary))
    logits = b.create<MaskPaddingOp>(logits, vocabulary, getValid(),
                                     APFloat::getInf(APFloat::IEEEdouble(), /*Negative=*/true),
                                     TypeAttr());

  Value maximum = b.create<ReduceMaxOp>(e.apply<StopGradientOp>(logits), axes, /*keepdims=*/true);
  maximum = b.beside(reduceOver(b, maximum, type, vocabulary), type);
  Value shifted = e.sub(logits, maximum);
  Value sum = e.sum(e.apply<ExpOp>(shifted), axes, /*keepdims=*/true);
  sum = b.beside(reduceOver(b, sum, type, vocabulary), type);
  Value losses = e.sub(e.apply<LogOp>(sum), shifted);

  // Ignored labels look up element 0 and are then left out.
  Value labels = getLabels();
  Type labelElement = getElementTypeOrSelf(labels.getType());
  Value ignored = b.create<CompareOp>(Predicate::eq, labels,
                                      b.scalar(static_cast<int64_t>(getIgnore()), labelElement));
  Value known = b.create<SelectOp>(ignored, b.scalar(0, labelElement), labels);
  SmallVector<int64_t> shape(getLabels().getType().getShape());
  shape.push_back(1);
  Value indices = b.create<ReshapeOp>(RankedTensorType::get(shape, labelElement), known);
  Value loss = b.create<TakeAlongOp>(losses, indices, vocabulary, TypeAttr());
  shape.pop_back();
  loss = b.create<ReshapeOp>(RankedTensorType::get(shape, type.getElementType()), loss);
  loss = b.create<SelectOp>(ignored, zeroBeside(b, loss), loss);

  SmallVector<int64_t> all = llvm::to_vector(llvm::seq<int64_t>(0, shape.size()));
  Value mean = e.div(e.sum(loss, all, /*keepdims=*/false), getCount());
  return SmallVector<Value>{reduceOver(b, mean, type, vocabulary)};
}

} // namespace colrow
