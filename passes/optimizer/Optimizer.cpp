//===- Optimizer.cpp - adds @update ---------------------------------------===//

#include "dialect/Expressions.h"
#include "passes/optimizer/Passes.h"
#include "mlir/IR/Dominance.h"
#include "mlir/Transforms/CSE.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;

namespace colrow {
#define GEN_PASS_DEF_OPTIMIZER
#include "passes/optimizer/Passes.h.inc"

namespace {

/// Numbers in `colrow.scalars`: what AdamW reads, then the norm to clip at.
constexpr int64_t adamWScalars = 7, numScalars = 8;

/// torch.nn.utils.clip_grad_norm_ adds this to the norm it divides by.
constexpr double clipEpsilon = 1e-6;

/// A parameter and the arguments of @update that go with it.
struct Parameter {
  std::string name;
  Type type;
  DictionaryAttr attributes;
  Value value, gradient, first, second;
};

/// Builds the body of @update.
class UpdateBuilder {
public:
  UpdateBuilder(OpBuilderWithLayouts &b, Value scalars) : b(b), scalars(scalars) {}

  /// The norm of all gradients together. I on every axis.
  Value buildNorm(ArrayRef<Parameter> parameters) {
    llvm::MapVector<Type, Value> sums;
    for (const Parameter &parameter : parameters) {
      b.setLoc(parameter.gradient.getLoc());
      Value squares = b.create<SumSquaresOp>(parameter.gradient);
      Value &sum = sums[squares.getType()];
      sum = sum ? Value(b.create<AddOp>(sum, squares)) : squares;
    }
    b.setLoc(b.getUnknownLoc());
    Value total;
    for (auto &[type, sum] : sums) {
      Value whole = reduce(sum);
      total = total ? Value(b.create<AddOp>(total, whole)) : whole;
    }
    return b.create<SqrtOp>(total);
  }

  /// min(1, clip / (norm + 1e-6)), or 1 where clip is 0.
  Value buildClipCoefficient(Value norm) {
    Expressions e(b, norm.getType());
    Value clip = b.create<ReshapeOp>(norm.getType(), takeScalars(adamWScalars, numScalars));
    Value ratio = e.div(clip, e.add(norm, clipEpsilon));
    Value coefficient = b.create<MinOp>(ratio, e.number(1));
    Value clips = b.create<CompareOp>(Predicate::gt, clip, e.number(0));
    return b.create<SelectOp>(clips, coefficient, e.number(1));
  }

  AdamWOp buildStep(const Parameter &parameter, Value coefficient) {
    b.setLoc(parameter.value.getLoc());
    Value step = takeScalars(0, adamWScalars);
    bool decay = cast<RankedTensorType>(parameter.type).getRank() >= 2;
    return b.create<AdamWOp>(parameter.value, parameter.gradient, parameter.first,
                             parameter.second, b.beside(coefficient, parameter.type),
                             b.beside(step, parameter.type), decay);
  }

private:
  /// g on the axes where the sum is partial.
  Value reduce(Value sum) {
    SmallVector<Attribute> axes;
    Type type = sum.getType();
    if (LayoutAttr layout = getLayout(type))
      for (const AxisState &state : layout.getStates())
        if (state.isPartial()) {
          axes.push_back(state.axis);
          type = withState(type, AxisState::invariant(state.axis));
        }
    if (axes.empty())
      return sum;
    auto g = b.create<GOp>(type, sum, b.getArrayAttr(axes));
    g->setAttr("colrow.because", b.getStringAttr("squares of cut gradients, for the global norm"));
    return g;
  }

  Value takeScalars(int64_t start, int64_t limit) {
    return b.create<SliceOp>(scalars, ArrayRef<int64_t>(start), ArrayRef<int64_t>(limit),
                             ArrayRef<int64_t>(1));
  }

  OpBuilderWithLayouts &b;
  Value scalars;
};

struct Optimizer : impl::OptimizerBase<Optimizer> {
  using OptimizerBase::OptimizerBase;

  void runOnOperation() override {
    auto source = getOperation().lookupSymbol<func::FuncOp>("forward_backward");
    if (!source) {
      getOperation().emitError("has no function @forward_backward: run colrow-differentiate first");
      return signalPassFailure();
    }
    std::vector<Parameter> parameters = findParameters(source);
    if (parameters.empty()) {
      source.emitError("has no gradient to update a parameter with");
      return signalPassFailure();
    }
    if (failed(buildUpdate(source, parameters)))
      return signalPassFailure();
  }

