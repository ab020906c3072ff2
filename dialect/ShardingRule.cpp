//===- ShardingRule.cpp - the rules L1 to L8, for every op ----------------===//

#include "dialect/Colrow.h"
#include "llvm/ADT/SmallSet.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;

namespace colrow {

//===----------------------------------------------------------------------===//
// Factors and states
//===----------------------------------------------------------------------===//

/// Product of the sizes of some factors.
static int64_t product(const FactorSizes &sizes, ArrayRef<unsigned> factors) {
  int64_t result = 1;
  for (unsigned factor : factors)
    result *= sizes[factor];
  return result;
}

std::optional<FactorCut> factorOf(const ShardingRule &rule, const FactorSizes &sizes,
                                  const TensorFactors &tensor, const AxisState &state) {
  ArrayRef<unsigned> factors = tensor[state.dim];
  for (size_t i = 0; i < factors.size(); ++i) {
    int64_t outer = product(sizes, factors.take_front(i));
    int64_t inner = product(sizes, factors.drop_front(i + 1));
    if (outer == 0 || inner == 0 || state.blocks % outer != 0 || state.unit % inner != 0)
      continue;
    FactorCut cut{factors[i], state.blocks / outer, state.unit / inner};
    if (sizes[factors[i]] % (cut.blocks * cut.unit) == 0)
      return cut;
  }
  return std::nullopt;
}

std::optional<AxisState> stateFor(const ShardingRule &rule, const FactorSizes &sizes,
                                  const TensorFactors &tensor, const FactorCut &cut,
                                  StringAttr axis) {
  for (size_t dim = 0; dim < tensor.size(); ++dim) {
    ArrayRef<unsigned> factors = tensor[dim];
    const unsigned *found = llvm::find(factors, cut.factor);
    if (found == factors.end())
      continue;
    size_t i = found - factors.begin();
    return AxisState::shard(axis, dim, cut.blocks * product(sizes, factors.take_front(i)),
                            cut.unit * product(sizes, factors.drop_front(i + 1)));
  }
  return std::nullopt;
}

/// Whether `outer` cuts a dimension of `type` before `axis` does.
static std::optional<AxisState> outerCut(Type type, StringAttr outer, StringAttr axis) {
  LayoutAttr layout = getLayout(type);
  if (!layout)
    return std::nullopt;
  std::optional<AxisState> before;
  for (const AxisState &state : layout.getStates()) {
    if (!state.isShard())
      continue;
    if (state.axis == outer)
      before = state;
    else if (state.axis == axis)
      return before && before->dim == state.dim ? before : std::nullopt;
  }
  return std::nullopt;
}

/// Axes that some of the types name.
static void collectAxes(TypeRange types, SmallVectorImpl<StringAttr> &axes) {
  for (Type type : types)
    if (LayoutAttr layout = getLayout(type))
      for (const AxisState &state : layout.getStates())
        if (!llvm::is_contained(axes, state.axis))
          axes.push_back(state.axis);
}

namespace {

/// The axes that an operation's types name, each before those that cut a dimension inside its
/// slices. Results have a say only about axes that no operand orders.
struct Nesting {
  SmallVector<StringAttr> axes;
  /// Two axes that cut one dimension in one order here and in the other there.
  std::optional<std::pair<StringAttr, StringAttr>> conflict;

  /// `strict`: a result that disagrees with an operand is a conflict too.
  Nesting(Operation *op, bool strict) {
    SmallVector<StringAttr> named;
    collectAxes(op->getOperandTypes(), named);
    collectAxes(op->getResultTypes(), named);
    auto isOutside = [](TypeRange types, StringAttr outer, StringAttr inner) {
      return llvm::any_of(types, [&](Type type) { return outerCut(type, outer, inner); });
    };
    auto before = [&](StringAttr a, StringAttr b) {
      if (isOutside(op->getOperandTypes(), a, b))
        return true;
      return (strict || !isOutside(op->getOperandTypes(), b, a)) &&
             isOutside(op->getResultTypes(), a, b);
    };
    while (!named.empty()) {
      auto outermost = llvm::find_if(named, [&](StringAttr axis) {
        return llvm::none_of(named, [&](StringAttr other) { return before(other, axis); });
      });
      if (outermost == named.end()) {
        StringAttr first = named.front();
        conflict = {first, *llvm::find_if(named, [&](StringAttr other) {
                      return before(other, first);
                    })};
        llvm::append_range(axes, named);
        return;
      }
      axes.push_back(*outermost);
      named.erase(outermost);
    }
  }

