//===- RoundConstants.cpp - constants in the precision of their types -----===//

#include "dialect/Colrow.h"
#include "passes/raise/Passes.h"

using namespace mlir;

namespace colrow {
#define GEN_PASS_DEF_ROUNDCONSTANTS
#include "passes/raise/Passes.h.inc"

namespace {
struct RoundConstants : impl::RoundConstantsBase<RoundConstants> {
  using RoundConstantsBase::RoundConstantsBase;

  void runOnOperation() override {
    getOperation().walk([](ConstantOp op) {
      auto value = dyn_cast<DenseElementsAttr>(op.getValue());
      auto element = dyn_cast<FloatType>(op.getType().getElementType());
      if (!value || !element || value.getElementType() == element)
        return;
      op.setValueAttr(cast<DenseFPElementsAttr>(value).mapValues(element, [&](const APFloat &each) {
        APFloat rounded = each;
        bool loses;
        rounded.convert(element.getFloatSemantics(), APFloat::rmNearestTiesToEven, &loses);
        return rounded.bitcastToAPInt();
      }));
    });
  }
};
} // namespace
} // namespace colrow
