//===- Shard.cpp - tensor parallelism by regions --------------------------===//

#include "passes/shard/Passes.h"
#include "passes/shard/Sharder.h"
#include "passes/shard/Units.h"

#include <numeric>

using namespace mlir;

namespace colrow {
#define GEN_PASS_DEF_SHARD
#include "passes/shard/Passes.h.inc"

namespace {

struct Shard : impl::ShardBase<Shard> {
  using ShardBase::ShardBase;

  void runOnOperation() override {
    if (failed(run(getOperation())))
      signalPassFailure();
  }

  LogicalResult run(ModuleOp module) {
    GridAttr grid = getGrid(module);
    if (!grid || grid.sizeOf(axis) == 0)
      return module.emitError("has no grid with axis '") << axis << "': run colrow-set-grid first";
    if (grid.sizeOf(axis) == 1)
      return success();
    SmallVector<Wish> wishes;
    for (const std::string &text : layout) {
      llvm::Expected<Wish> wish = Wish::parse(text);
      if (!wish)
        return module.emitError(llvm::toString(wish.takeError()));
      wishes.push_back(*wish);
    }
    SmallVector<StringAttr> axes{StringAttr::get(&getContext(), axis)};
    if (int64_t outer = outerFactor(module, axes[0], wishes); outer > 1)
      axes = factorAxis(module, axes[0], outer);
    for (auto function : module.getOps<func::FuncOp>()) {
      Sharder sharder(function, axes, wishes);
      if (failed(sharder.cut()))
        return failure();
      sharder.insertConversions();
      explain(function, sharder, axis);
      if (isRequired && failed(requireSharded(function)))
        return failure();
    }
    return success();
  }
};

} // namespace

int64_t unitsToDivide(func::FuncOp function, StringRef axis) {
  StringAttr name = StringAttr::get(function.getContext(), axis);
  std::vector<Region> regions = RegionGrower(function, name, {}).growAll();
  int64_t units = 0;
  for (size_t index : chooseRegions(regions))
    if (!regions[index].isVocabulary)
      units = std::gcd(units, regions[index].units);
  return units;
}

} // namespace colrow
