//===- Recompute.cpp - what the backward pass computes again ---------------===//
//
// As in Korthikanti et al., "Reducing Activation Recomputation in Large Transformer Models" (arXiv
// 2205.05198), section 5: what takes much memory and little time is not kept. Here it is what one
// pass over memory makes from values that are kept anyway: the results of norms above all.
//
//===----------------------------------------------------------------------===//

#include "dialect/Colrow.h"
#include "passes/lower/Elementwise.h"
#include "passes/lower/Passes.h"
#include "passes/lower/Plan.h"

using namespace mlir;

namespace colrow {
#define GEN_PASS_DEF_RECOMPUTE
#include "passes/lower/Passes.h.inc"

namespace {

/// Whether an operation takes hardly longer than reading its operands and writing its result does.
/// gelu and silu do not, in vectors; parts of such that were not recognised may form long chains.
bool isCheap(Operation *op) {
  if (op->hasAttr(inPlaceAttrName))
    return false;
  if (isa<LayerNormOp, LayerNormWithStatisticsOp, RmsNormOp, RmsNormWithStatisticsOp>(op))
    return true;
  return isElementwise(op) && !isa<ExpOp, LogOp, SqrtOp, TanhOp, ErfOp, SinOp, CosOp, SigmoidOp,
                                   PowOp, ModOp, GeluGradOp, SiluGradOp>(op);
}

/// Whether an operation only sees its operand in another way, for readers that take strides.
bool isViewLike(Operation *op) { return isa<ReshapeOp, TransposeOp, SliceOp, BroadcastOp>(op); }

int64_t elementsOf(Value value) { return cast<RankedTensorType>(value.getType()).getNumElements(); }

class Recompute : public impl::RecomputeBase<Recompute> {
public:
  void runOnOperation() override {
    for (auto function : getOperation().getOps<func::FuncOp>()) {
      if (function.isDeclaration())
        continue;
      chosen.clear();
      again.clear();
      Block &body = function.getBody().front();
      for (Operation &op : body)
        if (!isBackward(&op) && isCheap(&op) && saves(&op))
          recompute(&op);
      // What the forward pass computed for the backward pass alone has no reader now.
      for (Operation &op : llvm::make_early_inc_range(llvm::reverse(body)))
        if (!isBackward(&op) && isOpTriviallyDead(&op))
          op.erase();
    }
  }

private:
  /// The operands of the backward pass that a value of the forward pass reaches, through views of
  /// it; nothing where it leaves the function.
  std::optional<SmallVector<OpOperand *>> backwardReaders(Value value) {
    SmallVector<OpOperand *> readers;
    for (OpOperand &use : value.getUses()) {
      Operation *user = use.getOwner();
      if (user->hasTrait<OpTrait::IsTerminator>())
        return {};
      if (isBackward(user)) {
        readers.push_back(&use);
      } else if (isViewLike(user)) {
        std::optional<SmallVector<OpOperand *>> more = backwardReaders(user->getResult(0));
        if (!more)
          return {};
        readers.append(*more);
      }
    }
    return readers;
  }

  /// Whether the backward pass has a value at no cost: it is there throughout, or is kept for other
  /// readers, or was found to be computed again, or can be from such values.
  bool isAvailable(Value value, int depth = 0) {
    constexpr int deepest = 4; // a chain of this many passes over memory costs more than it saves
    Operation *op = value.getDefiningOp();
    if (!op || isa<ConstantOp>(op) || chosen.contains(value))
      return true;
    if (auto readers = backwardReaders(value); !readers || !readers->empty())
      return true;
    if (isViewLike(op))
      return isAvailable(op->getOperand(0), depth);
    return depth < deepest && isCheap(op) && llvm::all_of(op->getOperands(), [&](Value operand) {
      return isAvailable(operand, depth + 1);
    });
  }

  /// Whether an operation's first result is kept now, and what makes it again is smaller or kept
  /// anyway.
  bool saves(Operation *op) {
    Value result = op->getResult(0);
    auto readers = backwardReaders(result);
    return readers && !readers->empty() && llvm::all_of(op->getOperands(), [&](Value operand) {
      return elementsOf(operand) <= elementsOf(result) && isAvailable(operand, 1);
    });
  }

  void recompute(Operation *op) {
    Value result = op->getResult(0);
    SmallVector<OpOperand *> readers = *backwardReaders(result);
    llvm::sort(readers, [](OpOperand *a, OpOperand *b) {
      return a->getOwner()->isBeforeInBlock(b->getOwner());
    });
    chosen.insert(result);
    for (OpOperand *reader : readers)
      reader->set(computedAgain(reader->get(), reader->getOwner()));
  }

  /// The value that is `value` in the backward pass, there before `reader`.
  Value computedAgain(Value value, Operation *reader) {
    Operation *op = value.getDefiningOp();
    if (!op || isa<ConstantOp>(op) || !isMadeAgain(value))
      return value;
    if (Value known = again.lookup(value)) {
      moveBefore(known.getDefiningOp(), reader);
      return known;
    }
    Operation *copy = op->clone();
    copy->setLoc(recomputedLocation(op->getLoc()));
    OpBuilder(reader).insert(copy);
    again[value] = copy->getResult(0);
    for (OpOperand &operand : copy->getOpOperands())
      operand.set(computedAgain(operand.get(), copy));
    return copy->getResult(0);
  }

  /// Whether a value is not kept: it was chosen, is a view of such a value, or is on the way to one.
  bool isMadeAgain(Value value) {
    for (Value source = value; ; source = source.getDefiningOp()->getOperand(0)) {
      if (chosen.contains(source) || again.count(source))
        return true;
      if (!source.getDefiningOp() || !isViewLike(source.getDefiningOp()))
        break;
    }
    auto readers = backwardReaders(value);
    return readers && readers->empty();
  }

  /// Moves an operation that was made again, and what it needs of such, before an earlier reader.
  void moveBefore(Operation *op, Operation *reader) {
    if (op->isBeforeInBlock(reader))
      return;
    op->moveBefore(reader);
    for (Value operand : op->getOperands())
      if (Operation *source = operand.getDefiningOp(); source && isRecomputed(source))
        moveBefore(source, op);
  }

  DenseSet<Value> chosen;
  DenseMap<Value, Value> again; ///< from the forward pass to the backward pass
};

} // namespace
} // namespace colrow
