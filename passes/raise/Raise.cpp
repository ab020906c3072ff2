//===- Raise.cpp - bigger operations out of small ones --------------------===//

#include "dialect/Colrow.h"
#include "passes/raise/Passes.h"
#include "passes/raise/Recognisers.h"

using namespace mlir;

namespace colrow {
#define GEN_PASS_DEF_RAISE
#include "passes/raise/Passes.h.inc"

ArrayRef<Recogniser> getRecognisers() {
  static constexpr Recogniser all[] = {{"attention", recogniseAttention},
                                       {"gelu", recogniseGelu},
                                       {"layer_norm", recogniseLayerNorm},
                                       {"rms_norm", recogniseRmsNorm},
                                       {"silu", recogniseSilu}};
  return all;
}

std::string checkRecognisers(ArrayRef<std::string> names) {
  for (const std::string &name : names)
    if (llvm::none_of(getRecognisers(), [&](const Recogniser &each) { return each.name == name; }))
      return "there is no recogniser '" + name + "' among: " +
             llvm::join(llvm::map_range(getRecognisers(),
                                        [](const Recogniser &each) { return each.name.str(); }),
                        ", ");
  return "";
}

namespace {
struct Raise : impl::RaiseBase<Raise> {
  using RaiseBase::RaiseBase;

  void runOnOperation() override {
    std::vector<std::string> names(only.begin(), only.end());
    if (std::string wrong = checkRecognisers(names); !wrong.empty()) {
      getOperation().emitError(wrong);
      return signalPassFailure();
    }
    if (getGrid(getOperation())) {
      getOperation().emitError("has a grid: recognition comes before sharding");
      return signalPassFailure();
    }
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (!function.isDeclaration())
        run(function, names);
  }

  static void run(func::FuncOp function, ArrayRef<std::string> names) {
    for (const Recogniser &recogniser : getRecognisers())
      if (names.empty() || llvm::is_contained(names, recogniser.name))
        recogniser.run(function);
    for (Operation &op : llvm::make_early_inc_range(llvm::reverse(function.getBody().front())))
      if (isOpTriviallyDead(&op))
        op.erase();
  }
};
} // namespace
} // namespace colrow
