//===- Gelu.cpp - GELU out of primitive operations ------------------------===//

#include "mlir/IR/Remarks.h"
#include "passes/raise/Match.h"
#include "passes/raise/Recognisers.h"

#include <cmath>

using namespace mlir;

namespace colrow {

/// x/2 (1 + curve), where the curve's argument is `argument` of x.
template <typename CurveOp>
static void recognise(func::FuncOp function, GeluForm form, const Polynomial &argument) {
  SmallVector<CurveOp> curves(function.getOps<CurveOp>());
  for (CurveOp curve : curves) {
    Value x = findVariable(curve.getInput(), argument);
    Value result = x ? findResult(x, curve.getResult(), {{{1, 0}, 0.5}, {{1, 1}, 0.5}}) : Value();
    if (!result)
      continue;
    OpBuilderWithLayouts b(result.getDefiningOp());
    result.replaceAllUsesWith(b.create<GeluOp>(form, x));
    remark::passed(result.getLoc(), remark::RemarkOpts::name("Gelu").category("colrow-raise"))
        << ("GELU recognised, by " + stringifyGeluForm(form)).str();
  }
}

void recogniseGelu(func::FuncOp function) {
  const double slope = std::sqrt(2 / M_PI);
  recognise<TanhOp>(function, GeluForm::tanh, {{{1, 0}, slope}, {{3, 0}, slope * 0.044715}});
  recognise<ErfOp>(function, GeluForm::erf, {{{1, 0}, std::sqrt(0.5)}});
}

} // namespace colrow
