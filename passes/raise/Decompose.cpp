//===- Decompose.cpp - big operations into primitive ones -----------------===//

#include "dialect/Colrow.h"
#include "passes/raise/Passes.h"

using namespace mlir;

namespace colrow {
#define GEN_PASS_DEF_DECOMPOSE
#include "passes/raise/Passes.h.inc"

namespace {
struct Decompose : impl::DecomposeBase<Decompose> {
  using DecomposeBase::DecomposeBase;

  void runOnOperation() override {
    for (StringRef name : ops) {
      std::optional<RegisteredOperationName> known =
          RegisteredOperationName::lookup(name, &getContext());
      if (!known || !known->hasInterface<DecomposableOpInterface>()) {
        getOperation().emitError("'") << name << "' is not an operation with a decomposition";
        return signalPassFailure();
      }
    }
    // A decomposition may hold big operations itself.
    SmallVector<Operation *> work;
    do {
      work.clear();
      getOperation().walk([&](Operation *op) {
        if (isa<DecomposableOpInterface>(op) &&
            (ops.empty() || llvm::is_contained(ops, op->getName().getStringRef())))
          work.push_back(op);
      });
      for (Operation *op : work)
        if (failed(replaceByDecomposition(op)))
          return signalPassFailure();
    } while (!work.empty());
  }
};
} // namespace
} // namespace colrow
