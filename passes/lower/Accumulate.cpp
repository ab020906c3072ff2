//===- Accumulate.cpp - gradients are added in place ----------------------===//

#include "dialect/Colrow.h"
#include "passes/lower/Passes.h"
#include "passes/lower/Plan.h"

using namespace mlir;

namespace colrow {
#define GEN_PASS_DEF_ACCUMULATE
#include "passes/lower/Passes.h.inc"

namespace {

class Accumulate : public impl::AccumulateBase<Accumulate> {
public:
  void runOnOperation() override {
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (!function.isDeclaration())
        run(function);
  }

private:
  void run(func::FuncOp function) {
    Operation *end = function.getBody().front().getTerminator();
    for (unsigned i = 0; i < function.getNumResults(); ++i) {
      std::optional<unsigned> tied = getTiedArgument(function, i);
      auto sum = end->getOperand(i).getDefiningOp<AddOp>();
      if (!tied || !sum || !sum->hasOneUse())
        continue;
      BlockArgument old = function.getArgument(*tied);
      if (!old.hasOneUse() || sum.getLhs() == sum.getRhs() ||
          (sum.getLhs() != old && sum.getRhs() != old))
        continue;
      Value added = sum.getLhs() == old ? sum.getRhs() : sum.getLhs();
      if (added.getType() != old.getType())
        continue;
      if (getRole(function, *tied) == "gradient")
        function.setArgAttr(*tied, beginsAttrName, UnitAttr::get(&getContext()));
      Value total = accumulate(old, added, sum.getLoc());
      end->setOperand(i, total);
      sum->erase();
    }
  }

  /// total + added, marked and placed behind what it needs. `added` may be a sum of its own that
  /// nothing else reads.
  Value accumulate(Value total, Value added, Location loc) {
    auto inner = added.getDefiningOp<AddOp>();
    bool onlyHere = inner && inner->hasOneUse() && inner.getLhs().getType() == added.getType() &&
                    inner.getRhs().getType() == added.getType();
    if (onlyHere) {
      total = accumulate(total, inner.getLhs(), loc);
      return accumulate(total, inner.getRhs(), loc);
    }
    OpBuilder builder(loc.getContext());
    Operation *before = total.getDefiningOp(), *source = added.getDefiningOp();
    if (before && source && source->isBeforeInBlock(before))
      source = nullptr;
    if (source)
      builder.setInsertionPointAfter(source);
    else if (before)
      builder.setInsertionPointAfter(before);
    else
      builder.setInsertionPointToStart(added.getParentBlock());
    auto sum = AddOp::create(builder, loc, total.getType(), total, added);
    sum->setAttr(inPlaceAttrName, builder.getI64IntegerAttr(0));
    if (!before)
      sum->setAttr(beginsAttrName, builder.getUnitAttr());
    return sum;
  }
};

} // namespace
} // namespace colrow