  /// Parameters with a gradient, in the order of arguments.
  std::vector<Parameter> findParameters(func::FuncOp source) {
    llvm::StringSet<> trained;
    for (unsigned i = 0; i < source.getNumResults(); ++i)
      if (getResultRole(source, i) == "gradient")
        trained.insert(getResultName(source, i));
    std::vector<Parameter> parameters;
    for (BlockArgument argument : source.getArguments()) {
      unsigned number = argument.getArgNumber();
      StringRef name = ::colrow::getName(source, number);
      if (getRole(source, number) == "parameter" && trained.contains(name))
        parameters.push_back({name.str(), argument.getType(), source.getArgAttrDict(number),
                              {}, {}, {}, {}});
    }
    return parameters;
  }

  /// Role, name and the size without padding, which is the parameter's.
  DictionaryAttr describe(const Parameter &parameter, StringRef role, const Twine &name) {
    OpBuilder b(&getContext());
    SmallVector<NamedAttribute> attributes{
        b.getNamedAttr(ColrowDialect::nameAttrName, b.getStringAttr(name)),
        b.getNamedAttr(ColrowDialect::roleAttrName, b.getStringAttr(role))};
    if (Attribute valid = parameter.attributes.get("colrow.valid"))
      attributes.push_back(b.getNamedAttr("colrow.valid", valid));
    return b.getDictionaryAttr(attributes);
  }

  LogicalResult buildUpdate(func::FuncOp source, std::vector<Parameter> &parameters) {
    OpBuilder outside(&getContext());
    outside.setInsertionPointAfter(source);
    auto function = func::FuncOp::create(outside, source.getLoc(), "update",
                                         outside.getFunctionType({}, {}));
    Block *body = function.addEntryBlock();
    auto addArgument = [&](Type type, DictionaryAttr attributes, Location loc) {
      unsigned number = function.getNumArguments();
      (void)function.insertArgument(number, type, attributes, loc);
      return Value(function.getArgument(number));
    };
    auto locOf = [&](const Parameter &parameter) {
      return NameLoc::get(outside.getStringAttr(parameter.name));
    };
    for (Parameter &p : parameters)
      p.value = addArgument(p.type, p.attributes, locOf(p));
    for (Parameter &p : parameters)
      p.gradient = addArgument(gradientType(p.type), describe(p, "gradient", p.name), locOf(p));
    for (Parameter &p : parameters)
      p.first = addArgument(p.type, describe(p, "state", p.name + ".first"), locOf(p));
    for (Parameter &p : parameters)
      p.second = addArgument(p.type, describe(p, "state", p.name + ".second"), locOf(p));
    Type element = getElementTypeOrSelf(parameters.front().type);
    Value scalars = addArgument(
        RankedTensorType::get({numScalars}, element),
        outside.getDictionaryAttr(
            {outside.getNamedAttr(ColrowDialect::nameAttrName,
                                  outside.getStringAttr("colrow.scalars")),
             outside.getNamedAttr(ColrowDialect::roleAttrName, outside.getStringAttr("input"))}),
        source.getLoc());

    outside.setInsertionPointToEnd(body);
    OpBuilderWithLayouts b(source.getLoc(), outside);
    UpdateBuilder update(b, scalars);
    Value norm = update.buildNorm(parameters);
    Value coefficient = update.buildClipCoefficient(norm);
    // All new parameters, then all first moments, then all second ones.
    size_t count = parameters.size();
    SmallVector<Value> results(3 * count);
    SmallVector<Attribute> attributes(3 * count);
    for (auto [i, p] : llvm::enumerate(parameters)) {
      AdamWOp step = update.buildStep(p, coefficient);
      DictionaryAttr described[] = {describe(p, "parameter", p.name),
                                    describe(p, "state", p.name + ".first"),
                                    describe(p, "state", p.name + ".second")};
      for (auto [kind, value] : llvm::enumerate(step.getResults())) {
        results[kind * count + i] = value;
        attributes[kind * count + i] = described[kind];
      }
    }
    if (b.failed())
      return failure();
    results.push_back(norm);
    attributes.push_back(b.getDictionaryAttr(
        {b.getNamedAttr(ColrowDialect::nameAttrName, b.getStringAttr("grad_norm")),
         b.getNamedAttr(ColrowDialect::roleAttrName, b.getStringAttr("metric"))}));
    func::ReturnOp::create(b, source.getLoc(), results);
    function.setType(b.getFunctionType(body->getArgumentTypes(), ValueRange(results).getTypes()));
    function.setResAttrsAttr(b.getArrayAttr(attributes));

    // One f for each layout of a parameter.
    IRRewriter rewriter(&getContext());
    DominanceInfo dominance(function);
    eliminateCommonSubExpressions(rewriter, dominance, function);
    return success();
  }
};

} // namespace
} // namespace colrow
