//===- Explain.cpp - what was cut and why, in the user's names -------------===//

#include "passes/shard/Sharder.h"
#include "mlir/IR/Remarks.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;

namespace colrow {

/// Whether an operation reads a parameter, as it is or behind f.
static bool reads(Operation *op, BlockArgument parameter) {
  return llvm::any_of(op->getOperands(), [&](Value value) {
    if (auto f = value.getDefiningOp<FOp>())
      value = f.getInput();
    return value == parameter;
  });
}

/// How the region's users of a parameter make use of the cut: the field's word for it.
static StringRef ruleName(const Region &region, BlockArgument parameter) {
  if (region.isVocabulary)
    return "vocabulary-parallel";
  for (auto &[op, cut] : region.ops) {
    if (!isa<MatrixProductOpInterface>(op) || !reads(op, parameter))
      continue;
    ShardingRule rule = cast<ShardingRuleOpInterface>(op).getShardingRule();
    return rule.factors[cut.factor].kind == FactorKind::sum ? "row-parallel" : "column-parallel";
  }
  return "cut with its region";
}

static std::string explainRegion(const Sharder::Cut &cut, bool isFactored) {
  Location loc = cut.region.seed->getLoc();
  std::string over = cut.axis.str();
  remark::passed(loc, remark::RemarkOpts::name("Region").category("colrow-shard"))
      << "cuts " << cut.text << " over " << over << ": "
      << remark::metric("Weights", static_cast<int64_t>(cut.region.parameters.size()))
      << remark::metric("Gflop", cut.region.flops * 1e-9)
      << remark::metric("Collectives", cut.region.collectives);
  std::string because = "with " + cut.text + (isFactored ? " over " + over : "");
  if (cut.padded == 0)
    return because;
  remark::missed(loc, remark::RemarkOpts::name("Padded").category("colrow-shard"))
      << llvm::formatv("stores {0} as {1} units for {2}, which {3} = {4} does not divide: ",
                       cut.text, cut.padded, cut.region.units, over, cut.ranks)
             .str()
      << remark::metric("MoreGflop",
                        cut.region.flops * 1e-9 *
                            static_cast<double>(cut.padded - cut.region.units) /
                            static_cast<double>(cut.region.units));
  return because +
         llvm::formatv(", {0} of its units stored as {1}", cut.region.units, cut.padded).str();
}

void explain(func::FuncOp function, const Sharder &sharder, StringRef axis) {
  OpBuilder builder(function.getContext());
  struct Reason {
    std::string rule, because;
  };
  llvm::MapVector<BlockArgument, Reason> reasons;
  for (const Sharder::Cut &cut : sharder.cuts()) {
    std::string because = explainRegion(cut, cut.axis.getValue() != axis);
    for (BlockArgument parameter : cut.region.parameters) {
      Reason &reason = reasons[parameter];
      if (reason.rule.empty())
        reason.rule = ruleName(cut.region, parameter).str();
      reason.because += (reason.because.empty() ? "" : "; ") + because;
    }
  }
  for (BlockArgument argument : function.getArguments()) {
    unsigned i = argument.getArgNumber();
    if (getRole(function, i) != "parameter")
      continue;
    Reason &reason = reasons[argument];
    if (reason.rule.empty()) {
      reason = {"whole", sharder.whyWhole(argument)};
      remark::missed(argument.getLoc(),
                     remark::RemarkOpts::name("Whole").category("colrow-shard"))
          << "'" << getUserName(argument) << "' stays whole: " << reason.because;
    }
    function.setArgAttr(i, "colrow.rule", builder.getStringAttr(reason.rule));
    function.setArgAttr(i, "colrow.because", builder.getStringAttr(reason.because));
  }
}

/// Whether a product, or a lookup at indices that are data, reads the value or a view of it.
static bool isDivisible(Value value) {
  return llvm::any_of(value.getUses(), [](OpOperand &use) {
    Operation *user = use.getOwner();
    if (isa<MatrixProductOpInterface>(user))
      return true;
    if (auto take = dyn_cast<TakeOp>(user))
      return use.getOperandNumber() == 0 && !take.getIds().getDefiningOp<ConstantOp>();
    return isa<ReshapeOp, TransposeOp, CastOp, FOp>(user) && isDivisible(user->getResult(0));
  });
}

LogicalResult requireSharded(func::FuncOp function) {
  std::string whole;
  for (BlockArgument argument : function.getArguments()) {
    unsigned i = argument.getArgNumber();
    auto rule = function.getArgAttrOfType<StringAttr>(i, "colrow.rule");
    if (!rule || rule.getValue() != "whole" ||
        cast<RankedTensorType>(argument.getType()).getRank() < 2 || !isDivisible(argument))
      continue;
    whole += "\n  '" + getUserName(argument) + "': " +
             function.getArgAttrOfType<StringAttr>(i, "colrow.because").str();
  }
  if (!whole.empty())
    return function.emitError("weights that every rank would hold whole:") << whole;
  return success();
}

} // namespace colrow
