//===- Silu.cpp - x sigmoid(x) --------------------------------------------===//

#include "mlir/IR/Remarks.h"
#include "passes/raise/Match.h"
#include "passes/raise/Recognisers.h"

using namespace mlir;

namespace colrow {

void recogniseSilu(func::FuncOp function) {
  SmallVector<SigmoidOp> curves(function.getOps<SigmoidOp>());
  for (SigmoidOp curve : curves) {
    Value x = curve.getInput();
    Value result = findResult(x, curve.getResult(), {{{1, 1}, 1}});
    if (!result)
      continue;
    OpBuilderWithLayouts b(result.getDefiningOp());
    result.replaceAllUsesWith(b.create<SiluOp>(x));
    remark::passed(result.getLoc(), remark::RemarkOpts::name("Silu").category("colrow-raise"))
        << "SiLU recognised";
  }
}

} // namespace colrow
