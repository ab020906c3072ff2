//===- AttentionOps.cpp - shapes and sharding rules of AttentionOps.td ----===//

#include "dialect/Colrow.h"

using namespace mlir;

namespace colrow {

//===----------------------------------------------------------------------===//
// Shapes
//===----------------------------------------------------------------------===//

static RankedTensorType typeOf(Value value) { return cast<RankedTensorType>(value.getType()); }

/// Without layouts, for messages.
static Type plain(Value value) { return withLayout(value.getType(), {}); }

static bool broadcasts(ArrayRef<int64_t> from, ArrayRef<int64_t> to) {
  if (from.size() > to.size())
    return false;
  return llvm::all_of(llvm::zip(from, to.take_back(from.size())), [](auto dim) {
    auto [size, result] = dim;
    return size == 1 || size == result;
  });
}

static SmallVector<int64_t> scoreShape(Value query, Value key) {
  ArrayRef<int64_t> q = typeOf(query).getShape();
  return {q[0], q[1], q[2], typeOf(key).getDimSize(2)};
}

/// Whether the operands that all three operations have fit.
template <typename Adaptor>
static LogicalResult checkOperands(std::optional<Location> location, Adaptor adaptor) {
  Value query = adaptor.getQuery(), key = adaptor.getKey(), value = adaptor.getValue();
  ArrayRef<int64_t> q = typeOf(query).getShape(), k = typeOf(key).getShape(),
                    v = typeOf(value).getShape();
  if (q.size() != 4 || k.size() != 4 || v.size() != 4 || q[0] != k[0] || q[3] != k[3] ||
      k.take_front(3) != v.take_front(3))
    return emitOptionalError(location, "expects query [b, h, s, d], key [b, hk, t, d] and value "
                             "[b, hk, t, e], got: ", plain(query), ", ", plain(key), " and ",
                             plain(value));
  if (k[1] == 0 || q[1] % k[1] != 0)
    return emitOptionalError(location, "expects kv heads to divide query heads, got: ", k[1],
                             " and ", q[1]);
  Value mask = adaptor.getMask();
  if (mask && !broadcasts(typeOf(mask).getShape(), scoreShape(query, key)))
    return emitOptionalError(location, "mask ", plain(mask), " does not broadcast to [b, h, s, t] of ",
                             plain(query), " and ", plain(key));
  return success();
}

template <typename OpTy> static LogicalResult verifyForm(OpTy op) {
  if (op.getCap() && !(op.getCap()->convertToDouble() > 0))
    return op.emitOpError("expects a positive cap, got: ") << op.getCap()->convertToDouble();
  bool all = op.getRandom() && op.getRate() && op.getId();
  bool none = !op.getRandom() && !op.getRate() && !op.getId();
  if (!all && !none)
    return op.emitOpError("expects random, rate and id together");
  return success();
}

LogicalResult AttentionOp::verify() { return verifyForm(*this); }
LogicalResult AttentionWithStatisticsOp::verify() { return verifyForm(*this); }
LogicalResult AttentionGradOp::verify() {
  if (getWithMaskGradient() && !getMask())
    return emitOpError("expects a mask where its gradient is asked for");
  return verifyForm(*this);
}

/// [b, h, s, e]
static RankedTensorType resultType(Value query, Value value) {
  SmallVector<int64_t> shape(typeOf(query).getShape());
  shape[3] = typeOf(value).getDimSize(3);
  return RankedTensorType::get(shape, typeOf(query).getElementType());
}
/// [b, h, s]
static RankedTensorType statisticsType(Value query) {
  return RankedTensorType::get(typeOf(query).getShape().drop_back(),
                               typeOf(query).getElementType());
}

LogicalResult AttentionOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                            Adaptor adaptor, SmallVectorImpl<Type> &types) {
  if (failed(checkOperands(location, adaptor)))
    return failure();
  types.push_back(resultType(adaptor.getQuery(), adaptor.getValue()));
  return success();
}

