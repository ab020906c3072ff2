//===- Steps.cpp - operations into steps: calls and loops -----------------===//
//
// Elementwise operations that follow one another and have the same elements (reshapes between them
// do not matter) become one loop. Values that only the loop reads never reach memory.
//
//===----------------------------------------------------------------------===//

#include "colrow/KernelsLoss.h"
#include "dialect/Colrow.h"
#include "passes/lower/Elementwise.h"
#include "passes/lower/Plan.h"

using namespace mlir;

namespace colrow {

bool acceptsStrides(OpOperand &operand) {
  Operation *reader = operand.getOwner();
  if (isElementwise(reader) && !isa<BroadcastOp>(reader))
    return true;
  if (isa<EinsumOp, TransposeOp, SliceOp, ConcatOp, ReshapeOp>(reader))
    return true;
  // Gradient, query, key and value.
  if (isa<AttentionOp, AttentionWithStatisticsOp>(reader))
    return operand.getOperandNumber() < 3;
  return isa<AttentionGradOp>(reader) && operand.getOperandNumber() < 4;
}

std::optional<ArrayRef<int64_t>> writtenOrder(Value value) {
  auto result = dyn_cast<OpResult>(value);
  if (!result || !result.hasOneUse())
    return {};
  bool any = isa<AttentionGradOp>(result.getOwner()) ||
             (isa<AttentionOp, AttentionWithStatisticsOp>(result.getOwner()) &&
              result.getResultNumber() == 0);
  auto reader = any ? dyn_cast<TransposeOp>(*result.user_begin()) : TransposeOp();
  return reader ? std::optional(reader.getPermutation()) : std::nullopt;
}

/// Whether the elements of a slice lie one behind the other in a contiguous tensor.
static bool isContiguousSlice(SliceOp slice) {
  auto from = slice.getInput().getType().getShape(), to = slice.getType().getShape();
  size_t cut = 0;
  while (cut < to.size() && to[cut] == 1)
    ++cut;
  if (cut == to.size())
    return true;
  return slice.getSteps()[cut] == 1 && from.drop_front(cut + 1) == to.drop_front(cut + 1);
}

/// Whether the elements of a value lie one behind the other.
static bool isContiguousValue(Value value) {
  Operation *op = value.getDefiningOp();
  if (!op || !isView(op))
    return true;
  if (auto slice = dyn_cast<SliceOp>(op))
    return isContiguousSlice(slice) && isContiguousValue(slice.getInput());
  if (isa<TransposeOp>(op))
    return writtenOrder(op->getOperand(0)).has_value();
  return isa<ReshapeOp>(op) && isContiguousValue(op->getOperand(0));
}

bool takesDimensionsApart(Operation *reshape) {
  auto from = cast<RankedTensorType>(reshape->getOperand(0).getType()).getShape();
  auto to = cast<RankedTensorType>(reshape->getResult(0).getType()).getShape();
  return takenApart(from, rowMajorStrides(from), to).has_value();
}

bool isView(Operation *op) {
  // Dimensions of what lies in another order, or with holes, can be taken apart but not joined.
  if (auto reshape = dyn_cast<ReshapeOp>(op))
    return isContiguousValue(reshape.getInput()) ||
           (takesDimensionsApart(reshape) && llvm::all_of(reshape->getUses(), acceptsStrides));
  if (auto slice = dyn_cast<SliceOp>(op))
    if (isContiguousSlice(slice) && isContiguousValue(slice.getInput()))
      return true;
  if (isa<TransposeOp>(op) && writtenOrder(op->getOperand(0)))
    return true;
  if (!isa<TransposeOp, SliceOp, BroadcastOp>(op))
    return false;
  return llvm::all_of(op->getResult(0).getUses(), [&](OpOperand &use) {
    if (isa<BroadcastOp>(op)) // products and copies would read every element again and again
      return isElementwise(use.getOwner()) && !isa<BroadcastOp>(use.getOwner());
    return acceptsStrides(use);
  });
}

SmallVector<RankedTensorType> workspaceTypes(Operation *op) {
  auto floats = [&](ArrayRef<int64_t> shape) {
    return RankedTensorType::get(shape, Float32Type::get(op->getContext()));
  };
  if (auto norm = dyn_cast<LayerNormOp>(op)) {
    auto rows = floats(norm.getInput().getType().getShape().take_front(norm.getAxis()));
    return {rows, rows}; // mean and rstd, which only a gradient would read
  }
  if (auto norm = dyn_cast<RmsNormOp>(op))
    return {floats(norm.getInput().getType().getShape().take_front(norm.getAxis()))}; // rstd
  if (auto attention = dyn_cast<AttentionOp>(op))
    return {floats(attention.getQuery().getType().getShape().drop_back())}; // log-sum-exp, likewise
  if (auto loss = dyn_cast<CrossEntropyOp>(op))
    return {floats(loss.getLabels().getType().getShape())}; // log-sum-exp, likewise
  if (isa<LinearCrossEntropyOp, LinearCrossEntropyWithGradOp>(op)) {
    int64_t tokens = cast<RankedTensorType>(op->getOperand(2).getType()).getNumElements();
    int64_t columns = cast<RankedTensorType>(op->getOperand(1).getType()).getShape()[0];
    Shape logits = logitWorkspace(tokens, columns);
    return {floats({logits.begin(), logits.end()})};
  }
  return {};
}

namespace {

class StepBuilder {
public:
  explicit StepBuilder(FunctionPlan &plan) : plan(plan) {}

