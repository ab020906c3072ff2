//===- DecompositionsLoss.cpp - cross entropy in primitive operations -----===//
//
// With a cut vocabulary a token's maximum and sum are reduced over the ranks, each one number. The
// logit of the label exists on one rank only, so that token's loss does too: it is a masked lookup
// in the log probabilities, and of the losses only their sum is reduced. In the backward pass of
// the primitive form one more number a token is (the transpose of the f behind the sum).
//
//===----------------------------------------------------------------------===//

#include "dialect/Expressions.h"

using namespace mlir;

namespace colrow {

using Decomposition = FailureOr<SmallVector<Value>>;

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

namespace {
/// What the operations of LossOps.td have in common.
class Loss {
public:
  template <typename LossOp>
  Loss(OpBuilderWithLayouts &b, LossOp op, Value logits)
      : b(b), type(cast<RankedTensorType>(logits.getType())), e(b, type),
        vocabulary(type.getRank() - 1), valid(op.getValid()),
        smoothing(op.getLabelSmoothing().value_or(APFloat(0.0)).convertToDouble()),
        zLoss(op.getZLoss().value_or(APFloat(0.0)).convertToDouble()),
        logits(maskPadding(logits, /*infinite=*/true)) {
    Value labels = op.getLabels();
    int64_t ignore = op.getIgnore();
    // Ignored labels look up element 0 and are then left out.
    Type element = getElementTypeOrSelf(labels.getType());
    ignored = b.create<CompareOp>(Predicate::eq, labels,
                                  b.scalar(static_cast<double>(ignore), element));
    Value known = b.create<SelectOp>(ignored, b.scalar(0, element), labels);
    indices = b.create<ReshapeOp>(RankedTensorType::get(columnShape(), element), known);
  }

  /// Computes the loss, and logSumExp on the way.
  Value compute(Value count) {
    SmallVector<int64_t> axes{vocabulary};
    // Any shift gives the same loss, so the maximum is a constant for differentiation.
    Value stopped = e.apply<StopGradientOp>(logits);
    Value maximum = whole(b.create<ReduceMaxOp>(stopped, axes, /*keepdims=*/true));
    Value shifted = e.sub(logits, b.beside(maximum, type));
    Value sum = whole(e.sum(e.apply<ExpOp>(shifted), axes, /*keepdims=*/true));
    Value logOfSum = e.apply<LogOp>(sum);
    Value column = b.create<AddOp>(logOfSum, maximum);
    logSumExp = withoutColumn(column);
    Value losses = e.sub(b.beside(logOfSum, type), shifted);

    Value ofLabel = smoothing > 0 ? e.mul(losses, 1 - smoothing) : losses;
    if (zLoss > 0) { // every rank has it; as the label's logit, the rank of the label adds it
      Expressions own(b, column.getType());
      ofLabel = e.add(ofLabel, b.beside(own.mul(own.square(column), zLoss), type));
    }
    Value loss = withoutColumn(b.create<TakeAlongOp>(ofLabel, indices, vocabulary, TypeAttr()));
    if (smoothing > 0) {
      // Of padding the loss is infinite.
      Value all = e.sum(maskPadding(losses, /*infinite=*/false), axes, /*keepdims=*/false);
      loss = e.add(loss, e.mul(all, smoothing / double(valid)));
    }
    loss = b.create<SelectOp>(ignored, zeroBeside(b, loss), loss);
    SmallVector<int64_t> all = llvm::to_vector(llvm::seq<int64_t>(0, vocabulary));
    return whole(e.div(e.sum(loss, all, /*keepdims=*/false), count));
  }

  /// By the logits, with the logSumExp of the forward pass.
  Value gradient(Value dloss, Value count, Value saved) {
    Value column = asColumn(saved);
    Value probability = e.apply<ExpOp>(e.sub(logits, column));
    if (zLoss > 0)
      probability = e.mul(probability, e.add(e.mul(column, 2 * zLoss), 1));
    // 1 at the label: the transpose of looking it up.
    Value ones = b.create<ConstantOp>(column.getType(), onesLike(column.getType()));
    Value atLabel = b.create<TakeAlongGradOp>(type, indices, ones, vocabulary, TypeAttr());
    Value each = e.div(dloss, count);
    Value weight = b.create<SelectOp>(ignored, zeroBeside(b, each), each);
    if (smoothing == 0)
      return e.mul(e.sub(probability, atLabel), asColumn(weight));
    Value expected = e.add(e.mul(atLabel, 1 - smoothing), smoothing / double(valid));
    return maskPadding(e.mul(e.sub(probability, expected), asColumn(weight)), /*infinite=*/false);
  }

