//===- ReverseMode.cpp - gradients of one value by the chain rule ---------===//

#include "passes/differentiate/ReverseMode.h"

using namespace mlir;

namespace colrow {

Location backwardLoc(Location loc) {
  MLIRContext *context = loc.getContext();
  return FusedLoc::get(context, {loc}, StringAttr::get(context, "backward"));
}

static bool isFloat(Value value) {
  return isa<FloatType>(getElementTypeOrSelf(value.getType()));
}

void ReverseMode::markActive() {
  active.clear();
  active.insert_range(variables);
  for (Operation &op : block) {
    if (op.hasTrait<NoGradient>() ||
        llvm::none_of(op.getOperands(), [&](Value value) { return active.contains(value); }))
      continue;
    for (Value result : op.getResults())
      if (isFloat(result))
        active.insert(result);
  }
}

/// Decomposes what stands between the variables and the loss and has no gradient of its own.
/// Whether anything was.
FailureOr<bool> ReverseMode::decomposeStep(Value loss) {
  SmallVector<Operation *> work;
  llvm::DenseSet<Value> reached{loss};
  for (Operation &op : llvm::reverse(block)) {
    if (llvm::none_of(op.getResults(), [&](Value value) {
          return active.contains(value) && reached.contains(value);
        }))
      continue;
    reached.insert_range(op.getOperands());
    if (isa<DifferentiableOpInterface>(op))
      continue;
    if (!isa<DecomposableOpInterface>(op)) {
      const Value *from = llvm::find_if(variables, [&](Value variable) {
        return llvm::is_contained(op.getOperands(), variable);
      });
      InFlightDiagnostic diagnostic = op.emitError("'")
                                      << getUserName(op.getResult(0), "an unnamed operation")
                                      << "': " << op.getName() << " has no gradient, but the loss "
                                      << "depends on trained parameters through it";
      if (from != variables.end())
        diagnostic << " ('" << getUserName(*from) << "')";
      return diagnostic;
    }
    work.push_back(&op);
  }
  for (Operation *op : work)
    if (failed(replaceByDecomposition(op)))
      return failure();
  return !work.empty();
}

void ReverseMode::add(Value value, Value gradient, OpBuilderWithLayouts &b) {
  Value &sum = gradients[value];
  sum = sum ? Value(b.create<AddOp>(sum, gradient)) : gradient;
}

LogicalResult ReverseMode::sweep(Operation *op, OpBuilderWithLayouts &b) {
  SmallVector<Value> resultGradients, operands(op->getOperands());
  for (Value result : op->getResults())
    resultGradients.push_back(gradients.lookup(result));
  SmallVector<bool> needed;
  for (Value operand : operands)
    needed.push_back(active.contains(operand));
  if (op->hasTrait<NoGradient>() || llvm::none_of(resultGradients, [](Value v) { return !!v; }) ||
      !llvm::is_contained(needed, true))
    return success();

  b.setLoc(backwardLoc(op->getLoc()));
  SmallVector<Value> operandGradients(operands.size());
  auto differentiable = cast<DifferentiableOpInterface>(op);
  if (failed(differentiable.buildGradient(b, resultGradients, needed, operandGradients)) ||
      b.failed())
    return failure();
  for (auto [i, operand] : llvm::enumerate(operands)) {
    if (!needed[i] || !operandGradients[i])
      continue;
    Type expected = gradientType(operand.getType());
    if (operandGradients[i].getType() != expected)
      return op->emitOpError("has a gradient of type ")
             << operandGradients[i].getType() << " for operand " << i << ", expects: " << expected;
    add(operand, operandGradients[i], b);
  }
  return success();
}

LogicalResult ReverseMode::run(Value loss) {
  FailureOr<bool> changed;
  do {
    markActive();
    // Decomposing may replace the loss itself: the terminator knows its successor.
    unsigned position = llvm::find(block.getTerminator()->getOperands(), loss) -
                        block.getTerminator()->operand_begin();
    changed = decomposeStep(loss);
    if (failed(changed))
      return failure();
    loss = block.getTerminator()->getOperand(position);
  } while (*changed);
  if (!active.contains(loss))
    return success();

  SmallVector<Operation *> forward;
  for (Operation &op : block.without_terminator())
    forward.push_back(&op);
  OpBuilderWithLayouts b(block.getTerminator());
  b.setLoc(backwardLoc(loss.getLoc()));
  RankedTensorType type = gradientType(loss.getType());
  auto plain = withLayout(type, {});
  Attribute one = b.getFloatAttr(type.getElementType(), 1);
  gradients[loss] = b.create<ConstantOp>(type, cast<ElementsAttr>(Attribute(
                                                   DenseElementsAttr::get(plain, one))));
  for (Operation *op : llvm::reverse(forward))
    if (failed(sweep(op, b)))
      return failure();
  return success();
}

} // namespace colrow
