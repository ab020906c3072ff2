//===- Apply.cpp - writes layouts, inserts f, g and take_shard ------------===//

#include "passes/shard/Regions.h"

using namespace mlir;

namespace colrow {

void writeTypes(const Region &region, StringAttr axis, Cuts &cuts) {
  for (auto &[value, state] : region.cuts)
    Value(value).setType(withState(value.getType(), state));
  for (auto &[operand, state] : region.constants)
    cuts.constants[operand].push_back(state);
  for (OpResult result : region.partials)
    cuts.partials[result].push_back(axis);
  for (OpOperand *operand : region.wholes)
    cuts.wholes[operand].push_back(axis);
}

namespace {

class Inserter {
public:
  explicit Inserter(MLIRContext *context) : builder(context) {}

  void cutConstant(OpOperand &operand, ArrayRef<AxisState> states) {
    auto constant = operand.get().getDefiningOp<ConstantOp>();
    Type type = constant.getType();
    SmallVector<Attribute> axes;
    for (const AxisState &state : states) {
      type = withState(type, state);
      axes.push_back(state.axis);
    }
    builder.setInsertionPointAfter(constant);
    if (isa<SplatElementsAttr>(constant.getValue()))
      operand.set(ConstantOp::create(builder, constant.getLoc(), type, constant.getValue()));
    else
      operand.set(TakeShardOp::create(builder, constant.getLoc(), type, constant,
                                      builder.getArrayAttr(axes)));
  }

  /// The result becomes partial, and its users read the sum.
  void insertG(OpResult result, ArrayRef<StringAttr> axes) {
    Type whole = result.getType();
    bool isMax = isa<ReduceMaxOp>(result.getOwner());
    for (StringAttr axis : axes)
      result.setType(withState(result.getType(), isMax ? AxisState::partialMax(axis)
                                                       : AxisState::partial(axis)));
    builder.setInsertionPointAfter(result.getOwner());
    auto g = GOp::create(builder, result.getLoc(), whole, result, namesOf(axes));
    result.replaceAllUsesExcept(g, g);
  }

  /// The operand becomes replicated: a constant is declared so, anything else gets one f for all
  /// its uses. Integers have no gradient and stay (L6).
  void insertF(OpOperand &operand, ArrayRef<StringAttr> axes) {
    Value value = operand.get();
    if (!isa<FloatType>(getElementTypeOrSelf(value.getType())))
      return;
    ArrayAttr names = namesOf(axes);
    Value &replicated = replicas[{value, names}];
    if (!replicated) {
      Type type = value.getType();
      for (StringAttr axis : axes)
        type = withState(type, AxisState::replicated(axis));
      builder.setInsertionPointAfterValue(value);
      if (auto constant = value.getDefiningOp<ConstantOp>())
        replicated = ConstantOp::create(builder, constant.getLoc(), type, constant.getValue());
      else
        replicated = FOp::create(builder, value.getLoc(), type, value, names);
    }
    operand.set(replicated);
  }

private:
  ArrayAttr namesOf(ArrayRef<StringAttr> axes) {
    return builder.getArrayAttr(SmallVector<Attribute>(axes.begin(), axes.end()));
  }

  OpBuilder builder;
  llvm::DenseMap<std::pair<Value, ArrayAttr>, Value> replicas;
};

} // namespace

void insertConversions(func::FuncOp function, const Cuts &cuts) {
  Inserter inserter(function.getContext());
  for (auto &[operand, states] : cuts.constants)
    inserter.cutConstant(*operand, states);
  for (auto &[result, axes] : cuts.partials)
    inserter.insertG(result, axes);
  // After all g: an operand that is whole in one region may be the sum that leaves another.
  for (auto &[operand, axes] : cuts.wholes)
    inserter.insertF(*operand, axes);
  Block &body = function.getBody().front();
  function.setType(FunctionType::get(function.getContext(), body.getArgumentTypes(),
                                     body.getTerminator()->getOperandTypes()));
}

} // namespace colrow
