//===- OpBuilder.cpp - builds operations and infers their layouts ---------===//

#include "dialect/Colrow.h"

using namespace mlir;

namespace colrow {

void OpBuilderWithLayouts::infer(Operation *op) {
  if (!isa<ShardingRuleOpInterface>(op))
    return;
  if (std::optional<Violation> violation = inferResultLayouts(op)) {
    op->emitOpError("breaks L") << violation->rule << " where it was built: " << violation->text;
    violated = true;
  }
}

LogicalResult replaceByDecomposition(Operation *op) {
  OpBuilderWithLayouts b(op);
  FailureOr<SmallVector<Value>> values = cast<DecomposableOpInterface>(op).decompose(b);
  if (mlir::failed(values) || b.failed())
    return failure();
  for (auto [result, value] : llvm::zip_equal(op->getResults(), *values))
    if (value.getType() != result.getType())
      return op->emitOpError("decomposes to type ")
             << value.getType() << ", expects: " << result.getType();
  op->replaceAllUsesWith(*values);
  op->erase();
  return success();
}

RankedTensorType replicatedLike(RankedTensorType type, Type like) {
  SmallVector<AxisState> states;
  if (LayoutAttr layout = like ? getLayout(like) : LayoutAttr())
    if (isa<FloatType>(type.getElementType()))
      for (const AxisState &state : layout.getStates())
        states.push_back(AxisState::replicated(state.axis));
  return withLayout(type, LayoutAttr::get(type.getContext(), states));
}

Value OpBuilderWithLayouts::scalar(double value, Type elementType, Type like) {
  RankedTensorType plain = RankedTensorType::get({}, elementType);
  RankedTensorType type = replicatedLike(plain, like);
  if (!isa<FloatType>(elementType))
    return ConstantOp::create(
        *this, loc, type,
        DenseElementsAttr::get(plain, getIntegerAttr(elementType, static_cast<int64_t>(value))));
  // In double where the element type would round, so that an interpreter in fp64 sees all of it.
  APFloat rounded(value);
  bool loses;
  rounded.convert(cast<FloatType>(elementType).getFloatSemantics(), APFloat::rmNearestTiesToEven,
                  &loses);
  if (loses)
    plain = RankedTensorType::get({}, getF64Type());
  return ConstantOp::create(*this, loc, type,
                            DenseElementsAttr::get(plain, loses ? APFloat(value) : rounded));
}

Value OpBuilderWithLayouts::beside(Value value, Type like) {
  LayoutAttr layout = getLayout(like);
  if (!layout || !isa<FloatType>(getElementTypeOrSelf(value.getType())))
    return value;
  SmallVector<Attribute> axes;
  Type type = value.getType();
  for (const AxisState &state : layout.getStates())
    if (getState(value.getType(), state.axis).isInvariant()) {
      axes.push_back(state.axis);
      type = withState(type, AxisState::replicated(state.axis));
    }
  if (axes.empty())
    return value;
  return FOp::create(*this, loc, type, value, getArrayAttr(axes));
}

} // namespace colrow