LogicalResult AttentionWithStatisticsOp::inferReturnTypes(MLIRContext *,
                                                          std::optional<Location> location,
                                                          Adaptor adaptor,
                                                          SmallVectorImpl<Type> &types) {
  if (failed(checkOperands(location, adaptor)))
    return failure();
  types.push_back(resultType(adaptor.getQuery(), adaptor.getValue()));
  types.push_back(statisticsType(adaptor.getQuery()));
  return success();
}

LogicalResult AttentionGradOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                                Adaptor adaptor, SmallVectorImpl<Type> &types) {
  if (failed(checkOperands(location, adaptor)))
    return failure();
  Value query = adaptor.getQuery(), gradient = adaptor.getGradient(),
        statistics = adaptor.getLogSumExp();
  if (plain(gradient) != resultType(query, adaptor.getValue()) ||
      plain(statistics) != statisticsType(query))
    return emitOptionalError(location, "expects a gradient [b, h, s, e] and log_sum_exp [b, h, s], "
                             "got: ", plain(gradient), " and ", plain(statistics));
  for (Value operand : {query, adaptor.getKey(), adaptor.getValue()})
    types.push_back(plain(operand));
  if (adaptor.getWithMaskGradient() && adaptor.getMask())
    types.push_back(plain(adaptor.getMask()));
  return success();
}

//===----------------------------------------------------------------------===//
// Sharding
//===----------------------------------------------------------------------===//

namespace {
/// The factors of an attention. `shared` is the kind of those that key and value lack, and of the
/// value's last dimension: `sum` in the gradient. `common` is that of those which only a mask may
/// lack.
struct AttentionFactors {
  AttentionFactors(Value q, Value k, Value v, FactorKind shared,
                   FactorKind common = FactorKind::pass) {
    ArrayRef<int64_t> queryShape = typeOf(q).getShape(), keyShape = typeOf(k).getShape();
    SmallVector<unsigned, 2> batch{rule.add(common, queryShape[0])};
    SmallVector<unsigned, 2> groups{rule.add(common, keyShape[1])};
    SmallVector<unsigned, 2> heads = groups;
    if (queryShape[1] != keyShape[1])
      heads.push_back(rule.add(shared, queryShape[1] / keyShape[1]));
    SmallVector<unsigned, 2> queries{rule.add(shared, queryShape[2])};
    SmallVector<unsigned, 2> keys{rule.add(FactorKind::whole, keyShape[2])};
    SmallVector<unsigned, 2> depth{rule.add(FactorKind::whole, keyShape[3])};
    SmallVector<unsigned, 2> width{rule.add(shared, typeOf(v).getDimSize(3))};
    query = {batch, heads, queries, depth};
    key = {batch, groups, keys, depth};
    value = {batch, groups, keys, width};
    result = {batch, heads, queries, width};
    statistics = {batch, heads, queries};
    scores = {batch, heads, queries, keys};
  }

  /// Adds the operands behind those that always are there.
  void addForm(Value q, Value k, Value mask, Value random) {
    if (mask) {
      ArrayRef<int64_t> shape = typeOf(mask).getShape();
      SmallVector<int64_t> whole = scoreShape(q, k);
      size_t missing = whole.size() - shape.size();
      for (auto [dim, size] : llvm::enumerate(shape))
        added.push_back(size == whole[missing + dim] ? scores[missing + dim]
                                                     : TensorFactors::value_type());
      rule.operands.push_back(added);
    }
    if (random)
      rule.operands.push_back(TensorFactors(1));
  }

  ShardingRule rule;
  TensorFactors query, key, value, result, statistics, scores;
  TensorFactors added; ///< the mask
};
} // namespace

ShardingRule AttentionOp::getShardingRule() {
  AttentionFactors f(getQuery(), getKey(), getValue(), FactorKind::pass);
  f.rule.operands = {f.query, f.key, f.value};
  f.addForm(getQuery(), getKey(), getMask(), getRandom());
  f.rule.results = {f.result};
  return f.rule;
}

ShardingRule AttentionWithStatisticsOp::getShardingRule() {
  AttentionFactors f(getQuery(), getKey(), getValue(), FactorKind::pass);
  f.rule.operands = {f.query, f.key, f.value};
  f.addForm(getQuery(), getKey(), getMask(), getRandom());
  f.rule.results = {f.result, f.statistics};
  return f.rule;
}