  Violation violation() const {
    return {11, llvm::formatv("axes '{0}' and '{1}' cut one dimension in different orders",
                              conflict->first.getValue(), conflict->second.getValue())};
  }
};

} // namespace

/// `outers` are the axes that may cut outside `axis`, in nesting order.
static FactorSizes factorSizesInside(Operation *op, const ShardingRule &rule, StringAttr axis,
                                     ArrayRef<StringAttr> outers) {
  FactorSizes sizes;
  for (const Factor &factor : rule.factors)
    sizes.push_back(factor.size);
  GridAttr grid = getGrid(op);
  for (auto [i, outer] : llvm::enumerate(outers)) {
    auto reduce = [&, i = i, outer = outer](TypeRange types, ArrayRef<TensorFactors> tensors) {
      for (auto [type, tensor] : llvm::zip(types, tensors))
        if (std::optional<AxisState> state = outerCut(type, outer, axis)) {
          std::optional<FactorCut> cut = factorOf(
              rule, factorSizesInside(op, rule, outer, outers.take_front(i)), tensor, *state);
          if (!cut)
            continue; // reported where that axis is checked
          sizes[cut->factor] /= grid.sizeOf(outer.getValue());
          return true;
        }
      return false;
    };
    if (!reduce(op->getOperandTypes(), rule.operands))
      reduce(op->getResultTypes(), rule.results);
  }
  return sizes;
}

FactorSizes factorSizes(Operation *op, const ShardingRule &rule, StringAttr axis) {
  Nesting nesting(op, /*strict=*/false);
  ArrayRef<StringAttr> axes = nesting.axes;
  return factorSizesInside(op, rule, axis,
                           axes.take_front(llvm::find(axes, axis) - axes.begin()));
}

//===----------------------------------------------------------------------===//
// L1 to L8 on one axis
//===----------------------------------------------------------------------===//

namespace {

/// The rules, one method each. `fail` records the first violation.
class AxisRules {
public:
  AxisRules(Operation *op, const ShardingRule &rule, const FactorSizes &sizes, StringAttr axis,
            ArrayRef<AxisState> operands, ArrayRef<AxisState> declared)
      : op(op), rule(rule), sizes(sizes), axis(axis), operands(operands), declared(declared) {}

  AxisInference run() {
    infer();
    return std::move(inference);
  }

private:
  bool isFloat(Type type) const { return isa<FloatType>(getElementTypeOrSelf(type)); }
  bool isFloatOperand(unsigned i) const { return isFloat(op->getOperand(i).getType()); }
  bool isFloatResult(unsigned i) const { return isFloat(op->getResult(i).getType()); }

  void fail(int number, const std::string &text) {
    if (!inference.violation)
      inference.violation = Violation{number, text};
  }

  void setAll(StateKind kind) {
    inference.results.assign(op->getNumResults(), AxisState{axis, kind});
    // L6: what has no gradient is not replicated but invariant.
    for (unsigned i = 0; i < op->getNumResults(); ++i)
      if (kind == StateKind::replicated && !isFloatResult(i))
        inference.results[i] = AxisState::invariant(axis);
  }

  void infer() {
    bool anyFloat = false, allInvariant = true, anyShard = false, anyPartial = false;
    for (auto [i, state] : llvm::enumerate(operands)) {
      anyFloat |= isFloatOperand(i);
      allInvariant &= state.isInvariant();
      anyShard |= state.isShard();
      anyPartial |= state.isPartial();
      if (state.isPartialMax())
        return fail(8, llvm::formatv("operand {0} is partial<max>, which only g takes", i));
    }
    if (!anyFloat && allInvariant)
      return withoutFloats();
    if (allInvariant)
      return allInvariantOperands();
    for (auto [i, state] : llvm::enumerate(operands))
      if (isFloatOperand(i) && state.isInvariant())
        return fail(2, llvm::formatv("operand {0} is invariant where another is not: it needs f "
                                     "(or take_shard)", i));
    if (anyShard)
      return cutFactor();
    if (anyPartial)
      return partialOperands();
    inference.rule = 5;
    setAll(StateKind::replicated);
    declaredOwnCut(5);
  }

