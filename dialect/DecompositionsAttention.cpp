//===- DecompositionsAttention.cpp - attention in primitive operations ----===//
//
// With P the probabilities, M the dropout mask (0 or 1 / (1 - rate)), and dO the gradient of the
// result:
//
//   dV = (P M)' dO      dP = (dO V') M      dS = P (dP - rowsum(P dP))
//   dQ = dS K scale     dK = dS' Q scale
//
// dS is the gradient of the mask, summed over what the mask repeats. Scores c tanh(x / c) with a
// cap c have the slope 1 - tanh(x / c)^2, which then is a factor of dQ and dK.
//
//===----------------------------------------------------------------------===//

#include "dialect/Expressions.h"

using namespace mlir;

namespace colrow {

using Decomposition = FailureOr<SmallVector<Value>>;

namespace {
/// The formulas of attention. Where heads share a head of key and value, products have a dimension
/// for each: k counts groups, g the heads of one.
template <typename OpTy> class AttentionMath {
public:
  AttentionMath(OpBuilderWithLayouts &b, OpTy op)
      : b(b), op(op), e(b, op.getQuery().getType()), query(shapeOf(op.getQuery())),
        groups(shapeOf(op.getKey())[1]), keys(shapeOf(op.getKey())[2]),
        grouped(groups != query[1]) {}

  /// What softmax takes, [b, h, s, t].
  Value scores() {
    Value product = headwise(b.create<EinsumOp>(grouped ? "bkgsd,bktd->bkgst" : "bksd,bktd->bkst",
                                                inGroups(op.getQuery()), op.getKey()));
    Value scores = e.mul(product, op.getScale().convertToDouble());
    if (op.getCap()) {
      double cap = op.getCap()->convertToDouble();
      bounded = e.apply<TanhOp>(e.div(scores, cap));
      scores = e.mul(bounded, cap);
    }
    if (op.getMask())
      scores = e.add(scores, op.getMask());
    if (op.getCausal())
      scores = b.create<SelectOp>(visible(scores), scores,
                                  e.number(-std::numeric_limits<double>::infinity()));
    return scores;
  }

  /// Of probabilities, or of their gradient.
  Value dropped(Value value) {
    if (!op.getRandom())
      return value;
    return b.create<DropoutOp>(value, op.getRandom(), op.getRateAttr(), op.getIdAttr(),
                               TypeAttr());
  }

  Value result(Value probabilities) {
    return headwise(b.create<EinsumOp>(grouped ? "bkgst,bkte->bkgse" : "bkst,bkte->bkse",
                                       inGroups(dropped(probabilities)), op.getValue()));
  }

  Value asColumn(Value statistic) {
    return b.create<ReshapeOp>(
        RankedTensorType::get({query[0], query[1], query[2], 1}, elementOf(statistic)), statistic);
  }
  Value asStatistic(Value column) {
    return b.create<ReshapeOp>(
        RankedTensorType::get({query[0], query[1], query[2]}, elementOf(column)), column);
  }

  /// A tensor with heads in dimension 1 as one with groups and their heads.
  Value inGroups(Value value) {
    if (!grouped)
      return value;
    ArrayRef<int64_t> from = shapeOf(value);
    return b.create<ReshapeOp>(RankedTensorType::get({from[0], groups, from[1] / groups, from[2],
                                                      from[3]}, elementOf(value)),
                               value);
  }
  Value headwise(Value value) {
    if (!grouped)
      return value;
    ArrayRef<int64_t> from = shapeOf(value);
    return b.create<ReshapeOp>(
        RankedTensorType::get({from[0], from[1] * from[2], from[3], from[4]}, elementOf(value)),
        value);
  }

  static ArrayRef<int64_t> shapeOf(Value value) {
    return cast<RankedTensorType>(value.getType()).getShape();
  }
  static Type elementOf(Value value) { return getElementTypeOrSelf(value.getType()); }

  OpBuilderWithLayouts &b;
  OpTy op;
  Expressions e;
  ArrayRef<int64_t> query;
  int64_t groups, keys;
  bool grouped;
  Value bounded; ///< tanh(x / cap) of the last scores(), where there is a cap

private:
  /// [s, t]: which keys a query sees. Cut as the scores are.
  Value visible(Value scores) {
    auto rowType = RankedTensorType::get({query[2], 1}, b.getI64Type());
    SmallVector<AxisState> states;
    if (LayoutAttr layout = getLayout(scores.getType()))
      for (AxisState state : layout.getStates())
        if (state.isShard() && state.dim == 2) {
          state.dim = 0;
          states.push_back(state);
        }
    Value row = b.create<IotaOp>(withLayout(rowType, LayoutAttr::get(b.getContext(), states)), 0,
                                 TypeAttr());
    Value column = b.create<IotaOp>(RankedTensorType::get({keys}, b.getI64Type()), 0, TypeAttr());
    auto offset = static_cast<double>(op.getCausalAttr().getInt());
    Value last = b.create<AddOp>(row, b.scalar(offset, b.getI64Type()));
    return b.create<CompareOp>(Predicate::le, column, last);
  }
};

template <typename OpTy> AttentionMath(OpBuilderWithLayouts &, OpTy) -> AttentionMath<OpTy>;
} // namespace

Decomposition AttentionOp::decompose(OpBuilderWithLayouts &b) {
  AttentionMath math(b, *this);
  return SmallVector<Value>{math.result(b.create<SoftmaxOp>(math.scores(), 3))};
}

Decomposition AttentionWithStatisticsOp::decompose(OpBuilderWithLayouts &b) {
  AttentionMath math(b, *this);
  Expressions &e = math.e;
  Value scores = math.scores();
  // Any shift gives the same results, so the maximum is a constant for differentiation.
  Value maximum = b.create<ReduceMaxOp>(e.apply<StopGradientOp>(scores), ArrayRef<int64_t>{3},
                                        /*keepdims=*/true);
  Value exp = e.apply<ExpOp>(e.sub(scores, maximum));
  Value sum = e.sum(exp, {3}, /*keepdims=*/true);
  Value result = math.result(e.div(exp, sum));
  return SmallVector<Value>{result, math.asStatistic(e.add(maximum, e.apply<LogOp>(sum)))};
}

Decomposition AttentionGradOp::decompose(OpBuilderWithLayouts &b) {
  AttentionMath math(b, *this);
  Expressions &e = math.e;
  Value unnormalised = e.apply<ExpOp>(e.sub(math.scores(), math.asColumn(getLogSumExp())));
  // Their sum is 1, but where a mask hides all keys behind a large finite number: there the
  // logarithm of the sum was lost in that number.
  Value probabilities = e.div(unnormalised, e.sum(unnormalised, {3}, /*keepdims=*/true));

  Value gradient = math.inGroups(getGradient());
  Value dvalue = b.create<EinsumOp>(math.grouped ? "bkgst,bkgse->bkte" : "bkst,bkse->bkte",
                                    math.inGroups(math.dropped(probabilities)), gradient);
  Value dprobabilities = math.dropped(math.headwise(b.create<EinsumOp>(
      math.grouped ? "bkgse,bkte->bkgst" : "bkse,bkte->bkst", gradient, getValue())));
  Value mean = e.sum(e.mul(probabilities, dprobabilities), {3}, /*keepdims=*/true);
  Value dscores = e.mul(e.sub(dprobabilities, mean), probabilities);
  Value dmask;
  if (getWithMaskGradient())
    dmask = sumToShape(b, dscores, math.shapeOf(getMask()));
  if (getCap())
    dscores = e.mul(dscores, e.sub(1, e.square(math.bounded)));
  dscores = math.inGroups(e.mul(dscores, getScale().convertToDouble()));
  Value dquery = math.headwise(b.create<EinsumOp>(
      math.grouped ? "bkgst,bktd->bkgsd" : "bkst,bktd->bksd", dscores, getKey()));
  Value dkey = b.create<EinsumOp>(math.grouped ? "bkgst,bkgsd->bktd" : "bkst,bksd->bktd", dscores,
                                  math.inGroups(getQuery()));
  SmallVector<Value> results{dquery, dkey, dvalue};
  if (dmask)
    results.push_back(dmask);
  return results;
}

} // namespace colrow
