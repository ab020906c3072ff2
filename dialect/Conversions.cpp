//===- Conversions.cpp - changes of layout --------------------------------===//

#include "dialect/Colrow.h"

using namespace mlir;

namespace colrow {

/// An axis, not among those converted, whose cut of a dimension comes after (inside) the cut by a
/// converted axis. It counts its blocks inside the outer slice, so it would mean something else
/// once that slice changes.
static StringAttr innerCut(Type type, ArrayRef<Attribute> converted) {
  LayoutAttr layout = getLayout(type);
  if (!layout)
    return {};
  ArrayRef<AxisState> states = layout.getStates();
  for (size_t i = 0; i < states.size(); ++i) {
    if (!states[i].isShard() || !llvm::is_contained(converted, states[i].axis))
      continue;
    for (const AxisState &inner : states.drop_front(i + 1))
      if (inner.isShard() && inner.dim == states[i].dim &&
          !llvm::is_contained(converted, inner.axis))
        return inner.axis;
  }
  return {};
}

LogicalResult verifyConversion(Operation *op) {
  auto conversion = cast<ConversionOpInterface>(op);
  Type from = op->getOperand(0).getType(), to = op->getResult(0).getType();
  if (!sameIgnoringLayout(from, to))
    return op->emitOpError("breaks C2: changes more than the layout: ") << from << " to " << to;
  ArrayRef<Attribute> axes = conversion.getConvertedAxes();
  if (axes.empty())
    return op->emitOpError("expects at least one axis");
  GridAttr grid = getGrid(op);
  if (!grid)
    return op->emitOpError("needs the module's '") << ColrowDialect::gridAttrName << "'";
  Type expected = from;
  for (auto [i, attribute] : llvm::enumerate(axes)) {
    auto axis = cast<StringAttr>(attribute);
    if (grid.sizeOf(axis.getValue()) == 0)
      return op->emitOpError("names axis '") << axis.getValue() << "', which the grid lacks";
    if (llvm::is_contained(axes.take_front(i), attribute))
      return op->emitOpError("names axis '") << axis.getValue() << "' twice";
    AxisState before = getState(from, axis), after = getState(to, axis);
    if (!conversion.acceptsFrom(before))
      return op->emitOpError("breaks C1: does not convert from ")
             << before.str() << " on axis '" << axis.getValue() << "'";
    if (!conversion.acceptsTo(after))
      return op->emitOpError("breaks C1: does not convert to ")
             << after.str() << " on axis '" << axis.getValue() << "'";
    expected = withState(expected, after);
  }
  for (StringAttr axis : grid.getNames())
    if (getState(expected, axis) != getState(to, axis))
      return op->emitOpError("breaks C2: changes axis '")
             << axis.getValue() << "', which it does not name";
  for (Type type : {from, to})
    if (StringAttr inner = innerCut(type, axes))
      return op->emitOpError("breaks C3: axis '")
             << inner.getValue() << "' cuts " << type << " inside the cut that is converted";
  if (auto allToAll = dyn_cast<AllToAllOp>(op))
    for (Attribute attribute : axes)
      if (getState(from, cast<StringAttr>(attribute)) == getState(to, cast<StringAttr>(attribute)))
        return op->emitOpError("breaks C1: expects another cut, got: ") << from << " twice";
  return success();
}

LogicalResult TakeShardOp::buildGradient(OpBuilderWithLayouts &b, ValueRange resultGradients,
                                         ArrayRef<bool> needed,
                                         SmallVectorImpl<Value> &operandGradients) {
  if (!needed[0])
    return success();
  // Gather transposes the axes that were invariant, place those that were replicated: the
  // innermost cut first (C3), neighbours of one kind together.
  ArrayRef<AxisState> cuts = getLayout(getType()).getStates();
  Value gradient = resultGradients[0];
  SmallVector<Attribute> axes;
  bool placing = false;
  auto flush = [&] {
    if (axes.empty())
      return;
    Type type = gradient.getType();
    for (Attribute axis : axes)
      type = withState(type, placing ? AxisState::partial(cast<StringAttr>(axis))
                                     : AxisState::invariant(cast<StringAttr>(axis)));
    ArrayAttr names = b.getArrayAttr(axes);
    gradient = placing ? b.create<PlaceOp>(type, gradient, names).getResult()
                       : b.create<GatherOp>(type, gradient, names).getResult();
    axes.clear();
  };
  for (const AxisState &cut : llvm::reverse(cuts)) {
    if (!llvm::is_contained(getAxes(), cut.axis))
      continue;
    bool wasReplicated = getState(getInput().getType(), cut.axis).isReplicated();
    if (wasReplicated != placing)
      flush();
    placing = wasReplicated;
    axes.push_back(cut.axis);
  }
  flush();
  operandGradients[0] = gradient;
  return success();
}

} // namespace colrow
