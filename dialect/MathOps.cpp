//===- MathOps.cpp - shapes and sharding rules of MathOps.td --------------===//

#include "dialect/Colrow.h"
#include "mlir/Dialect/Traits.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;

namespace colrow {

//===----------------------------------------------------------------------===//
// Elementwise
//===----------------------------------------------------------------------===//

LogicalResult inferElementwise(std::optional<Location> location, ValueRange operands, Type element,
                               SmallVectorImpl<Type> &types) {
  SmallVector<int64_t> shape;
  for (Value operand : operands) {
    auto type = cast<RankedTensorType>(operand.getType());
    SmallVector<int64_t> merged;
    if (!OpTrait::util::getBroadcastedShape(shape, type.getShape(), merged)) {
      if (!location)
        return failure();
      InFlightDiagnostic diagnostic = emitError(*location, "shapes do not broadcast:");
      for (Value each : operands)
        diagnostic << " " << withLayout(each.getType(), {});
      return diagnostic;
    }
    shape = merged;
  }
  types.push_back(RankedTensorType::get(shape, element));
  return success();
}

ShardingRule CastOp::getShardingRule() {
  bool floats = isa<FloatType>(getElementTypeOrSelf(getInput().getType())) &&
                isa<FloatType>(getElementTypeOrSelf(getType()));
  if (floats)
    return elementwiseRule(*this, {{0}});
  return elementwiseRule(*this);
}

//===----------------------------------------------------------------------===//
// Reductions
//===----------------------------------------------------------------------===//

LogicalResult inferReduce(std::optional<Location> location, Type input, ArrayRef<int64_t> axes,
                          bool keepdims, SmallVectorImpl<Type> &types) {
  auto type = cast<RankedTensorType>(input);
  SmallVector<int64_t> shape;
  for (int64_t axis : axes)
    if (axis < 0 || axis >= type.getRank())
      return emitOptionalError(location, "axis ", axis, " is not one of a tensor of rank ",
                               type.getRank());
  for (auto [dim, size] : llvm::enumerate(type.getShape())) {
    if (!llvm::is_contained(axes, static_cast<int64_t>(dim)))
      shape.push_back(size);
    else if (keepdims)
      shape.push_back(1);
  }
  types.push_back(RankedTensorType::get(shape, type.getElementType()));
  return success();
}

static ShardingRule reduceRule(RankedTensorType input, ArrayRef<int64_t> axes, bool keepdims,
                               FactorKind reduced) {
  ShardingRule rule;
  TensorFactors operand, result;
  for (auto [dim, size] : llvm::enumerate(input.getShape())) {
    bool isReduced = llvm::is_contained(axes, static_cast<int64_t>(dim));
    unsigned factor = rule.add(isReduced ? reduced : FactorKind::pass, size);
    operand.push_back({factor});
    if (!isReduced)
      result.push_back({factor});
    else if (keepdims)
      result.push_back({});
  }
  rule.operands = {operand};
  rule.results = {result};
  return rule;
}

ShardingRule ReduceSumOp::getShardingRule() {
  ShardingRule rule = reduceRule(getInput().getType(), getAxes(), getKeepdims(), FactorKind::sum);
  rule.linear = {{0}};
  return rule;
}
ShardingRule ReduceMaxOp::getShardingRule() {
  ShardingRule rule = reduceRule(getInput().getType(), getAxes(), getKeepdims(), FactorKind::sum);
  rule.isMax = true;
  return rule;
}
ShardingRule ReduceMinOp::getShardingRule() {
  return reduceRule(getInput().getType(), getAxes(), getKeepdims(), FactorKind::whole);
}
ShardingRule ReduceProdOp::getShardingRule() {
  return reduceRule(getInput().getType(), getAxes(), getKeepdims(), FactorKind::whole);
}

LogicalResult CumSumOp::inferReturnTypes(MLIRContext *, std::optional<Location>, Adaptor adaptor,
                                         SmallVectorImpl<Type> &types) {
  types.push_back(withLayout(adaptor.getInput().getType(), {}));
  return success();
}

ShardingRule CumSumOp::getShardingRule() {
  ShardingRule rule;
  TensorFactors factors;
  for (auto [dim, size] : llvm::enumerate(getType().getShape()))
    factors.push_back({rule.add(dim == getAxis() ? FactorKind::whole
                                                                       : FactorKind::pass,
                                size)});
  rule.operands = rule.results = {factors};
  rule.linear = {{0}};
  return rule;
}

//===----------------------------------------------------------------------===//
// Einsum
//===----------------------------------------------------------------------===//

namespace {
/// An equation taken apart: "ti,io->to".
struct Equation {
  StringRef lhs, rhs, result;

