//===- Conversions.cpp - changes of layout --------------------------------===//

#include "dialect/Colrow.h"

using namespace mlir;

namespace colrow {

LogicalResult verifyConversion(Operation *op) {
  auto conversion = cast<ConversionOpInterface>(op);
  Type from = op->getOperand(0).getType(), to = op->getResult(0).getType();
  if (!sameIgnoringLayout(from, to))
    return op->emitOpError("changes more than the layout: ") << from << " to " << to;
  if (conversion.getConvertedAxes().empty())
    return op->emitOpError("expects at least one axis");
  GridAttr grid = getGrid(op);
  if (!grid)
    return op->emitOpError("needs the module's '") << ColrowDialect::gridAttrName << "'";
  Type expected = from;
  for (Attribute attribute : conversion.getConvertedAxes()) {
    auto axis = cast<StringAttr>(attribute);
    if (grid.sizeOf(axis.getValue()) == 0)
      return op->emitOpError("names axis '") << axis.getValue() << "', which the grid lacks";
    AxisState before = getState(from, axis), after = getState(to, axis);
    if (!conversion.acceptsFrom(before))
      return op->emitOpError("does not convert from ")
             << before.str() << " on axis '" << axis.getValue() << "'";
    if (!conversion.acceptsTo(after))
      return op->emitOpError("does not convert to ")
             << after.str() << " on axis '" << axis.getValue() << "'";
    expected = withState(expected, after);
  }
  // Comparing layouts after the named axes are replaced finds any other axis that changed.
  for (StringAttr axis : grid.getNames())
    if (getState(expected, axis) != getState(to, axis))
      return op->emitOpError("changes axis '") << axis.getValue() << "', which it does not name";
  if (auto allToAll = dyn_cast<AllToAllOp>(op))
    for (Attribute attribute : allToAll.getAxes())
      if (getState(from, cast<StringAttr>(attribute)) == getState(to, cast<StringAttr>(attribute)))
        return op->emitOpError("expects another dimension, got: ") << from << " twice";
  return success();
}

LogicalResult TakeShardOp::buildGradient(OpBuilderWithLayouts &b, ValueRange resultGradients,
                                         ArrayRef<bool> needed,
                                         SmallVectorImpl<Value> &operandGradients) {
  if (!needed[0])
    return success();
  // Gather transposes the axes that were invariant, place those that were replicated.
  SmallVector<Attribute> gathered, placed;
  for (Attribute axis : getAxes())
    (getState(getInput().getType(), cast<StringAttr>(axis)).isInvariant() ? gathered : placed)
        .push_back(axis);
  Value gradient = resultGradients[0];
  Type target = gradientType(getInput().getType());
  if (!placed.empty()) {
    Type type = gradient.getType();
    for (Attribute axis : placed)
      type = withState(type, AxisState::partial(cast<StringAttr>(axis)));
    gradient = b.create<PlaceOp>(type, gradient, b.getArrayAttr(placed));
  }
  if (!gathered.empty())
    gradient = b.create<GatherOp>(target, gradient, b.getArrayAttr(gathered));
  operandGradients[0] = gradient;
  return success();
}

} // namespace colrow
