#include "test/Execute/Mutants.h"

#include "mlir/IR/Verifier.h"

#include <cstdio>
#include <regex>

using namespace mlir;

namespace colrow::test {

void MutantCount::print(StringRef title) const {
  std::printf("%s: %d mutants", title.str().c_str(), mutants);
  for (auto &[rule, count] : byRule)
    std::printf(", %s %d", rule.c_str(), count);
  std::printf(", not rejected %zu\n", survivors.size());
}

namespace {

struct Kind {
  const char *name;
  SmallVector<StateKind> to;
};
const Kind kinds[] = {
    {"colrow.f", {StateKind::replicated}},        {"colrow.g", {StateKind::invariant}},
    {"colrow.all_gather", {StateKind::replicated}}, {"colrow.reduce_scatter", {StateKind::shard}},
    {"colrow.take_shard", {StateKind::shard}},    {"colrow.gather", {StateKind::invariant}},
    {"colrow.place", {StateKind::partial}},       {"colrow.all_to_all", {StateKind::shard}},
};

/// A change of one conversion: gives the value that takes its place.
struct Mutation {
  std::string text;
  std::function<Value(OpBuilder &, Operation *)> apply;
};

Operation *createConversion(OpBuilder &b, Location loc, StringRef name, Value input, Type type,
                            ArrayAttr axes) {
  OperationState state(loc, name);
  state.addOperands(input);
  state.addTypes(type);
  state.addAttribute("axes", axes);
  return b.create(state);
}

Type converted(Type type, Type like, ArrayRef<Attribute> axes) {
  for (Attribute axis : axes)
    type = withState(type, getState(like, cast<StringAttr>(axis)));
  return type;
}

/// The type with its axes in a state of this kind: for shard one type for each dimension that
/// can be cut, and the cut that the conversion itself has on its other side.
SmallVector<Type> targets(Operation *op, ArrayRef<Attribute> axes, StateKind kind, GridAttr grid) {
  Type from = op->getOperand(0).getType();
  auto all = [&](const AxisState &state) {
    Type type = from;
    for (Attribute axis : axes) {
      AxisState mine = state;
      mine.axis = cast<StringAttr>(axis);
      type = withState(type, mine);
    }
    return type;
  };
  auto first = cast<StringAttr>(axes.front());
  if (kind != StateKind::shard)
    return {all({first, kind})};
  SmallVector<Type> types;
  auto addIfDivides = [&](Type type) {
    bool divides = llvm::all_of(getSlices(cast<RankedTensorType>(type), grid),
                                [](const DimSlice &slice) { return slice.divides(); });
    if (divides && !llvm::is_contained(types, type))
      types.push_back(type);
  };
  for (int64_t dim = 0; dim < cast<RankedTensorType>(from).getRank(); ++dim)
    addIfDivides(all(AxisState::shard(first, dim)));
  for (Type side : {from, op->getResult(0).getType()})
    if (getState(side, first).isShard())
      addIfDivides(all(getState(side, first)));
  return types;
}

std::vector<Mutation> mutationsOf(Operation *op) {
  std::vector<Mutation> mutations;
  ArrayRef<Attribute> axes = cast<ConversionOpInterface>(op).getConvertedAxes();
  StringRef name = op->getName().getStringRef();
  mutations.push_back({"dropped", [](OpBuilder &, Operation *op) { return op->getOperand(0); }});
  for (Attribute axis : axes)
    if (axes.size() > 1)
      mutations.push_back({"dropped on one axis", [axis](OpBuilder &b, Operation *op) {
                             SmallVector<Attribute> rest(
                                 cast<ConversionOpInterface>(op).getConvertedAxes());
                             llvm::erase(rest, axis);
                             Type type = converted(op->getOperand(0).getType(),
                                                   op->getResult(0).getType(), rest);
                             return createConversion(b, op->getLoc(), op->getName().getStringRef(),
                                                     op->getOperand(0), type, b.getArrayAttr(rest))
                                 ->getResult(0);
                           }});
  mutations.push_back({"doubled", [](OpBuilder &b, Operation *op) {
                         auto axes = cast<ArrayAttr>(op->getAttr("axes"));
                         Value once = b.clone(*op)->getResult(0);
                         return createConversion(b, op->getLoc(), op->getName().getStringRef(),
                                                 once, once.getType(), axes)
                             ->getResult(0);
                       }});
  for (const Kind &kind : kinds)
    for (StateKind to : kind.to)
      for (Type type : targets(op, axes, to, getGrid(op))) {
        if (name == kind.name && type == op->getResult(0).getType())
          continue;
        std::string text = "replaced by ";
        llvm::raw_string_ostream(text) << kind.name << " to " << type;
        mutations.push_back({text, [name = kind.name, type](OpBuilder &b, Operation *op) {
                               return createConversion(b, op->getLoc(), name, op->getOperand(0),
                                                       type, cast<ArrayAttr>(op->getAttr("axes")))
                                   ->getResult(0);
                             }});
      }
  return mutations;
}

/// Infers the types of everything behind `start` that depends on a value whose type changed.
/// Where a result's own layout is a choice (L5, L7) it is kept if it still fits.
std::optional<Violation> inferAgain(Operation *start) {
  for (Operation *op = start->getNextNode(); op; op = op->getNextNode()) {
    if (op->hasTrait<OpTrait::IsTerminator>() || op->getNumOperands() == 0)
      continue;
    if (auto conversion = dyn_cast<ConversionOpInterface>(op)) {
      Value result = op->getResult(0);
      result.setType(converted(op->getOperand(0).getType(), result.getType(),
                               conversion.getConvertedAxes()));
      continue;
    }
    if (!isa<ShardingRuleOpInterface>(op) || !inferResultLayouts(op))
      continue;
    for (Value result : op->getResults())
      result.setType(withLayout(result.getType(), {}));
    if (std::optional<Violation> violation = inferResultLayouts(op))
      return violation;
  }
  return std::nullopt;
}

/// The first number of a rule in what the verifier says: "L2"; empty without one.
std::string ruleThatRejects(ModuleOp module, bool &rejected) {
  std::string text;
  ScopedDiagnosticHandler collect(module.getContext(), [&](Diagnostic &diagnostic) {
    text += diagnostic.str() + "\n";
    return success();
  });
  rejected = failed(verify(module));
  std::smatch match;
  if (std::regex_search(text, match, std::regex("breaks ([LC][0-9]+)|(L[0-9]+): ")))
    return match[1].matched ? match[1].str() : match[2].str();
  return "";
}

std::vector<Operation *> conversionsOf(ModuleOp module) {
  std::vector<Operation *> conversions;
  module.walk([&](ConversionOpInterface op) { conversions.push_back(op); });
  return conversions;
}

} // namespace

MutantCount countMutants(ModuleOp module, const std::function<bool(ModuleOp)> &isRight) {
  MutantCount count;
  size_t conversions = conversionsOf(module).size();
  for (size_t number = 0; number < conversions; ++number) {
    size_t variants = mutationsOf(conversionsOf(module)[number]).size();
    for (size_t variant = 0; variant < variants; ++variant) {
      OwningOpRef<ModuleOp> mutant(module.clone());
      Operation *op = conversionsOf(*mutant)[number];
      Mutation mutation = mutationsOf(op)[variant];
      std::string what;
      llvm::raw_string_ostream(what)
          << "@" << op->getParentOfType<func::FuncOp>().getName() << ": " << *op << " "
          << mutation.text;
      ++count.mutants;
      OpBuilder b(op);
      Value replacement = mutation.apply(b, op);
      op->getResult(0).replaceAllUsesWith(replacement);
      std::optional<Violation> violation = inferAgain(op);
      op->erase();
      if (violation) {
        ++count.byRule["L" + std::to_string(violation->rule)];
        continue;
      }
      bool rejected = false;
      std::string rule = ruleThatRejects(*mutant, rejected);
      if (rejected && !rule.empty())
        ++count.byRule[rule];
      else if (rejected)
        count.survivors.push_back(what + ": rejected, but without a numbered rule");
      else if (isRight(*mutant))
        ++count.byRule["equal to the original"];
      else
        count.survivors.push_back(what + ": accepted");
    }
  }
  return count;
}

} // namespace colrow::test
