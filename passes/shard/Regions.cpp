//===- Regions.cpp - grows a cut through sharding rules -------------------===//

#include "passes/shard/Regions.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;

namespace colrow {

const ShardingRule &RegionGrower::ruleOf(Operation *op) {
  auto it = rules.find(op);
  if (it == rules.end())
    it = rules.try_emplace(op, cast<ShardingRuleOpInterface>(op).getShardingRule()).first;
  return it->second;
}

FactorSizes RegionGrower::sizesOf(Operation *op) {
  const ShardingRule &rule = ruleOf(op);
  FactorSizes sizes;
  for (const Factor &factor : rule.factors)
    sizes.push_back(factor.size);
  GridAttr grid = getGrid(op);
  for (StringAttr axis : outer) {
    auto reduce = [&](TypeRange types, ArrayRef<TensorFactors> tensors) {
      for (auto [type, tensor] : llvm::zip(types, tensors)) {
        AxisState state = getState(type, axis);
        if (!state.isShard())
          continue;
        std::optional<FactorCut> cut = factorOf(rule, sizes, tensor, state);
        assert(cut && "regions cut along factors");
        sizes[cut->factor] /= grid.sizeOf(axis.getValue());
        return true;
      }
      return false;
    };
    if (!reduce(op->getOperandTypes(), rule.operands))
      reduce(op->getResultTypes(), rule.results);
  }
  return sizes;
}

/// Cuts a value and queues the ops around it. False when an obstacle was met.
bool RegionGrower::cutValue(Region &region, Value value, AxisState state) {
  auto [it, isNew] = region.cuts.insert({value, state});
  if (!isNew) {
    if (it->second == state)
      return true;
    region.obstacle = {value.getDefiningOp(), value,
                       llvm::formatv("would be cut in two ways, {0} and {1}", it->second.str(),
                                     state.str())};
    return false;
  }
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    StringRef role = getRole(function, argument.getArgNumber());
    if (role == "parameter")
      region.parameters.push_back(argument);
    else
      region.cutsInput = true;
  } else {
    Operation *op = value.getDefiningOp();
    const ShardingRule &rule = ruleOf(op);
    std::optional<FactorCut> cut =
        factorOf(rule, sizesOf(op),
                 rule.results[cast<OpResult>(value).getResultNumber()], state);
    if (!cut) {
      region.obstacle = {op, value, llvm::formatv("{0} cuts across its structure", state.str())};
      return false;
    }
    work.push_back({op, *cut});
  }
  for (OpOperand &use : value.getUses()) {
    Operation *op = use.getOwner();
    if (isa<func::ReturnOp>(op))
      continue; // outputs leave the program as they are
    const ShardingRule &rule = ruleOf(op);
    std::optional<FactorCut> cut = factorOf(rule, sizesOf(op),
                                            rule.operands[use.getOperandNumber()], state);
    if (!cut) {
      region.obstacle = {op, value, llvm::formatv("{0} cuts across its structure", state.str())};
      return false;
    }
    work.push_back({op, *cut});
  }
  return true;
}

/// Cuts a factor of an op and with it the values that have the factor.
bool RegionGrower::cutOp(Region &region, Operation *op, FactorCut cut) {
  auto [it, isNew] = region.ops.insert({op, cut});
  if (!isNew) {
    if (it->second == cut)
      return true;
    region.obstacle = {op, Value(), "would be cut in two ways at once"};
    return false;
  }
  const ShardingRule &rule = ruleOf(op);
  FactorSizes sizes = sizesOf(op);
  FactorKind kind = rule.factors[cut.factor].kind;
  if (kind == FactorKind::whole) {
    region.obstacle = {op, Value(),
                       llvm::formatv("needs its dimension of {0} whole", sizes[cut.factor])};
    return false;
  }
  for (OpOperand &operand : op->getOpOperands()) {
    std::optional<AxisState> state =
        stateFor(rule, sizes, rule.operands[operand.getOperandNumber()], cut, axis);
    if (!state)
      region.wholes.push_back(&operand);
    else if (operand.get().getDefiningOp<ConstantOp>())
      region.constants.push_back({&operand, *state});
    else if (!cutValue(region, operand.get(), *state))
      return false;
  }
  for (OpResult result : op->getResults()) {
    std::optional<AxisState> state =
        stateFor(rule, sizes, rule.results[result.getResultNumber()], cut, axis);
    if (state) {
      if (!cutValue(region, result, *state))
        return false;
    } else if (kind == FactorKind::sum ||
               llvm::is_contained(rule.partialResults, result.getResultNumber())) {
      region.partials.push_back(result);
    }
  }
  if (kind == FactorKind::inner || (isa<TakeOp>(op) && kind == FactorKind::sum))
    region.isVocabulary = true;
  return true;
}