  /// L1: all operands invariant.
  void allInvariantOperands() {
    inference.rule = 1;
    setAll(StateKind::invariant);
    for (auto [i, state] : llvm::enumerate(declared))
      if (!state.isInvariant())
        return fail(1, llvm::formatv("all operands are invariant, so result {0} is, got: {1}", i,
                                     state.str()));
  }

  /// L7 (and L6): constants, iota, operations on integers.
  void withoutFloats() {
    inference.rule = 7;
    setAll(StateKind::invariant);
    for (auto [i, state] : llvm::enumerate(declared)) {
      bool zero = op->hasTrait<OpTrait::ConstantLike>() && isZeroConstant(op);
      if ((state.isPartial() && !zero) || state.isPartialMax())
        return fail(7, llvm::formatv("result {0} without floating operands is declared {1}; it is "
                                     "invariant, replicated or shard", i, state.str()));
      if (state.isReplicated() || state.isPartial())
        inference.results[i] = state;
    }
    declaredOwnCut(7);
  }

  /// L5 and L7: a result may be declared cut along a factor that no operand has.
  void declaredOwnCut(int number) {
    std::optional<FactorCut> cut;
    for (auto [i, state] : llvm::enumerate(declared)) {
      if (!state.isShard())
        continue;
      std::optional<FactorCut> mine = factorOf(rule, sizes, rule.results[i], state);
      if (!mine)
        return fail(3, llvm::formatv("result {0} is {1}, which cuts across the dimension's "
                                     "structure", i, state.str()));
      if (rule.factors[mine->factor].kind != FactorKind::own)
        return fail(number, llvm::formatv("result {0} is {1}, but no operand is cut there", i,
                                          state.str()));
      if (cut && !(*cut == *mine))
        return fail(3, "two factors are cut on one axis");
      cut = mine;
      inference.results[i] = state;
    }
    if (!cut)
      return;
    for (auto [i, tensor] : llvm::enumerate(rule.results))
      if (std::optional<AxisState> state = stateFor(rule, sizes, tensor, *cut, axis))
        inference.results[i] = *state;
  }

  /// L3: one factor is cut.
  void cutFactor() {
    inference.rule = rule.isMax ? 8 : 3;
    std::optional<FactorCut> cut;
    for (auto [i, state] : llvm::enumerate(operands)) {
      if (!state.isShard())
        continue;
      std::optional<FactorCut> mine = factorOf(rule, sizes, rule.operands[i], state);
      if (!mine)
        return fail(3, llvm::formatv("operand {0} is {1}, which cuts across the dimension's "
                                     "structure", i, state.str()));
      if (rule.factors[mine->factor].kind == FactorKind::whole)
        return fail(3, llvm::formatv("operand {0} is {1}, but dimension {2} must be whole here", i,
                                     state.str(), state.dim));
      if (cut && cut->factor != mine->factor)
        return fail(3, "two factors are cut on one axis");
      if (cut && !(*cut == *mine))
        return fail(3, llvm::formatv("operands cut one dimension differently: {0} and {1}",
                                     firstShard().str(), state.str()));
      cut = mine;
    }
    for (auto [i, state] : llvm::enumerate(operands)) {
      bool has = stateFor(rule, sizes, rule.operands[i], *cut, axis).has_value();
      bool whole = isFloatOperand(i) ? state.isReplicated() : state.isInvariant();
      if (has && !state.isShard())
        return fail(3, llvm::formatv("operand {0} is {1}, but the dimension it shares with a cut "
                                     "operand must be cut alike", i, state.str()));
      if (!has && !whole)
        return fail(3, llvm::formatv("operand {0} is {1}, but beside a cut operand it must be {2}",
                                     i, state.str(),
                                     isFloatOperand(i) ? "replicated" : "invariant"));
    }
    FactorKind kind = rule.factors[cut->factor].kind;
    for (auto [i, tensor] : llvm::enumerate(rule.results)) {
      if (std::optional<AxisState> state = stateFor(rule, sizes, tensor, *cut, axis)) {
        inference.results.push_back(*state);
        continue;
      }
      bool sums = kind == FactorKind::sum || llvm::is_contained(rule.partialResults, i);
      if (sums)
        inference.results.push_back(rule.isMax ? AxisState::partialMax(axis)
                                               : AxisState::partial(axis));
      else if (kind == FactorKind::inner)
        inference.results.push_back(AxisState::invariant(axis));
      else // computed from whole operands alone
        inference.results.push_back(isFloatResult(i) ? AxisState::replicated(axis)
                                                     : AxisState::invariant(axis));
    }
  }

