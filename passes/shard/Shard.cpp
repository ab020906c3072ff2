//===- Shard.cpp - tensor parallelism by regions --------------------------===//

#include "passes/shard/Passes.h"
#include "passes/shard/Regions.h"
#include "passes/shard/Units.h"
#include "mlir/IR/Remarks.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"

#include <numeric>

using namespace mlir;

namespace colrow {
#define GEN_PASS_DEF_SHARD
#include "passes/shard/Passes.h.inc"

namespace {

/// The values of tp that divide the units, in a sentence.
std::string divisorsOf(int64_t units) {
  std::string text;
  for (int64_t ranks = 1; ranks <= units; ++ranks)
    if (units % ranks == 0)
      text += (text.empty() ? "" : ", ") + std::to_string(ranks);
  return text;
}

struct Shard : impl::ShardBase<Shard> {
  using ShardBase::ShardBase;

  void runOnOperation() override {
    GridAttr grid = getGrid(getOperation());
    if (!grid || grid.sizeOf(axis) == 0) {
      getOperation().emitError("has no grid with axis '") << axis << "': run colrow-set-grid first";
      return signalPassFailure();
    }
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (failed(shard(function, grid.sizeOf(axis))))
        return signalPassFailure();
  }

  LogicalResult shard(func::FuncOp function, int64_t ranks) {
    if (ranks == 1)
      return success();
    StringAttr name = StringAttr::get(&getContext(), axis);
    RegionGrower grower(function, name);
    std::vector<Region> regions = grower.growAll();
    SmallVector<const Region *> chosen;
    filledUp.clear();
    texts.clear();
    for (size_t index : chooseRegions(regions)) {
      Region &region = regions[index];
      texts[&region] = describe(region); // with the sizes that its user knows
      if (region.isVocabulary) {
        if (failed(padVocabulary(region, grower, name, ranks)))
          return failure();
      } else if (int64_t units = region.units(name); units % ranks != 0) {
        if (failed(padUnits(region, grower, name, ranks)))
          return region.seed->emitError("'")
                 << getUserName(region.seed->getResult(0), "an unnamed product")
                 << "': " << units << " heads or units of a block do not divide over " << axis
                 << " = " << ranks << "; values that would do: " << divisorsOf(units);
        filledUp[&region] = units;
      }
      chosen.push_back(&region);
    }
    applyRegions(function, chosen, name);
    explain(function, chosen, regions, ranks);
    return success();
  }

  /// How the seed's users of a parameter make use of the cut: the field's word for it.
  StringRef ruleName(const Region &region, BlockArgument parameter) {
    if (region.isVocabulary)
      return "vocabulary-parallel";
    for (OpOperand &use : parameter.getUses()) {
      Operation *op = use.getOwner();
      auto cut = region.ops.find(op);
      if (cut == region.ops.end() || !isa<MatrixProductOpInterface>(op))
        continue;
      ShardingRule rule = cast<ShardingRuleOpInterface>(op).getShardingRule();
      return rule.factors[cut->second.factor].kind == FactorKind::sum ? "row-parallel"
                                                                      : "column-parallel";
    }
    return "cut with its region";
  }

  void explain(func::FuncOp function, ArrayRef<const Region *> chosen,
               ArrayRef<Region> all, int64_t ranks) {
    auto setReason = [&](BlockArgument parameter, StringRef rule, const Twine &because) {
      OpBuilder builder(&getContext());
      function.setArgAttr(parameter.getArgNumber(), "colrow.rule", builder.getStringAttr(rule));
      function.setArgAttr(parameter.getArgNumber(), "colrow.because",
                          builder.getStringAttr(because));
    };
    for (const Region *region : chosen) {
      remark::passed(region->seed->getLoc(),
                     remark::RemarkOpts::name("Region").category("colrow-shard"))
          << "cuts " << texts[region] << " over " << axis << ": "
          << remark::metric("Weights", static_cast<int64_t>(region->parameters.size()))
          << remark::metric("Gflop", region->flops * 1e-9)
          << remark::metric("Collectives", region->collectives);
      std::string padding;
      if (auto units = filledUp.find(region); units != filledUp.end()) {
        int64_t padded = llvm::alignTo(units->second, ranks);
        padding = llvm::formatv(", {0} of its units stored as {1}", units->second, padded);
        remark::missed(region->seed->getLoc(),
                       remark::RemarkOpts::name("Padded").category("colrow-shard"))
            << llvm::formatv("stores {0} as {1} units for {2}, which {3} = {4} does not divide: ",
                             texts[region], padded, units->second, axis, ranks)
                   .str()
            << remark::metric("MoreGflop", region->flops * 1e-9 *
                                               static_cast<double>(padded - units->second) /
                                               static_cast<double>(units->second));
      }
      for (BlockArgument parameter : region->parameters)
        setReason(parameter, ruleName(*region, parameter), "with " + texts[region] + padding);
    }
    for (BlockArgument argument : function.getArguments()) {
      if (getRole(function, argument.getArgNumber()) != "parameter" ||
          getState(argument.getType(), StringAttr::get(&getContext(), axis)).isShard())
        continue;
      std::string because = "no product is divided by cutting it";
      for (const Region &region : all)
        if (region.obstacle && llvm::is_contained(region.parameters, argument)) {
          Operation *op = region.obstacle->op;
          because = (op ? "'" + getUserName(op->getResult(0), op->getName().getStringRef()) + "' "
                        : std::string()) +
                    region.obstacle->text;
          break;
        }
      setReason(argument, "whole", because);
      remark::missed(argument.getLoc(),
                     remark::RemarkOpts::name("Whole").category("colrow-shard"))
          << "'" << getUserName(argument) << "' stays whole: " << because;
    }
  }

  DenseMap<const Region *, std::string> texts;
  DenseMap<const Region *, int64_t> filledUp; ///< the units of regions that were padded
};

} // namespace

int64_t unitsToDivide(func::FuncOp function, StringRef axis) {
  StringAttr name = StringAttr::get(function.getContext(), axis);
  std::vector<Region> regions = RegionGrower(function, name).growAll();
  int64_t units = 0;
  for (size_t index : chooseRegions(regions))
    if (!regions[index].isVocabulary)
      units = std::gcd(units, regions[index].units(name));
  return units;
}

} // namespace colrow
