//===- LossOps.cpp - shapes and sharding rules of LossOps.td --------------===//

#include "dialect/Colrow.h"

using namespace mlir;

namespace colrow {

static LogicalResult checkLabels(std::optional<Location> location, RankedTensorType rows,
                                 Type labels) {
  if (rows.getShape().drop_back() == cast<RankedTensorType>(labels).getShape())
    return success();
  return emitOptionalError(location, "labels ", withLayout(labels, {}), " do not fit ",
                           withLayout(rows, {}));
}

/// The optional terms of the loss.
template <typename Adaptor>
static LogicalResult checkTerms(std::optional<Location> location, Adaptor adaptor) {
  std::optional<APFloat> smoothing = adaptor.getLabelSmoothing(), zLoss = adaptor.getZLoss();
  double share = smoothing ? smoothing->convertToDouble() : 0;
  double factor = zLoss ? zLoss->convertToDouble() : 0;
  if (!(share >= 0 && share <= 1))
    return emitOptionalError(location, "expects label_smoothing between 0 and 1, got: ", share);
  if (!(factor >= 0))
    return emitOptionalError(location, "expects z_loss of at least 0, got: ", factor);
  return success();
}

/// A factor for every dimension but the last.
static TensorFactors tokenFactors(ShardingRule &rule, RankedTensorType type, FactorKind kind) {
  TensorFactors tokens;
  for (int64_t size : type.getShape().drop_back())
    tokens.push_back({rule.add(kind, size)});
  return tokens;
}

/// The tokens' factors and one more for the last dimension.
static TensorFactors withLast(TensorFactors tokens, unsigned factor) {
  tokens.push_back({factor});
  return tokens;
}

//===----------------------------------------------------------------------===//
// Of logits
//===----------------------------------------------------------------------===//

LogicalResult CrossEntropyOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                               Adaptor adaptor, SmallVectorImpl<Type> &types) {
  auto logits = cast<RankedTensorType>(adaptor.getLogits().getType());
  types.push_back(RankedTensorType::get({}, logits.getElementType()));
  return failed(checkTerms(location, adaptor))
             ? failure()
             : checkLabels(location, logits, adaptor.getLabels().getType());
}
ShardingRule CrossEntropyOp::getShardingRule() {
  ShardingRule rule;
  RankedTensorType logits = getLogits().getType();
  TensorFactors tokens = tokenFactors(rule, logits, FactorKind::sum);
  unsigned vocabulary = rule.add(FactorKind::inner, logits.getShape().back());
  rule.operands = {withLast(tokens, vocabulary), tokens, TensorFactors()};
  rule.results = {TensorFactors()};
  return rule;
}
RankedTensorType CrossEntropyOp::getSlicedType() { return getLogits().getType(); }

LogicalResult CrossEntropyWithStatisticsOp::inferReturnTypes(MLIRContext *,
                                                             std::optional<Location> location,
                                                             Adaptor adaptor,
                                                             SmallVectorImpl<Type> &types) {
  auto logits = cast<RankedTensorType>(adaptor.getLogits().getType());
  types.push_back(RankedTensorType::get({}, logits.getElementType()));
  types.push_back(RankedTensorType::get(logits.getShape().drop_back(), logits.getElementType()));
  return failed(checkTerms(location, adaptor))
             ? failure()
             : checkLabels(location, logits, adaptor.getLabels().getType());
}
ShardingRule CrossEntropyWithStatisticsOp::getShardingRule() {
  ShardingRule rule;
  RankedTensorType logits = getLogits().getType();
  TensorFactors tokens = tokenFactors(rule, logits, FactorKind::sum);
  unsigned vocabulary = rule.add(FactorKind::inner, logits.getShape().back());
  rule.operands = {withLast(tokens, vocabulary), tokens, TensorFactors()};
  rule.results = {TensorFactors(), tokens};
  return rule;
}
RankedTensorType CrossEntropyWithStatisticsOp::getSlicedType() { return getLogits().getType(); }

