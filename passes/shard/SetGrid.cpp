//===- SetGrid.cpp - gives the module its grid of ranks -------------------===//

#include "dialect/Colrow.h"
#include "passes/shard/Passes.h"

using namespace mlir;

namespace colrow {
#define GEN_PASS_DEF_SETGRID
#include "passes/shard/Passes.h.inc"

namespace {
struct SetGrid : impl::SetGridBase<SetGrid> {
  using SetGridBase::SetGridBase;

  void runOnOperation() override {
    SmallVector<StringAttr> names;
    SmallVector<int64_t> sizes;
    for (StringRef axis : axes) {
      auto [name, text] = axis.split('=');
      int64_t size;
      if (name.empty() || text.getAsInteger(10, size) || size < 1) {
        getOperation().emitError("expects an axis and its size, such as tp=4, got: ") << axis;
        return signalPassFailure();
      }
      names.push_back(StringAttr::get(&getContext(), name));
      sizes.push_back(size);
    }
    if (names.empty()) {
      getOperation().emitError("expects at least one axis, such as tp=4");
      return signalPassFailure();
    }
    getOperation()->setAttr(ColrowDialect::gridAttrName,
                            GridAttr::get(&getContext(), names, sizes));
  }
};
} // namespace
} // namespace colrow