  /// L4: no factor cut, some operands partial.
  void partialOperands() {
    inference.rule = 4;
    SmallVector<unsigned> partial;
    for (auto [i, state] : llvm::enumerate(operands))
      if (state.isPartial())
        partial.push_back(i);
    if (!llvm::is_contained(rule.linear, partial)) {
      std::string which;
      for (unsigned i : partial)
        which += (which.empty() ? "" : ", ") + std::to_string(i);
      return fail(4, llvm::formatv("operands {0} are partial, but the operation is not linear in "
                                   "exactly these: reduce them with g first", which));
    }
    setAll(StateKind::partial);
  }

  AxisState firstShard() const {
    return *llvm::find_if(operands, [](const AxisState &state) { return state.isShard(); });
  }

  Operation *op;
  const ShardingRule &rule;
  const FactorSizes &sizes;
  StringAttr axis;
  ArrayRef<AxisState> operands, declared;
  AxisInference inference;
};

} // namespace

AxisInference inferAxis(Operation *op, const ShardingRule &rule, const FactorSizes &sizes,
                        StringAttr axis, ArrayRef<AxisState> operands,
                        ArrayRef<AxisState> declared) {
  return AxisRules(op, rule, sizes, axis, operands, declared).run();
}

//===----------------------------------------------------------------------===//
// On every axis
//===----------------------------------------------------------------------===//

static SmallVector<AxisState> statesOn(TypeRange types, StringAttr axis) {
  SmallVector<AxisState> states;
  for (Type type : types)
    states.push_back(getState(type, axis));
  return states;
}

LogicalResult verifyShardingRule(Operation *op) {
  Nesting nesting(op, /*strict=*/true);
  ArrayRef<StringAttr> axes = nesting.axes;
  if (axes.empty())
    return success();
  GridAttr grid = getGrid(op);
  if (!grid)
    return op->emitOpError("has a layout, but the module has no '") << ColrowDialect::gridAttrName
                                                                    << "'";
  for (StringAttr axis : axes)
    if (grid.sizeOf(axis.getValue()) == 0)
      return op->emitOpError("names axis '") << axis.getValue() << "', which the grid lacks";
  if (nesting.conflict)
    return op->emitOpError("breaks L11: ") << nesting.violation().text;
  ShardingRule rule = cast<ShardingRuleOpInterface>(op).getShardingRule();
  assert(rule.operands.size() == op->getNumOperands() &&
         rule.results.size() == op->getNumResults() && "a rule names every operand and result");
  for (StringAttr axis : axes) {
    SmallVector<AxisState> declared = statesOn(op->getResultTypes(), axis);
    AxisInference inference = inferAxis(op, rule, factorSizes(op, rule, axis), axis,
                                        statesOn(op->getOperandTypes(), axis), declared);
    if (inference.violation)
      return op->emitOpError("breaks L") << inference.violation->rule << " on axis '"
                                         << axis.getValue() << "': " << inference.violation->text;
    for (auto [i, expected] : llvm::enumerate(inference.results))
      if (declared[i] != expected)
        return op->emitOpError("breaks L")
               << inference.rule << " on axis '" << axis.getValue() << "': result " << i
               << " must be " << expected.str() << ", got: " << declared[i].str();
  }
  return success();
}

std::optional<Violation> inferResultLayouts(Operation *op) {
  Nesting nesting(op, /*strict=*/false);
  if (nesting.axes.empty())
    return std::nullopt;
  if (nesting.conflict)
    return nesting.violation();
  ShardingRule rule = cast<ShardingRuleOpInterface>(op).getShardingRule();
  SmallVector<Type> wished(op->getResultTypes());
  // Two axes that cut two dimensions of an operand may cut one of a result, where the inner one counts
  // inside the outer one's slices: known once the result's cuts are, so that it takes two rounds.
  SmallVector<Type> found;
  do {
    found.assign(op->result_type_begin(), op->result_type_end());
    SmallVector<SmallVector<AxisState>> states(op->getNumResults());
    for (StringAttr axis : nesting.axes) {
      // Only shards, replication and zeros are wishes; the rest follows from the operands.
      SmallVector<AxisState> declared = statesOn(wished, axis);
      if (llvm::all_of(declared, [](const AxisState &state) { return state.isInvariant(); }))
        declared.clear();
      AxisInference inference = inferAxis(op, rule, factorSizes(op, rule, axis), axis,
                                          statesOn(op->getOperandTypes(), axis), declared);
      if (inference.violation) {
        for (auto [result, type] : llvm::zip_equal(op->getResults(), wished))
          result.setType(type);
        return inference.violation;
      }
      for (auto [list, state] : llvm::zip_equal(states, inference.results))
        list.push_back(state);
    }
    // Outer axes come first, which is how a layout says what is inside what.
    for (auto [result, list] : llvm::zip_equal(op->getResults(), states))
      result.setType(withLayout(result.getType(), LayoutAttr::get(op->getContext(), list)));
  } while (op->getResultTypes() != TypeRange(found));
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Rules that many ops share
//===----------------------------------------------------------------------===//

ShardingRule reshapeRule(ArrayRef<int64_t> from, ArrayRef<int64_t> to) {
  ShardingRule rule;
  TensorFactors lhs(from.size()), rhs(to.size());
  // Peel off common factors from the outside in. Sizes left over are the parts of the current
  // dimension not yet covered.
  size_t i = 0, j = 0;
  int64_t restFrom = 1, restTo = 1;
  auto advance = [](ArrayRef<int64_t> shape, size_t &dim, int64_t &rest) {
    while (rest == 1 && dim < shape.size())
      rest = shape[dim++];
  };
  while (true) {
    advance(from, i, restFrom);
    advance(to, j, restTo);
    if (restFrom == 1 || restTo == 1 || restFrom == 0 || restTo == 0)
      break;
    if (restFrom % restTo == 0 || restTo % restFrom == 0) {
      int64_t size = std::min(restFrom, restTo);
      unsigned factor = rule.add(FactorKind::pass, size);
      lhs[i - 1].push_back(factor);
      rhs[j - 1].push_back(factor);
      restFrom /= size;
      restTo /= size;
      continue;
    }
    // No common refinement here: the dimensions up to where both products agree again are whole.
    int64_t productFrom = restFrom, productTo = restTo;
    size_t firstFrom = i - 1, firstTo = j - 1;
    while (productFrom != productTo) {
      if (productFrom < productTo)
        productFrom *= from[i++];
      else
        productTo *= to[j++];
    }
    for (size_t k = firstFrom; k < i; ++k)
      lhs[k].push_back(rule.add(FactorKind::whole, k == firstFrom ? restFrom : from[k]));
    for (size_t k = firstTo; k < j; ++k)
      rhs[k].push_back(rule.add(FactorKind::whole, k == firstTo ? restTo : to[k]));
    restFrom = restTo = 1;
  }
  rule.operands = {lhs};
  rule.results = {rhs};
  rule.linear = {{0}};
  return rule;
}

ShardingRule elementwiseRule(Operation *op, ArrayRef<SmallVector<unsigned>> linear) {
  ShardingRule rule;
  auto result = cast<RankedTensorType>(op->getResult(0).getType());
  TensorFactors factors;
  for (int64_t size : result.getShape())
    factors.push_back({rule.add(FactorKind::pass, size)});
  for (Type type : op->getOperandTypes()) {
    auto operand = cast<RankedTensorType>(type);
    TensorFactors mine;
    size_t missing = result.getRank() - operand.getRank();
    for (auto [dim, size] : llvm::enumerate(operand.getShape()))
      mine.push_back(size == result.getDimSize(missing + dim) ? factors[missing + dim]
                                                              : TensorFactors::value_type());
    rule.operands.push_back(mine);
  }
  rule.results.assign(op->getNumResults(), factors);
  rule.linear.assign(linear.begin(), linear.end());
  return rule;
}

} // namespace colrow