  static std::optional<Equation> parse(StringRef text) {
    auto [operands, result] = text.split("->");
    auto [lhs, rhs] = operands.split(',');
    if (!text.contains("->") || !operands.contains(','))
      return std::nullopt;
    for (StringRef letters : {lhs, rhs, result}) {
      std::string seen;
      for (char c : letters) {
        if (!llvm::isAlpha(c) || StringRef(seen).contains(c))
          return std::nullopt;
        seen += c;
      }
    }
    return Equation{lhs, rhs, result};
  }
};
} // namespace

StringRef EinsumOp::lhsLetters() { return Equation::parse(getEquation())->lhs; }
StringRef EinsumOp::rhsLetters() { return Equation::parse(getEquation())->rhs; }
StringRef EinsumOp::resultLetters() { return Equation::parse(getEquation())->result; }

LogicalResult EinsumOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                         Adaptor adaptor, SmallVectorImpl<Type> &types) {
  auto lhs = cast<RankedTensorType>(adaptor.getLhs().getType());
  auto rhs = cast<RankedTensorType>(adaptor.getRhs().getType());
  std::optional<Equation> equation = Equation::parse(adaptor.getEquation());
  if (!equation)
    return emitOptionalError(location, "expects an equation like \"ti,io->to\", got: ",
                             adaptor.getEquation());
  if (static_cast<int64_t>(equation->lhs.size()) != lhs.getRank() ||
      static_cast<int64_t>(equation->rhs.size()) != rhs.getRank())
    return emitOptionalError(location, "equation ", adaptor.getEquation(),
                             " does not fit tensors of ranks ", lhs.getRank(), " and ",
                             rhs.getRank());
  llvm::DenseMap<char, int64_t> sizes;
  for (auto [letters, type] : {std::pair(equation->lhs, lhs), std::pair(equation->rhs, rhs)})
    for (auto [letter, size] : llvm::zip(letters, type.getShape()))
      if (auto [it, isNew] = sizes.try_emplace(letter, size); !isNew && it->second != size)
        return emitOptionalError(location, "dimension ", std::string(1, letter), " of ",
                                 adaptor.getEquation(), " has sizes ", it->second, " and ", size);
  for (char letter : (equation->lhs + equation->rhs).str())
    if (equation->result.count(letter) + equation->lhs.count(letter) +
            equation->rhs.count(letter) < 2)
      return emitOptionalError(location, "dimension ", std::string(1, letter), " of ",
                               adaptor.getEquation(), " occurs once only");
  SmallVector<int64_t> shape;
  for (char letter : equation->result) {
    if (!sizes.count(letter))
      return emitOptionalError(location, "dimension ", std::string(1, letter), " of ",
                               adaptor.getEquation(), " is in no operand");
    shape.push_back(sizes[letter]);
  }
  types.push_back(RankedTensorType::get(shape, lhs.getElementType()));
  return success();
}

LogicalResult EinsumOp::verify() {
  if (!Equation::parse(getEquation()))
    return emitOpError("expects an equation like \"ti,io->to\", got: ") << getEquation();
  return success();
}

double EinsumOp::getProductFlops() {
  double flops = 2;
  for (const Factor &factor : getShardingRule().factors)
    flops *= static_cast<double>(factor.size);
  return flops;
}

ShardingRule EinsumOp::getShardingRule() {
  ShardingRule rule;
  llvm::DenseMap<char, unsigned> factors;
  auto collect = [&](StringRef letters, RankedTensorType type) {
    TensorFactors tensor;
    for (auto [letter, size] : llvm::zip(letters, type.getShape())) {
      if (!factors.count(letter))
        factors[letter] = rule.add(
            resultLetters().contains(letter) ? FactorKind::pass : FactorKind::sum, size);
      tensor.push_back({factors[letter]});
    }
    return tensor;
  };
  rule.operands.push_back(collect(lhsLetters(), getLhs().getType()));
  rule.operands.push_back(collect(rhsLetters(), getRhs().getType()));
  rule.results.push_back(collect(resultLetters(), getType()));
  rule.linear = {{0}, {1}};
  return rule;
}

} // namespace colrow