  void run() {
    for (Operation &op : plan.function.getBody().front().without_terminator()) {
      if (isa<ConstantOp>(op) || isView(&op))
        continue; // no step: a number or memory that is already there
      if (Operation *product = accumulated(&op)) {
        closeLoop();
        plan.steps.emplace_back(Step::accumulate, ArrayRef<Operation *>{product, &op});
      } else if (isElementwise(&op)) {
        addToLoop(&op);
      } else if (!isAccumulatedLater(&op)) {
        closeLoop();
        plan.steps.emplace_back(Step::call, &op);
      }
    }
    closeLoop();
    for (Step &step : plan.steps)
      // Of a product added to a gradient the product counts: the loss with its gradients is forward.
      step.backward = step.kind == Step::accumulate ? isBackward(step.ops[0])
                                                    : llvm::any_of(step.ops, isBackward);
    findStored();
  }

private:
  /// The product that a marked sum adds in place, if its kernel can do so.
  static Operation *accumulated(Operation *op) {
    auto mark = op->getAttrOfType<IntegerAttr>(inPlaceAttrName);
    auto sum = dyn_cast<AddOp>(op);
    if (!mark || !sum || mark.getInt() != 0)
      return nullptr;
    Operation *source = sum.getRhs().getDefiningOp();
    bool adds = isa_and_nonnull<EinsumOp, TakeGradOp, TakeAlongGradOp>(source) ||
                (isa_and_nonnull<LinearCrossEntropyWithGradOp>(source) &&
                 sum.getRhs() == source->getResult(2));
    return adds && sum.getRhs().hasOneUse() ? source : nullptr;
  }

  /// Whether it is done in the step of the sum that reads it.
  static bool isAccumulatedLater(Operation *op) {
    return llvm::any_of(op->getUsers(), [&](Operation *user) { return accumulated(user) == op; });
  }

  void addToLoop(Operation *op) {
    auto shape = cast<RankedTensorType>(op->getResult(0).getType()).getShape();
    std::optional<SmallVector<int64_t>> refined;
    if (!loop.empty() && elements == cast<RankedTensorType>(op->getResult(0).getType()).getNumElements() &&
        readsWholly(op))
      refined = commonRefinement(loopShape, shape);
    if (!refined) {
      closeLoop();
      refined = commonRefinement(shape, shape);
      elements = cast<RankedTensorType>(op->getResult(0).getType()).getNumElements();
    }
    loopShape = *refined;
    loop.push_back(op);
    members.insert(op);
  }

  /// Whether what the operation reads of the loop is element by element: directly or through
  /// reshapes. Anything else has to wait until the loop is done.
  bool readsWholly(Operation *op) {
    for (Value operand : op->getOperands()) {
      bool moved = false;
      Value value = operand;
      while (Operation *view = value.getDefiningOp()) {
        if (members.contains(view))
          break;
        if (!isView(view))
          break;
        moved |= !isa<ReshapeOp>(view);
        value = view->getOperand(0);
      }
      Operation *source = value.getDefiningOp();
      if (source && members.contains(source) &&
          (moved || cast<RankedTensorType>(operand.getType()).getNumElements() != elements))
        return false;
    }
    return true;
  }

  void closeLoop() {
    if (loop.empty())
      return;
    Step step{Step::loop, loop};
    step.shape = loopShape;
    plan.steps.push_back(step);
    loop.clear();
    members.clear();
  }

  /// What is read outside of its loop has to be in memory, and what is added to where it lies.
  void findStored() {
    for (Step &step : plan.steps) {
      if (step.kind != Step::loop)
        continue;
      llvm::SmallPtrSet<Operation *, 8> inside(step.ops.begin(), step.ops.end());
      for (Operation *op : step.ops)
        if (op->hasAttr(inPlaceAttrName) || readOutside(op->getResult(0), inside))
          plan.stored.insert(op->getResult(0));
    }
  }

  static bool readOutside(Value value, const llvm::SmallPtrSetImpl<Operation *> &inside) {
    return llvm::any_of(value.getUsers(), [&](Operation *user) {
      if (inside.contains(user))
        return false;
      return !isa<ReshapeOp>(user) || readOutside(user->getResult(0), inside);
    });
  }

  FunctionPlan &plan;
  SmallVector<Operation *> loop;
  llvm::SmallPtrSet<Operation *, 8> members;
  SmallVector<int64_t> loopShape;
  int64_t elements = 0;
};

} // namespace

void planSteps(FunctionPlan &plan) { StepBuilder(plan).run(); }

} // namespace colrow
