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

LogicalResult SoftmaxGradOp::inferReturnTypes(MLIRContext *, std::optional<Location>,
                                              Adaptor adaptor, SmallVectorImpl<Type> &types) {
  return inferLikeInput(adaptor.getOutput().getType(), types);
}
ShardingRule SoftmaxGradOp::getShardingRule() {
  ShardingRule rule = elementwiseRule(*this, {{0}});
  rule.factors[rule.results[0][getAxis()][0]].kind = FactorKind::whole;
  return rule;
}

/// Factors of an input normalised over the dimensions from `axis` on: those are whole.
static TensorFactors normFactors(ShardingRule &rule, RankedTensorType input, uint64_t axis,
                                 FactorKind rows) {
  TensorFactors factors;
  for (auto [dim, size] : llvm::enumerate(input.getShape()))
    factors.push_back({rule.add(dim < axis ? rows : FactorKind::whole, size)});
  return factors;
}

LogicalResult LayerNormOp::inferReturnTypes(MLIRContext *, std::optional<Location>,
                                            Adaptor adaptor, SmallVectorImpl<Type> &types) {
  return inferLikeInput(adaptor.getInput().getType(), types);
}
ShardingRule LayerNormOp::getShardingRule() {
  ShardingRule rule;
  TensorFactors input = normFactors(rule, getType(), getAxis(), FactorKind::pass);
  TensorFactors scale(input.begin() + getAxis(), input.end());
  rule.operands.assign(getNumOperands(), scale);
  rule.operands[0] = input;
  rule.results = {input};
  return rule;
}

LogicalResult LayerNormWithStatisticsOp::inferReturnTypes(MLIRContext *, std::optional<Location>,
                                                          Adaptor adaptor,
                                                          SmallVectorImpl<Type> &types) {
  auto input = cast<RankedTensorType>(adaptor.getInput().getType());
  types.push_back(withLayout(input, {}));
  types.append(2, RankedTensorType::get(input.getShape().take_front(adaptor.getAxis()),
                                        input.getElementType()));
  return success();
}
ShardingRule LayerNormWithStatisticsOp::getShardingRule() {
  ShardingRule rule;
  TensorFactors input = normFactors(rule, getInput().getType(), getAxis(), FactorKind::pass);
  TensorFactors rows(input.begin(), input.begin() + getAxis());
  TensorFactors scale(input.begin() + getAxis(), input.end());
  rule.operands.assign(getNumOperands(), scale);
  rule.operands[0] = input;
  rule.results = {input, rows, rows};
  return rule;
}

LogicalResult LayerNormGradOp::inferReturnTypes(MLIRContext *, std::optional<Location>,
                                                Adaptor adaptor, SmallVectorImpl<Type> &types) {
  auto input = cast<RankedTensorType>(adaptor.getInput().getType());
  types.push_back(withLayout(input, {}));
  types.append(2, RankedTensorType::get(input.getShape().drop_front(adaptor.getAxis()),
                                        input.getElementType()));
  return success();
}
ShardingRule LayerNormGradOp::getShardingRule() {
  ShardingRule rule;
  TensorFactors input = normFactors(rule, getInput().getType(), getAxis(), FactorKind::sum);
  TensorFactors rows(input.begin(), input.begin() + getAxis());
  TensorFactors scale(input.begin() + getAxis(), input.end());
  rule.operands = {input, input, rows, rows};
  if (getScale())
    rule.operands.push_back(scale);
  rule.results = {input, scale, scale};
  rule.linear = {{0}};
  return rule;
}

/// The dimensions of an input before and from `axis` on.
static RankedTensorType rowsOf(RankedTensorType input, uint64_t axis) {
  return RankedTensorType::get(input.getShape().take_front(axis), input.getElementType());
}

LogicalResult RmsNormOp::verify() {
  ArrayRef<int64_t> shape = getType().getShape();
  if (getAxis() >= shape.size())
    return emitOpError("expects an axis of its input, got: ")
           << getAxis() << " of " << shape.size();
  if (getScale() && getScale().getType().getShape() != shape.drop_front(getAxis()))
    return emitOpError("expects a scale of the dimensions from ")
           << getAxis() << " on, got: " << withLayout(getScale().getType(), {}) << " for "
           << withLayout(getType(), {});
  return success();
}
LogicalResult RmsNormOp::inferReturnTypes(MLIRContext *, std::optional<Location>, Adaptor adaptor,
                                          SmallVectorImpl<Type> &types) {
  return inferLikeInput(adaptor.getInput().getType(), types);
}
ShardingRule RmsNormOp::getShardingRule() {
  ShardingRule rule;
  TensorFactors input = normFactors(rule, getType(), getAxis(), FactorKind::pass);
  rule.operands.assign(getNumOperands(), TensorFactors(input.begin() + getAxis(), input.end()));
  rule.operands[0] = input;
  rule.results = {input};
  return rule;
}

LogicalResult RmsNormWithStatisticsOp::inferReturnTypes(MLIRContext *, std::optional<Location>,
                                                        Adaptor adaptor,
                                                        SmallVectorImpl<Type> &types) {
  auto input = cast<RankedTensorType>(adaptor.getInput().getType());
  types.push_back(withLayout(input, {}));
  types.push_back(rowsOf(input, adaptor.getAxis()));
  return success();
}
ShardingRule RmsNormWithStatisticsOp::getShardingRule() {
  ShardingRule rule;
  TensorFactors input = normFactors(rule, getInput().getType(), getAxis(), FactorKind::pass);
  rule.operands.assign(getNumOperands(), TensorFactors(input.begin() + getAxis(), input.end()));
  rule.operands[0] = input;
  rule.results = {input, TensorFactors(input.begin(), input.begin() + getAxis())};
  return rule;
}

LogicalResult RmsNormGradOp::inferReturnTypes(MLIRContext *, std::optional<Location>,
                                              Adaptor adaptor, SmallVectorImpl<Type> &types) {
  auto input = cast<RankedTensorType>(adaptor.getInput().getType());
  types.push_back(withLayout(input, {}));
  types.push_back(RankedTensorType::get(input.getShape().drop_front(adaptor.getAxis()),
                                        input.getElementType()));
  return success();
}
ShardingRule RmsNormGradOp::getShardingRule() {
  ShardingRule rule;
  TensorFactors input = normFactors(rule, getInput().getType(), getAxis(), FactorKind::sum);
  TensorFactors rows(input.begin(), input.begin() + getAxis());
  TensorFactors scale(input.begin() + getAxis(), input.end());
  rule.operands = {input, input, rows};
  if (getScale())
    rule.operands.push_back(scale);
  rule.results = {input, scale};
  rule.linear = {{0}};
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

} // namespace colrow
