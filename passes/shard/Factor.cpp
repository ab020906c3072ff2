//===- Factor.cpp - an axis as two, for fewer kv heads than ranks ----------===//
//
// 8 ranks and 2 heads of keys and values, each with 4 query heads: over tp.0 = 2 the groups are cut,
// keys and values with them; over tp.1 = 4 the query heads of each group, beside which keys and
// values are whole and f stands. Everything else is cut over both.
//
//   tp = 8:  |kv0        |kv1        |      tp.0
//            |q0|q1|q2|q3|q4|q5|q6|q7|      tp.0 x tp.1
//
//===----------------------------------------------------------------------===//

#include "passes/shard/Sharder.h"
#include "mlir/IR/Diagnostics.h"

#include <numeric>
#include <set>

using namespace mlir;

namespace colrow {

SmallVector<StringAttr> factorAxis(ModuleOp module, StringAttr axis, int64_t outer) {
  GridAttr grid = getGrid(module);
  SmallVector<StringAttr> names, parts;
  SmallVector<int64_t> sizes;
  for (auto [name, size] : llvm::zip(grid.getNames(), grid.getSizes())) {
    if (name != axis) {
      names.push_back(name);
      sizes.push_back(size);
      continue;
    }
    for (auto [part, ranks] : {std::pair(".0", outer), std::pair(".1", size / outer)}) {
      parts.push_back(StringAttr::get(module.getContext(), name.getValue() + part));
      names.push_back(parts.back());
      sizes.push_back(ranks);
    }
  }
  module->setAttr(ColrowDialect::gridAttrName,
                  GridAttr::get(module.getContext(), names, sizes));
  return parts;
}

/// Product FLOPs of a rank when the axis is factored so, or nothing where that cannot be.
static std::optional<double> tryFactor(ModuleOp module, StringAttr axis, int64_t outer,
                                       ArrayRef<Wish> wishes) {
  // What fails here is no news to the user: it is not done.
  ScopedDiagnosticHandler quiet(module.getContext(), [](Diagnostic &) { return success(); });
  OwningOpRef<ModuleOp> trial(module.clone());
  SmallVector<StringAttr> axes{axis};
  if (outer > 1)
    axes = factorAxis(*trial, axis, outer);
  double flops = 0;
  for (auto function : trial->getOps<func::FuncOp>()) {
    Sharder sharder(function, axes, wishes);
    if (failed(sharder.cut()))
      return std::nullopt;
    flops += sharder.rankFlops();
  }
  return flops;
}

int64_t outerFactor(ModuleOp module, StringAttr axis, ArrayRef<Wish> wishes) {
  int64_t ranks = getGrid(module).sizeOf(axis.getValue());
  std::set<int64_t> candidates;
  for (auto function : module.getOps<func::FuncOp>()) {
    for (const Region &region : RegionGrower(function, axis, {}).growAll())
      if (region.isLegal() && !region.isVocabulary)
        candidates.insert(std::gcd(region.units, ranks));
  }
  candidates.erase(1);
  candidates.erase(ranks);
  if (candidates.empty())
    return 1;
  std::optional<double> best = tryFactor(module, axis, 1, wishes);
  int64_t outer = 1;
  for (int64_t candidate : candidates)
    if (std::optional<double> flops = tryFactor(module, axis, candidate, wishes);
        flops && (!best || *flops < *best * (1 - 1e-9))) {
      best = flops;
      outer = candidate;
    }
  return outer;
}

} // namespace colrow
