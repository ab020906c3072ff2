//===- Differentiate.cpp - @main becomes @forward_backward ----------------===//

#include "passes/differentiate/Functions.h"
#include "passes/differentiate/Passes.h"
#include "passes/differentiate/ReverseMode.h"
#include "mlir/IR/Remarks.h"

using namespace mlir;

namespace colrow {
#define GEN_PASS_DEF_DIFFERENTIATE
#include "passes/differentiate/Passes.h.inc"

namespace {

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
    function.setName("forward_backward");
    if (failed(buildGradients(function, *loss)))
      return signalPassFailure();
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
