//===- JoinPads.cpp - sums of paddings that lie side by side --------------===//

#include "dialect/Colrow.h"
#include "passes/lower/Passes.h"

using namespace mlir;

namespace colrow {
#define GEN_PASS_DEF_JOINPADS
#include "passes/lower/Passes.h.inc"

namespace {

/// A tensor among zeros along one dimension.
struct Part {
  int64_t begin, end, dim;
  Value value;

  static std::optional<Part> match(Value padded) {
    auto pad = padded.getDefiningOp<PadOp>();
    if (!pad || !pad.getValue().isZero())
      return std::nullopt;
    std::optional<int64_t> dim;
    for (auto [i, sides] : llvm::enumerate(llvm::zip(pad.getLow(), pad.getHigh(), pad.getSteps()))) {
      auto [low, high, step] = sides;
      if (step != 1 || ((low || high) && dim))
        return std::nullopt;
      if (low || high)
        dim = i;
    }
    if (!dim)
      return std::nullopt;
    int64_t begin = pad.getLow()[*dim];
    return Part{begin, begin + pad.getInput().getType().getDimSize(*dim), *dim, pad.getInput()};
  }
};

/// The summands of a value, where its sums are read once and have no broadcast.
void collectSummands(Value value, Type type, SmallVectorImpl<Value> &summands, bool outermost) {
  auto add = value.getDefiningOp<AddOp>();
  if (!add || add.getType() != type || (!outermost && !value.hasOneUse())) {
    summands.push_back(value);
    return;
  }
  collectSummands(add.getLhs(), type, summands, false);
  collectSummands(add.getRhs(), type, summands, false);
}

struct JoinPads : impl::JoinPadsBase<JoinPads> {
  void runOnOperation() override {
    for (auto function : getOperation().getOps<func::FuncOp>()) {
      if (function.isDeclaration())
        continue;
      // From the end, so that the outermost sum comes first.
      for (Operation &op : llvm::make_early_inc_range(llvm::reverse(function.getBody().front()))) {
        if (isOpTriviallyDead(&op))
          op.erase();
        else if (auto add = dyn_cast<AddOp>(op))
          join(add);
      }
    }
  }

  static void join(AddOp add) {
    SmallVector<Value> summands;
    collectSummands(add, add.getType(), summands, true);
    SmallVector<Part> parts;
    for (Value summand : summands) {
      std::optional<Part> part = Part::match(summand);
      if (!part || summand.getType() != add.getType() ||
          (!parts.empty() && part->dim != parts.front().dim))
        return;
      parts.push_back(*part);
    }
    llvm::sort(parts, [](const Part &a, const Part &b) { return a.begin < b.begin; });
    int64_t end = 0;
    SmallVector<Value> values;
    for (const Part &part : parts) {
      if (part.begin != end)
        return;
      end = part.end;
      values.push_back(part.value);
    }
    int64_t dim = parts.front().dim;
    if (end != add.getType().getDimSize(dim))
      return;
    OpBuilder builder(add);
    auto joined = ConcatOp::create(builder, add.getLoc(), add.getType(), values, dim);
    add.getResult().replaceAllUsesWith(joined.getResult());
    add.erase();
  }
};

} // namespace
} // namespace colrow
