//===- RepeatViews.cpp - the backward pass sees for itself -----------------===//

#include "dialect/Colrow.h"
#include "passes/lower/Passes.h"
#include "passes/lower/Plan.h"

using namespace mlir;

namespace colrow {
#define GEN_PASS_DEF_REPEATVIEWS
#include "passes/lower/Passes.h.inc"

namespace {

int64_t elementsOf(Value value) { return cast<RankedTensorType>(value.getType()).getNumElements(); }

class RepeatViews : public impl::RepeatViewsBase<RepeatViews> {
public:
  void runOnOperation() override {
    for (auto function : getOperation().getOps<func::FuncOp>()) {
      again.clear();
      for (Operation &op : llvm::make_early_inc_range(function.getOps()))
        if (isBackward(&op))
          for (OpOperand &operand : op.getOpOperands())
            if (acceptsStrides(operand) && seesOtherOrder(operand.get()))
              operand.set(seenAgain(operand.get(), &op));
    }
  }

private:
  /// Whether an operation of the forward pass only sees its operand in another way. A slice alone is
  /// less to keep than what it is taken from, slices of all of it are not.
  static bool isForwardView(Value value) {
    Operation *op = value.getDefiningOp();
    if (!op || isBackward(op))
      return false;
    if (auto reshape = dyn_cast<ReshapeOp>(op))
      return takesDimensionsApart(reshape);
    if (isa<TransposeOp>(op))
      return true;
    if (!isa<SliceOp>(op))
      return false;
    int64_t taken = 0;
    for (Operation *user : op->getOperand(0).getUsers())
      if (isa<SliceOp>(user) && !isBackward(user))
        taken += elementsOf(user->getResult(0));
    return taken >= elementsOf(op->getOperand(0));
  }

  /// Reshapes alone are the same memory anyway.
  static bool seesOtherOrder(Value value) {
    for (; isForwardView(value); value = value.getDefiningOp()->getOperand(0))
      if (!isa<ReshapeOp>(value.getDefiningOp()))
        return true;
    return false;
  }

  Value seenAgain(Value value, Operation *reader) {
    if (!isForwardView(value))
      return value;
    Value &known = again[value];
    if (!known) {
      Operation *op = value.getDefiningOp();
      Value source = seenAgain(op->getOperand(0), reader);
      Operation *copy = op->clone();
      copy->setOperand(0, source);
      copy->setLoc(FusedLoc::get(op->getContext(), {op->getLoc()},
                                 StringAttr::get(op->getContext(), "backward")));
      OpBuilder(reader).insert(copy);
      again[value] = copy->getResult(0);
      return copy->getResult(0);
    }
    return known;
  }

  DenseMap<Value, Value> again;
};

} // namespace
} // namespace colrow
