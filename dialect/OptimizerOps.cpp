//===- OptimizerOps.cpp - shapes and sharding rules of OptimizerOps.td ----===//

#include "dialect/Colrow.h"

using namespace mlir;

namespace colrow {

LogicalResult SumSquaresOp::inferReturnTypes(MLIRContext *, std::optional<Location>,
                                             Adaptor adaptor, SmallVectorImpl<Type> &types) {
  types.push_back(
      RankedTensorType::get({}, getElementTypeOrSelf(adaptor.getInput().getType())));
  return success();
}
ShardingRule SumSquaresOp::getShardingRule() {
  ShardingRule rule;
  TensorFactors input;
  for (int64_t size : getInput().getType().getShape())
    input.push_back({rule.add(FactorKind::sum, size)});
  rule.operands = {input};
  rule.results = {TensorFactors()};
  return rule;
}

LogicalResult AdamWOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                        Adaptor adaptor, SmallVectorImpl<Type> &types) {
  Type parameter = withLayout(adaptor.getParameter().getType(), {});
  for (Value value : {adaptor.getGradient(), adaptor.getFirst(), adaptor.getSecond()})
    if (Type(withLayout(value.getType(), {})) != parameter)
      return emitOptionalError(location, "gradient and moments must have the parameter's shape");
  types.append(3, parameter);
  return success();
}
ShardingRule AdamWOp::getShardingRule() {
  ShardingRule rule;
  TensorFactors factors;
  for (int64_t size : getParameter().getType().getShape())
    factors.push_back({rule.add(FactorKind::pass, size)});
  rule.operands = {factors, factors, factors, factors, TensorFactors(), TensorFactors(1)};
  rule.results = {factors, factors, factors};
  return rule;
}

} // namespace colrow