ShardingRule AttentionGradOp::getShardingRule() {
  AttentionFactors f(getQuery(), getKey(), getValue(), FactorKind::sum,
                     getWithMaskGradient() ? FactorKind::sum : FactorKind::pass);
  f.rule.operands = {f.result, f.query, f.key, f.value, f.statistics};
  f.addForm(getQuery(), getKey(), getMask(), getRandom());
  f.rule.results = {f.query, f.key, f.value};
  if (getWithMaskGradient())
    f.rule.results.push_back(f.added);
  f.rule.linear = {{0}};
  return f.rule;
}

/// The type of the probabilities: cut as the queries are.
static RankedTensorType probabilitiesType(Value query, Value key) {
  SmallVector<AxisState> states;
  if (LayoutAttr layout = getLayout(query.getType()))
    llvm::copy_if(layout.getStates(), std::back_inserter(states),
                  [](const AxisState &state) { return state.isShard(); });
  return withLayout(RankedTensorType::get(scoreShape(query, key), typeOf(query).getElementType()),
                    LayoutAttr::get(query.getContext(), states));
}

RankedTensorType AttentionOp::getSlicedType() { return probabilitiesType(getQuery(), getKey()); }
RankedTensorType AttentionWithStatisticsOp::getSlicedType() {
  return probabilitiesType(getQuery(), getKey());
}
RankedTensorType AttentionGradOp::getSlicedType() {
  return probabilitiesType(getQuery(), getKey());
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

/// Of some products with the scores: `depths` that run over the query's last dimension, `widths`
/// over the value's.
static double productFlops(Value query, Value key, Value value, double depths, double widths) {
  double scores = 2;
  for (int64_t size : scoreShape(query, key))
    scores *= static_cast<double>(size);
  return scores * (depths * static_cast<double>(typeOf(query).getDimSize(3)) +
                   widths * static_cast<double>(typeOf(value).getDimSize(3)));
}

double AttentionOp::getProductFlops() {
  return productFlops(getQuery(), getKey(), getValue(), 1, 1);
}
double AttentionWithStatisticsOp::getProductFlops() {
  return productFlops(getQuery(), getKey(), getValue(), 1, 1);
}
double AttentionGradOp::getProductFlops() {
  // The gradients of query and key; those of value and probabilities. That the scores are computed
  // again is the price of not keeping them and no work of the model.
  return productFlops(getQuery(), getKey(), getValue(), 2, 2);
}

//===----------------------------------------------------------------------===//
// Training
//===----------------------------------------------------------------------===//

LogicalResult AttentionOp::buildGradient(OpBuilderWithLayouts &b, ValueRange resultGradients,
                                         ArrayRef<bool> needed,
                                         SmallVectorImpl<Value> &operandGradients) {
  bool ofMask = getMask() && needed[3];
  auto saving = b.createBefore<AttentionWithStatisticsOp>(
      *this, getQuery(), getKey(), getValue(), getMask(), getRandom(), getScaleAttr(), getCapAttr(),
      getCausalAttr(), getRateAttr(), getIdAttr(), TypeAttr());
  getResult().replaceAllUsesWith(saving.getResult());
  auto gradient = b.create<AttentionGradOp>(
      resultGradients[0], getQuery(), getKey(), getValue(), saving.getLogSumExp(), getMask(),
      getRandom(), getScaleAttr(), getCapAttr(), getCausalAttr(), getRateAttr(), getIdAttr(),
      TypeAttr(), ofMask ? b.getUnitAttr() : UnitAttr());
  for (auto [i, result] : llvm::enumerate(gradient->getResults()))
    if (needed[i])
      operandGradients[i] = result;
  return success();
}

SmallVector<Value> AttentionOp::evaluationForm(OpBuilderWithLayouts &b) {
  return {b.create<AttentionOp>(getQuery(), getKey(), getValue(), getMask(), Value(),
                                getScaleAttr(), getCapAttr(), getCausalAttr(), FloatAttr(),
                                IntegerAttr(), TypeAttr())};
}

} // namespace colrow
