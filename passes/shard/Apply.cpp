//===- Apply.cpp - writes layouts, inserts f, g and take_shard ------------===//

#include "passes/shard/Regions.h"

using namespace mlir;

namespace colrow {

namespace {

class LayoutWriter {
public:
  LayoutWriter(func::FuncOp function, StringAttr axis)
      : axis(axis), axes(ArrayAttr::get(axis.getContext(), {axis})),
        builder(function.getContext()) {}

  void writeTypes(const Region &region) {
    for (auto &[value, state] : region.cuts)
      Value(value).setType(withState(value.getType(), state));
    for (auto &[operand, state] : region.constants)
      operand->set(cutConstant(operand->get().getDefiningOp<ConstantOp>(), state));
  }

  /// The result becomes partial, and its users read the sum.
  void insertG(OpResult result) {
    Type whole = result.getType();
    bool isMax = isa<ReduceMaxOp>(result.getOwner());
    result.setType(withState(whole, isMax ? AxisState::partialMax(axis)
                                          : AxisState::partial(axis)));
    builder.setInsertionPointAfter(result.getOwner());
    auto g = GOp::create(builder, result.getLoc(), whole, result, axes);
    result.replaceAllUsesExcept(g, g);
  }

  /// The operand becomes replicated: a constant is declared so, anything else gets one f for all
  /// its uses. Integers have no gradient and stay (L6).
  void insertF(OpOperand &operand) {
    Value value = operand.get();
    if (!isa<FloatType>(getElementTypeOrSelf(value.getType())))
      return;
    Value &replicated = replicas[value];
    if (!replicated) {
      Type type = withState(value.getType(), AxisState::replicated(axis));
      builder.setInsertionPointAfterValue(value);
      if (auto constant = value.getDefiningOp<ConstantOp>())
        replicated = ConstantOp::create(builder, constant.getLoc(), type, constant.getValue());
      else
        replicated = FOp::create(builder, value.getLoc(), type, value, axes);
    }
    operand.set(replicated);
  }

private:
  Value cutConstant(ConstantOp constant, AxisState state) {
    Type type = withState(constant.getType(), state);
    builder.setInsertionPointAfter(constant);
    if (isa<SplatElementsAttr>(constant.getValue()))
      return ConstantOp::create(builder, constant.getLoc(), type, constant.getValue());
    return TakeShardOp::create(builder, constant.getLoc(), type, constant, axes);
  }

  StringAttr axis;
  ArrayAttr axes;
  OpBuilder builder;
  llvm::DenseMap<Value, Value> replicas;
};

} // namespace

void applyRegions(func::FuncOp function, ArrayRef<const Region *> regions, StringAttr axis) {
  LayoutWriter writer(function, axis);
  for (const Region *region : regions)
    writer.writeTypes(*region);
  for (const Region *region : regions)
    for (OpResult result : region->partials)
      writer.insertG(result);
  // After all g: an operand that is whole in one region may be the sum that leaves another.
  for (const Region *region : regions)
    for (OpOperand *operand : region->wholes)
      writer.insertF(*operand);
  Block &body = function.getBody().front();
  function.setType(FunctionType::get(function.getContext(), body.getArgumentTypes(),
                                     body.getTerminator()->getOperandTypes()));
}

} // namespace colrow