std::string describe(const Region &region) {
  std::string name = getUserName(region.seed->getResult(0), region.seed->getName().getStringRef());
  ShardingRule rule = cast<ShardingRuleOpInterface>(region.seed).getShardingRule();
  return llvm::formatv("the factor of {0} of '{1}'", rule.factors[region.seedCut.factor].size,
                       name);
}

static double bytesOf(Type type) {
  auto tensor = cast<RankedTensorType>(type);
  return static_cast<double>(tensor.getNumElements()) *
         tensor.getElementTypeBitWidth() / 8;
}

void RegionGrower::measure(Region &region) {
  for (auto &[op, cut] : region.ops)
    if (auto product = dyn_cast<MatrixProductOpInterface>(op))
      region.flops += product.getProductFlops();
  for (BlockArgument parameter : region.parameters)
    if (cast<RankedTensorType>(parameter.getType()).getRank() >= 2)
      region.parameterBytes += bytesOf(parameter.getType());
  for (OpResult partial : region.partials) {
    region.movedBytes += bytesOf(partial.getType());
    ++region.collectives;
  }
  // One f for each value, whose transpose is an all-reduce in the backward pass.
  llvm::SmallPtrSet<Value, 8> seen;
  for (OpOperand *operand : region.wholes) {
    Value value = operand->get();
    bool hasGradient = isa<FloatType>(getElementTypeOrSelf(value.getType())) &&
                       !value.getDefiningOp<ConstantOp>();
    if (hasGradient && seen.insert(value).second) {
      region.movedBytes += bytesOf(value.getType());
      ++region.collectives;
    }
  }
}

Region RegionGrower::grow(Operation *op, FactorCut cut) {
  Region region;
  region.seed = op;
  region.seedCut = cut;
  region.units = sizesOf(op)[cut.factor] / (cut.blocks * cut.unit);
  work.assign({{op, cut}});
  while (!work.empty()) {
    auto [next, nextCut] = work.pop_back_val();
    if (!cutOp(region, next, nextCut))
      break;
  }
  if (!region.obstacle)
    measure(region);
  return region;
}

std::vector<Region> RegionGrower::growAll() {
  std::vector<Region> regions;
  // Regions are closed: a cut of an op that is in one already would grow the same one again.
  llvm::DenseMap<Operation *, SmallVector<FactorCut>> known;
  function.walk([&](Operation *op) {
    bool isLookup = isa<TakeOp>(op) && isa<BlockArgument>(op->getOperand(0));
    if (!isa<MatrixProductOpInterface>(op) && !isLookup)
      return;
    const ShardingRule &rule = ruleOf(op);
    FactorSizes sizes = sizesOf(op);
    for (unsigned factor = 0; factor < rule.factors.size(); ++factor) {
      FactorCut cut{factor, 1, 1};
      if (sizes[factor] == 1 || rule.factors[factor].kind == FactorKind::whole ||
          llvm::is_contained(known[op], cut))
        continue;
      Region region = grow(op, cut);
      if (!region.obstacle)
        for (auto &[each, eachCut] : region.ops)
          known[each].push_back(eachCut);
      regions.push_back(std::move(region));
    }
  });
  return regions;
}

} // namespace colrow
