//===- LookupOps.cpp - shapes and sharding rules of take and its kin ------===//

#include "dialect/Colrow.h"

using namespace mlir;

namespace colrow {

/// Factors of a lookup: table dimensions before the axis, the axis, behind it, and ids.
static ShardingRule takeRule(RankedTensorType table, RankedTensorType ids, int64_t axis,
                             FactorKind tableAxis, FactorKind idDims, TensorFactors &tableFactors,
                             TensorFactors &idFactors, TensorFactors &looked) {
  ShardingRule rule;
  for (auto [dim, size] : llvm::enumerate(table.getShape()))
    tableFactors.push_back(
        {rule.add(static_cast<int64_t>(dim) == axis ? tableAxis : FactorKind::pass, size)});
  for (int64_t size : ids.getShape())
    idFactors.push_back({rule.add(idDims, size)});
  looked.append(tableFactors.begin(), tableFactors.begin() + axis);
  looked.append(idFactors.begin(), idFactors.end());
  looked.append(tableFactors.begin() + axis + 1, tableFactors.end());
  return rule;
}

LogicalResult TakeOp::verify() {
  if (!isa<IntegerType>(getElementTypeOrSelf(getIds().getType())))
    return emitOpError("expects integer ids, got: ") << getIds().getType();
  return success();
}
LogicalResult TakeOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                       Adaptor adaptor, SmallVectorImpl<Type> &types) {
  auto table = cast<RankedTensorType>(adaptor.getTable().getType());
  auto ids = cast<RankedTensorType>(adaptor.getIds().getType());
  int64_t axis = adaptor.getAxis();
  if (axis >= table.getRank())
    return emitOptionalError(location, "axis ", axis, " is not one of ", table);
  SmallVector<int64_t> shape(table.getShape().take_front(axis));
  llvm::append_range(shape, ids.getShape());
  llvm::append_range(shape, table.getShape().drop_front(axis + 1));
  types.push_back(RankedTensorType::get(shape, table.getElementType()));
  return success();
}
ShardingRule TakeOp::getShardingRule() {
  TensorFactors table, ids, looked;
  ShardingRule rule = takeRule(getTable().getType(), getIds().getType(), getAxis(),
                               FactorKind::sum, FactorKind::pass, table, ids, looked);
  rule.operands = {table, ids};
  rule.results = {looked};
  rule.linear = {{0}};
  return rule;
}
RankedTensorType TakeOp::getSlicedType() { return getTable().getType(); }

ShardingRule TakeGradOp::getShardingRule() {
  TensorFactors table, ids, looked;
  ShardingRule rule = takeRule(getType(), getIds().getType(), getAxis(), FactorKind::own,
                               FactorKind::sum, table, ids, looked);
  rule.operands = {ids, looked};
  rule.results = {table};
  rule.linear = {{1}};
  return rule;
}
RankedTensorType TakeGradOp::getSlicedType() { return getType(); }

/// Dimensions agree but along the axis, where input and indices have factors of their own. A
/// dimension of which the indices cover only a part must be whole.
static ShardingRule takeAlongRule(RankedTensorType input, RankedTensorType indices, int64_t axis,
                                  FactorKind inputAxis, FactorKind indexAxis,
                                  TensorFactors &inputFactors, TensorFactors &indexFactors) {
  ShardingRule rule;
  for (auto [dim, sizes] : llvm::enumerate(llvm::zip(input.getShape(), indices.getShape()))) {
    auto [size, indexSize] = sizes;
    if (static_cast<int64_t>(dim) == axis) {
      inputFactors.push_back({rule.add(inputAxis, size)});
      indexFactors.push_back({rule.add(indexAxis, indexSize)});
    } else if (size == indexSize) {
      unsigned factor = rule.add(FactorKind::pass, size);
      inputFactors.push_back({factor});
      indexFactors.push_back({factor});
    } else {
      inputFactors.push_back({rule.add(FactorKind::whole, size)});
      indexFactors.push_back({rule.add(FactorKind::whole, indexSize)});
    }
  }
  return rule;
}

LogicalResult TakeAlongOp::verify() {
  RankedTensorType input = getInput().getType(), indices = getIndices().getType();
  if (input.getRank() != indices.getRank() || getAxis() >= static_cast<uint64_t>(input.getRank()))
    return emitOpError("expects indices of the input's rank and one of its axes");
  return success();
}
LogicalResult TakeAlongOp::inferReturnTypes(MLIRContext *, std::optional<Location>,
                                            Adaptor adaptor, SmallVectorImpl<Type> &types) {
  types.push_back(RankedTensorType::get(
      cast<RankedTensorType>(adaptor.getIndices().getType()).getShape(),
      cast<RankedTensorType>(adaptor.getInput().getType()).getElementType()));
  return success();
}
ShardingRule TakeAlongOp::getShardingRule() {
  TensorFactors input, indices;
  ShardingRule rule = takeAlongRule(getInput().getType(), getIndices().getType(), getAxis(),
                                    FactorKind::sum, FactorKind::pass, input, indices);
  rule.operands = {input, indices};
  rule.results = {indices};
  rule.linear = {{0}};
  return rule;
}
RankedTensorType TakeAlongOp::getSlicedType() { return getInput().getType(); }

ShardingRule TakeAlongGradOp::getShardingRule() {
  TensorFactors input, indices;
  ShardingRule rule = takeAlongRule(getType(), getIndices().getType(), getAxis(), FactorKind::own,
                                    FactorKind::sum, input, indices);
  rule.operands = {indices, indices};
  rule.results = {input};
  rule.linear = {{1}};
  return rule;
}
RankedTensorType TakeAlongGradOp::getSlicedType() { return getType(); }

} // namespace colrow
