//===- Choose.cpp - which regions to cut ----------------------------------===//

#include "passes/shard/Regions.h"

using namespace mlir;

namespace colrow {

namespace {

/// Gains, compared in order; they add up over regions that agree.
struct Gain {
  double flops = 0, parameterBytes = 0, movedBytes = 0;
  int64_t collectives = 0;

  Gain operator+(const Gain &o) const {
    return {flops + o.flops, parameterBytes + o.parameterBytes, movedBytes + o.movedBytes,
            collectives + o.collectives};
  }
  bool operator>(const Gain &o) const {
    return std::tuple(flops, parameterBytes, -movedBytes, -collectives) >
           std::tuple(o.flops, o.parameterBytes, -o.movedBytes, -o.collectives);
  }
};

/// Maximum-weight independent set by branching on the region with the most conflicts; what is left
/// falls apart into small components, each solved by itself. The residual stream's own region, for
/// one, conflicts with every other: without it the layers are independent.
class IndependentSet {
public:
  IndependentSet(ArrayRef<Region> regions, std::vector<llvm::SmallSetVector<size_t, 8>> conflicts)
      : regions(regions), conflicts(std::move(conflicts)) {}

  std::pair<Gain, std::vector<size_t>> solve(const std::vector<size_t> &nodes) {
    std::pair<Gain, std::vector<size_t>> best;
    for (const std::vector<size_t> &component : components(nodes)) {
      auto [gain, chosen] = solveComponent(component);
      best.first = best.first + gain;
      best.second.insert(best.second.end(), chosen.begin(), chosen.end());
    }
    return best;
  }

private:
  Gain gainOf(size_t node) const {
    const Region &region = regions[node];
    return {region.flops, region.parameterBytes, region.movedBytes, region.collectives};
  }

  std::vector<std::vector<size_t>> components(const std::vector<size_t> &nodes) {
    std::vector<std::vector<size_t>> result;
    llvm::DenseSet<size_t> rest(nodes.begin(), nodes.end());
    for (size_t start : nodes) {
      if (!rest.erase(start))
        continue;
      std::vector<size_t> component{start};
      for (size_t i = 0; i < component.size(); ++i)
        for (size_t next : conflicts[component[i]])
          if (rest.erase(next))
            component.push_back(next);
      llvm::sort(component);
      result.push_back(std::move(component));
    }
    return result;
  }

  std::pair<Gain, std::vector<size_t>> solveComponent(const std::vector<size_t> &component) {
    if (component.size() == 1)
      return {gainOf(component[0]), component};
    llvm::DenseSet<size_t> inside(component.begin(), component.end());
    auto degree = [&](size_t node) {
      return llvm::count_if(conflicts[node], [&](size_t other) { return inside.count(other); });
    };
    size_t pivot = component[0];
    for (size_t node : component)
      if (degree(node) > degree(pivot))
        pivot = node;
    std::vector<size_t> with, without;
    for (size_t node : component) {
      if (node == pivot)
        continue;
      without.push_back(node);
      if (!conflicts[pivot].count(node))
        with.push_back(node);
    }
    auto taken = solve(with);
    taken.first = taken.first + gainOf(pivot);
    taken.second.push_back(pivot);
    auto left = solve(without);
    return left.first > taken.first ? left : taken;
  }

  ArrayRef<Region> regions;
  std::vector<llvm::SmallSetVector<size_t, 8>> conflicts;
};

} // namespace

std::vector<size_t> chooseRegions(ArrayRef<Region> regions, ArrayRef<size_t> wanted) {
  std::vector<size_t> nodes;
  llvm::DenseMap<Operation *, SmallVector<size_t>> owners;
  std::vector<llvm::SmallSetVector<size_t, 8>> conflicts(regions.size());
  for (auto [i, region] : llvm::enumerate(regions)) {
    if (!region.isLegal())
      continue;
    nodes.push_back(i);
    for (auto &[op, cut] : region.ops) {
      for (size_t other : owners[op]) {
        conflicts[i].insert(other);
        conflicts[other].insert(i);
      }
      owners[op].push_back(i);
    }
  }
  llvm::erase_if(nodes, [&](size_t node) {
    return llvm::is_contained(wanted, node) ||
           llvm::any_of(wanted, [&](size_t other) { return conflicts[node].count(other); });
  });
  std::vector<size_t> chosen = IndependentSet(regions, std::move(conflicts)).solve(nodes).second;
  chosen.insert(chosen.end(), wanted.begin(), wanted.end());
  llvm::sort(chosen);
  return chosen;
}

} // namespace colrow
