//===- SumPartials.cpp - one g for a sum of partial values -----------------===//
//
// Attention and MLP of a parallel residual block (GPT-J) are summed before anything else reads them:
//
//   x + (g(a) + bias) + g(m)   is   x + bias + g(a + m)
//
// Partial summands may be added (L4), so one all-reduce does. The order of the sum changes, as
// addition on paper allows.
//
//===----------------------------------------------------------------------===//

#include "passes/shard/Regions.h"

using namespace mlir;

namespace colrow {

/// The add that alone reads this one and makes as large a sum.
static AddOp nextSum(AddOp add) {
  if (!add->hasOneUse())
    return {};
  auto user = dyn_cast<AddOp>(*add->user_begin());
  return user && user.getType() == add.getType() ? user : AddOp();
}

static void collectSummands(AddOp add, SmallVectorImpl<Value> &summands) {
  for (Value operand : add->getOperands()) {
    auto inner = operand.getDefiningOp<AddOp>();
    if (inner && nextSum(inner) == add)
      collectSummands(inner, summands);
    else
      summands.push_back(operand);
  }
}

/// Of the summands that g alone makes for this sum, those that may be added before it: the largest
/// set of one layout.
static SmallVector<GOp> summedBefore(AddOp root, ArrayRef<Value> summands) {
  llvm::MapVector<std::pair<Type, Attribute>, SmallVector<GOp>> byLayout;
  for (Value value : summands) {
    auto g = value.getDefiningOp<GOp>();
    if (!g || !g->hasOneUse() || g.getType() != root.getType())
      continue;
    bool isMax = llvm::any_of(g.getAxes(), [&](Attribute axis) {
      return getState(g.getInput().getType(), cast<StringAttr>(axis)).isPartialMax();
    });
    if (!isMax)
      byLayout[{g.getInput().getType(), g.getAxes()}].push_back(g);
  }
  SmallVector<GOp> best;
  for (auto &[layout, gs] : byLayout)
    if (gs.size() > best.size())
      best = gs;
  return best.size() < 2 ? SmallVector<GOp>() : best;
}

void reduceSumsOnce(func::FuncOp function) {
  SmallVector<AddOp> roots;
  function.walk([&](AddOp add) {
    if (!nextSum(add))
      roots.push_back(add);
  });
  for (AddOp root : roots) {
    SmallVector<Value> summands;
    collectSummands(root, summands);
    SmallVector<GOp> reduced = summedBefore(root, summands);
    if (reduced.empty())
      continue;
    OpBuilder builder(root);
    Value sum = reduced.front().getInput();
    for (GOp g : ArrayRef(reduced).drop_front())
      sum = AddOp::create(builder, g.getLoc(), sum.getType(), sum, g.getInput());
    sum = GOp::create(builder, root.getLoc(), root.getType(), sum, reduced.front().getAxes());
    for (Value summand : summands)
      if (!llvm::is_contained(reduced, summand.getDefiningOp<GOp>()))
        sum = AddOp::create(builder, root.getLoc(), root.getType(), sum, summand);
    root.getResult().replaceAllUsesWith(sum);
  }
  // The old sums, last first.
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(function.getBody().front())))
    if (isa<AddOp, GOp>(op) && op.use_empty())
      op.erase();
}

} // namespace colrow
