//===- NNOps.cpp - shapes and sharding rules of NNOps.td ------------------===//

#include "dialect/Colrow.h"

using namespace mlir;

namespace colrow {

/// The types of operand 0, without layout.
static LogicalResult inferLikeInput(Type input, SmallVectorImpl<Type> &types) {
  types.push_back(withLayout(input, {}));
  return success();
}

//===----------------------------------------------------------------------===//
// Softmax and norms
//===----------------------------------------------------------------------===//

LogicalResult SoftmaxOp::inferReturnTypes(MLIRContext *, std::optional<Location>, Adaptor adaptor,
                                          SmallVectorImpl<Type> &types) {
  return inferLikeInput(adaptor.getInput().getType(), types);
}
ShardingRule SoftmaxOp::getShardingRule() {
  ShardingRule rule = elementwiseRule(*this);
  rule.factors[rule.results[0][getAxis()][0]].kind = FactorKind::whole;
  return rule;
}

LogicalResult LayerNormOp::inferReturnTypes(MLIRContext *, std::optional<Location>,
                                            Adaptor adaptor, SmallVectorImpl<Type> &types) {
  return inferLikeInput(adaptor.getInput().getType(), types);
}
ShardingRule LayerNormOp::getShardingRule() {
  ShardingRule rule;
  TensorFactors input;
  for (auto [dim, size] : llvm::enumerate(getType().getShape()))
    input.push_back({rule.add(static_cast<int64_t>(dim) < static_cast<int64_t>(getAxis())
                                  ? FactorKind::pass
                                  : FactorKind::whole,
                              size)});
  TensorFactors scale(input.begin() + getAxis(), input.end());
  rule.operands.push_back(input);
  for (unsigned i = 1; i < getNumOperands(); ++i)
    rule.operands.push_back(scale);
  rule.results = {input};
  return rule;
}

//===----------------------------------------------------------------------===//
// Dropout
//===----------------------------------------------------------------------===//

LogicalResult DropoutOp::inferReturnTypes(MLIRContext *, std::optional<Location>, Adaptor adaptor,
                                          SmallVectorImpl<Type> &types) {
  return inferLikeInput(adaptor.getInput().getType(), types);
}
ShardingRule DropoutOp::getShardingRule() {
  ShardingRule rule;
  TensorFactors factors;
  for (int64_t size : getType().getShape())
    factors.push_back({rule.add(FactorKind::pass, size)});
  rule.operands = {factors, TensorFactors(1)};
  rule.results = {factors};
  rule.linear = {{0}};
  return rule;
}
RankedTensorType DropoutOp::getSlicedType() { return getType(); }

//===----------------------------------------------------------------------===//
// Loss
//===----------------------------------------------------------------------===//

LogicalResult CrossEntropyOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                               Adaptor adaptor, SmallVectorImpl<Type> &types) {
  auto logits = cast<RankedTensorType>(adaptor.getLogits().getType());
  auto labels = cast<RankedTensorType>(adaptor.getLabels().getType());
  if (logits.getShape().drop_back() != labels.getShape())
    return emitOptionalError(location, "logits ", logits, " do not fit labels ", labels);
  types.push_back(RankedTensorType::get({}, logits.getElementType()));
  return success();
}
ShardingRule CrossEntropyOp::getShardingRule() {
  ShardingRule rule;
  TensorFactors labels;
  RankedTensorType logits = getLogits().getType();
  for (int64_t size : logits.getShape().drop_back())
    labels.push_back({rule.add(FactorKind::sum, size)});
  TensorFactors all = labels;
  all.push_back({rule.add(FactorKind::inner, logits.getShape().back())});
  rule.operands = {all, labels, TensorFactors()};
  rule.results = {TensorFactors()};
  return rule;
}

} // namespace colrow