LogicalResult CrossEntropyGradOp::inferReturnTypes(MLIRContext *,
                                                   std::optional<Location> location,
                                                   Adaptor adaptor,
                                                   SmallVectorImpl<Type> &types) {
  auto logits = cast<RankedTensorType>(adaptor.getLogits().getType());
  types.push_back(withLayout(logits, {}));
  return failed(checkTerms(location, adaptor))
             ? failure()
             : checkLabels(location, logits, adaptor.getLabels().getType());
}
ShardingRule CrossEntropyGradOp::getShardingRule() {
  ShardingRule rule;
  RankedTensorType logits = getLogits().getType();
  TensorFactors tokens = tokenFactors(rule, logits, FactorKind::pass);
  TensorFactors all = withLast(tokens, rule.add(FactorKind::pass, logits.getShape().back()));
  rule.operands = {TensorFactors(), all, tokens, TensorFactors(), tokens};
  rule.results = {all};
  rule.linear = {{0}};
  return rule;
}
RankedTensorType CrossEntropyGradOp::getSlicedType() { return getLogits().getType(); }

//===----------------------------------------------------------------------===//
// Of the product for logits
//===----------------------------------------------------------------------===//

static LogicalResult checkProduct(std::optional<Location> location, Type input, Type weight,
                                  Type labels) {
  auto x = cast<RankedTensorType>(input), w = cast<RankedTensorType>(weight);
  if (w.getRank() != 2 || x.getRank() == 0 || x.getShape().back() != w.getDimSize(1))
    return emitOptionalError(location, "expects input [..., hidden] and weight [vocabulary, "
                             "hidden], got: ", withLayout(x, {}), " and ", withLayout(w, {}));
  return checkLabels(location, x, labels);
}

/// Factors of input, weight, labels and count, and of the three results.
static ShardingRule productRule(RankedTensorType input, RankedTensorType weight) {
  ShardingRule rule;
  TensorFactors tokens = tokenFactors(rule, input, FactorKind::sum);
  unsigned vocabulary = rule.add(FactorKind::inner, weight.getDimSize(0));
  unsigned hidden = rule.add(FactorKind::whole, weight.getDimSize(1));
  TensorFactors inputFactors = withLast(tokens, hidden), weightFactors = {{vocabulary}, {hidden}};
  rule.operands = {inputFactors, weightFactors, tokens, TensorFactors()};
  rule.results = {TensorFactors(), inputFactors, weightFactors};
  return rule;
}

LogicalResult LinearCrossEntropyOp::inferReturnTypes(MLIRContext *,
                                                     std::optional<Location> location,
                                                     Adaptor adaptor,
                                                     SmallVectorImpl<Type> &types) {
  types.push_back(
      RankedTensorType::get({}, getElementTypeOrSelf(adaptor.getInput().getType())));
  return failed(checkTerms(location, adaptor))
             ? failure()
             : checkProduct(location, adaptor.getInput().getType(), adaptor.getWeight().getType(),
                            adaptor.getLabels().getType());
}
/// 2 tokens hidden vocabulary, of the product of the logits.
static double logitFlops(RankedTensorType input, RankedTensorType weight) {
  return 2.0 * static_cast<double>(input.getNumElements()) *
         static_cast<double>(weight.getDimSize(0));
}
double LinearCrossEntropyOp::getProductFlops() {
  return logitFlops(getInput().getType(), getWeight().getType());
}
double LinearCrossEntropyWithGradOp::getProductFlops() {
  return 3 * logitFlops(getInput().getType(), getWeight().getType());
}

ShardingRule LinearCrossEntropyOp::getShardingRule() {
  ShardingRule rule = productRule(getInput().getType(), getWeight().getType());
  rule.results.truncate(1);
  return rule;
}
RankedTensorType LinearCrossEntropyOp::getSlicedType() { return getWeight().getType(); }

LogicalResult LinearCrossEntropyWithGradOp::inferReturnTypes(MLIRContext *,
                                                             std::optional<Location> location,
                                                             Adaptor adaptor,
                                                             SmallVectorImpl<Type> &types) {
  Type input = adaptor.getInput().getType(), weight = adaptor.getWeight().getType();
  types.push_back(RankedTensorType::get({}, getElementTypeOrSelf(input)));
  types.push_back(withLayout(input, {}));
  types.push_back(withLayout(weight, {}));
  return failed(checkTerms(location, adaptor))
             ? failure()
             : checkProduct(location, input, weight, adaptor.getLabels().getType());
}
ShardingRule LinearCrossEntropyWithGradOp::getShardingRule() {
  ShardingRule rule = productRule(getInput().getType(), getWeight().getType());
  rule.partialResults = {1};
  return rule;
}
RankedTensorType LinearCrossEntropyWithGradOp::getSlicedType() { return getWeight().getType(); }

} // namespace colrow
