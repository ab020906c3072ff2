//===- Differentiate.cpp - @main becomes @forward_backward and @evaluate --===//

#include "passes/differentiate/Passes.h"
#include "passes/differentiate/ReverseMode.h"
#include "mlir/IR/Dominance.h"
#include "mlir/IR/Remarks.h"
#include "mlir/Transforms/CSE.h"

using namespace mlir;

namespace colrow {
#define GEN_PASS_DEF_DIFFERENTIATE
#include "passes/differentiate/Passes.h.inc"

namespace {

/// A result of a function with its attributes.
struct Result {
  Value value;
  DictionaryAttr attributes;
};

void setResults(func::FuncOp function, ArrayRef<Result> results) {
  Operation *terminator = function.getBody().front().getTerminator();
  SmallVector<Value> values;
  SmallVector<Attribute> attributes;
  for (const Result &result : results) {
    values.push_back(result.value);
    attributes.push_back(result.attributes);
  }
  terminator->setOperands(values);
  function.setType(FunctionType::get(function.getContext(),
                                     function.getBody().front().getArgumentTypes(),
                                     ValueRange(values).getTypes()));
  function.setResAttrsAttr(ArrayAttr::get(function.getContext(), attributes));
}

Result getResult(func::FuncOp function, unsigned i) {
  DictionaryAttr attributes = function.getResultAttrDict(i);
  return {function.getBody().front().getTerminator()->getOperand(i),
          attributes ? attributes : DictionaryAttr::get(function.getContext())};
}

void mergeEqualValues(func::FuncOp function) {
  IRRewriter rewriter(function.getContext());
  DominanceInfo dominance(function);
  eliminateCommonSubExpressions(rewriter, dominance, function);
}

/// After differentiation stop_gradient means nothing; what nobody reads goes.
void cleanUp(func::FuncOp function) {
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(function.getBody().front()))) {
    if (auto stop = dyn_cast<StopGradientOp>(op))
      stop.getResult().replaceAllUsesWith(stop.getInput());
    if (isOpTriviallyDead(&op))
      op.erase();
  }
  mergeEqualValues(function);
}

struct Differentiate : impl::DifferentiateBase<Differentiate> {
  using DifferentiateBase::DifferentiateBase;

  void runOnOperation() override {
    auto function = getOperation().lookupSymbol<func::FuncOp>("main");
    if (!function || function.isExternal()) {
      getOperation().emitError("has no function @main to differentiate");
      return signalPassFailure();
    }
    FailureOr<unsigned> loss = findLoss(function);
    if (failed(loss))
      return signalPassFailure();
    // One f for each value, so that its transpose is one all-reduce.
    mergeEqualValues(function);
    func::FuncOp evaluate = function.clone();
    getOperation().insert(std::next(function->getIterator()), evaluate);
    evaluate.setName("evaluate");
    function.setName("forward_backward");
    if (failed(buildEvaluate(evaluate, *loss)) || failed(buildGradients(function, *loss)))
      return signalPassFailure();
  }

  FailureOr<unsigned> findLoss(func::FuncOp function) {
    std::optional<unsigned> loss;
    for (unsigned i = 0; i < function.getNumResults(); ++i) {
      if (getResultRole(function, i) != "loss")
        continue;
      if (loss)
        return function.emitError("@main has two results of role 'loss'");
      auto type = cast<RankedTensorType>(function.getResultTypes()[i]);
      if (type.getRank() != 0 || !isa<FloatType>(type.getElementType()))
        return function.emitError("expects a scalar loss, got: ") << type;
      loss = i;
    }
    if (!loss)
      return function.emitError("@main has no result of role 'loss': add an objective first");
    return *loss;
  }

  LogicalResult buildEvaluate(func::FuncOp function, unsigned loss) {
    llvm::BitVector unused(function.getNumArguments());
    for (BlockArgument argument : function.getArguments())
      unused[argument.getArgNumber()] = argument.use_empty();
    for (Operation &op : llvm::make_early_inc_range(function.getBody().front()))
      if (auto training = dyn_cast<EvaluationFormOpInterface>(op)) {
        OpBuilderWithLayouts b(&op);
        SmallVector<Value> values = training.evaluationForm(b);
        op.replaceAllUsesWith(values);
        op.erase();
      }
    SmallVector<Result> results{getResult(function, loss)};
    for (unsigned i = 0; i < function.getNumResults(); ++i)
      if (i != loss)
        results.push_back(getResult(function, i));
    setResults(function, results);
    cleanUp(function);
    // What only training read (random numbers) is no longer an input.
    llvm::BitVector erase(function.getNumArguments());
    for (BlockArgument argument : function.getArguments())
      erase[argument.getArgNumber()] =
          argument.use_empty() && !unused[argument.getArgNumber()] &&
          getRole(function, argument.getArgNumber()) == "input";
    return function.eraseArguments(erase);
  }

  LogicalResult buildGradients(func::FuncOp function, unsigned loss) {
    SmallVector<Value> parameters;
    for (BlockArgument argument : function.getArguments())
      if (getRole(function, argument.getArgNumber()) == "parameter" &&
          isa<FloatType>(getElementTypeOrSelf(argument.getType())))
        parameters.push_back(argument);

    Block &body = function.getBody().front();
    ReverseMode reverse(body, parameters);
    if (failed(reverse.run(getResult(function, loss).value)))
      return failure();

    SmallVector<Result> results{getResult(function, loss)};
    OpBuilderWithLayouts b(body.getTerminator());
    for (Value parameter : parameters) {
      b.setLoc(backwardLoc(parameter.getLoc()));
      unsigned number = cast<BlockArgument>(parameter).getArgNumber();
      DictionaryAttr attributes = gradientAttributes(function, number);
      unsigned last = function.getNumArguments();
      Type type = gradientType(parameter.getType());
      if (failed(function.insertArgument(last, type, attributes, parameter.getLoc())))
        return failure();
      Value gradient = reverse.gradientOf(parameter);
      if (!gradient) {
        remark::missed(parameter.getLoc(), remark::RemarkOpts::name("ZeroGradient")
                                               .category("colrow-differentiate"))
            << "the loss does not depend on '" + getUserName(parameter) +
                   "': its gradient is zero";
        gradient = b.create<ConstantOp>(
            type, cast<ElementsAttr>(Attribute(b.getZeroAttr(withLayout(type, {})))));
      }
      Value sum = b.create<AddOp>(function.getArgument(last), gradient);
      results.push_back({sum, attributes});
    }
    if (b.failed())
      return failure();
    setResults(function, results);
    cleanUp(function);
    return success();
  }

  /// What a parameter's gradient says of itself: role, name, and its size without padding.
  DictionaryAttr gradientAttributes(func::FuncOp function, unsigned parameter) {
    OpBuilder b(&getContext());
    SmallVector<NamedAttribute> attributes{
        b.getNamedAttr(ColrowDialect::nameAttrName,
                       b.getStringAttr(::colrow::getName(function, parameter))),
        b.getNamedAttr(ColrowDialect::roleAttrName, b.getStringAttr("gradient"))};
    if (Attribute valid = function.getArgAttr(parameter, "colrow.valid"))
      attributes.push_back(b.getNamedAttr("colrow.valid", valid));
    return b.getDictionaryAttr(attributes);
  }
};

} // namespace
} // namespace colrow