  Value withoutColumn(Value value) {
    return b.create<ReshapeOp>(
        RankedTensorType::get(type.getShape().drop_back(), type.getElementType()), value);
  }

  /// Reduced over the ranks that have the other slices of the vocabulary.
  Value whole(Value value) { return reduceOver(b, value, type, vocabulary); }

  OpBuilderWithLayouts &b;
  RankedTensorType type;
  Expressions e;
  int64_t vocabulary, valid; ///< its dimension, and its size without padding
  double smoothing, zLoss;
  Value logits, ignored, indices;
  /// [...], whole on the axes that cut the vocabulary.
  Value logSumExp;

private:
  /// Zeros in the place of what is padding, or infinities that no maximum and no sum of exponentials sees.
  Value maskPadding(Value value, bool infinite) {
    if (valid == type.getDimSize(vocabulary))
      return value;
    return b.create<MaskPaddingOp>(value, vocabulary, valid,
                                   infinite ? APFloat::getInf(APFloat::IEEEdouble(),
                                                              /*Negative=*/true)
                                            : APFloat(0.0),
                                   TypeAttr());
  }
  SmallVector<int64_t> columnShape() {
    SmallVector<int64_t> shape(type.getShape());
    shape.back() = 1;
    return shape;
  }
  Value asColumn(Value value) {
    return b.create<ReshapeOp>(RankedTensorType::get(columnShape(), type.getElementType()), value);
  }
  ElementsAttr onesLike(Type like) {
    auto plain = withLayout(like, {});
    return DenseElementsAttr::get(plain, b.getFloatAttr(plain.getElementType(), 1));
  }
};

/// The logits of the product of an input [..., hidden] and a weight [vocabulary, hidden].
class LogitProduct {
public:
  explicit LogitProduct(Value input)
      : tokens(StringRef("abcdefg").take_front(
            cast<RankedTensorType>(input.getType()).getRank() - 1)) {}

  Value logits(OpBuilderWithLayouts &b, Value input, Value weight) {
    return b.create<EinsumOp>(tokens + "h,vh->" + tokens + "v", input, weight);
  }
  Value inputGradient(OpBuilderWithLayouts &b, Value dlogits, Value weight) {
    return b.create<EinsumOp>(tokens + "v,vh->" + tokens + "h", dlogits, weight);
  }
  Value weightGradient(OpBuilderWithLayouts &b, Value dlogits, Value input) {
    return b.create<EinsumOp>(tokens + "v," + tokens + "h->vh", dlogits, input);
  }

private:
  std::string tokens;
};
} // namespace

Decomposition CrossEntropyOp::decompose(OpBuilderWithLayouts &b) {
  Loss loss(b, *this, getLogits());
  return SmallVector<Value>{loss.compute(getCount())};
}

Decomposition CrossEntropyWithStatisticsOp::decompose(OpBuilderWithLayouts &b) {
  Loss loss(b, *this, getLogits());
  Value result = loss.compute(getCount());
  return SmallVector<Value>{result, loss.logSumExp};
}

Decomposition CrossEntropyGradOp::decompose(OpBuilderWithLayouts &b) {
  Loss loss(b, *this, getLogits());
  return SmallVector<Value>{loss.gradient(getGradient(), getCount(), getLogSumExp())};
}

Decomposition LinearCrossEntropyOp::decompose(OpBuilderWithLayouts &b) {
  Value logits = LogitProduct(getInput()).logits(b, getInput(), getWeight());
  Value loss = b.create<CrossEntropyOp>(logits, getLabels(), getCount(), getIgnore(), getValid(),
                                        TypeAttr(), getLabelSmoothingAttr(), getZLossAttr());
  return SmallVector<Value>{loss};
}

Decomposition LinearCrossEntropyWithGradOp::decompose(OpBuilderWithLayouts &b) {
  LogitProduct product(getInput());
  Value logits = product.logits(b, getInput(), getWeight());
  auto loss = b.create<CrossEntropyWithStatisticsOp>(logits, getLabels(), getCount(), getIgnore(),
                                                     getValid(), TypeAttr(),
                                                     getLabelSmoothingAttr(), getZLossAttr());
  Value one = b.scalar(1, getElementTypeOrSelf(logits.getType()), logits.getType());
  Value dlogits = b.create<CrossEntropyGradOp>(
      one, logits, getLabels(), getCount(), b.beside(loss.getLogSumExp(), logits.getType()),
      getIgnore(), getValid(), TypeAttr(), getLabelSmoothingAttr(), getZLossAttr());
  return SmallVector<Value>{loss.getResult(), product.inputGradient(b, dlogits, getWeight()),
                            product.weightGradient(b, dlogits, getInput())};
}

} // namespace colrow
