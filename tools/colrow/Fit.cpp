//===- Fit.cpp - how many ranks a model needs for a given memory ----------===//

#include "tools/colrow/Fit.h"
#include "passes/shard/Units.h"
#include "tools/colrow/Report.h"

#include <algorithm>
#include <limits>

using namespace mlir;
using Json = nlohmann::ordered_json;

namespace colrow {

const Json &RankPlans::manifest(int64_t ranks) {
  auto found = manifests.find(ranks);
  if (found == manifests.end())
    found = manifests.emplace(ranks, Json::parse(model.emit(ranks).manifest)).first;
  return found->second;
}

int64_t RankPlans::bytesOf(const Json &manifest) const {
  int64_t outputs = evaluates ? manifest["segments"].value("outputs", int64_t(0)) : 0;
  return rankMemory(manifest).training + outputs;
}

const std::vector<int64_t> &RankPlans::choices() {
  constexpr int64_t most = 64;
  if (!divisors.empty())
    return divisors;
  OwningOpRef<ModuleOp> forward = model.compile(1, buildForwardPipeline);
  int64_t units = unitsToDivide(forward->lookupSymbol<func::FuncOp>("main"), "tp");
  for (int64_t ranks = 1; ranks <= most; ++ranks)
    if (units % ranks == 0)
      divisors.push_back(ranks);
  return divisors;
}

/// Bytes of parameters, gradients and moments that more ranks make fewer.
static double cutBytes(const Json &manifest) {
  double cut = 0, all = 0, allocated = 0;
  for (const Json &parameter : manifest["parameters"]) {
    double bytes = parameter["bytes_per_rank"];
    all += bytes;
    cut += parameter["layout"] == "invariant" ? 0 : bytes;
  }
  for (const char *segment : {"parameters", "gradients", "optimizer"})
    allocated += manifest["segments"][segment].get<double>();
  return all > 0 ? allocated * cut / all : 0;
}

RankPlans::Bounds RankPlans::boundsOf(int64_t ranks) const {
  Bounds bounds{0, std::numeric_limits<double>::infinity()};
  for (const auto &[planned, manifest] : manifests) {
    double bytes = static_cast<double>(bytesOf(manifest)), cut = cutBytes(manifest);
    double ratio = static_cast<double>(planned) / static_cast<double>(ranks);
    // One rank's plan does not say what would be cut.
    double likely = bytes + cut * (ratio - 1), most = bytes * ratio;
    bounds.low = std::max(bounds.low, std::min(likely, most));
    bounds.high = std::min(bounds.high, std::max(likely, most));
  }
  return bounds;
}

std::optional<int64_t> RankPlans::smallest(const Budget &budget) {
  auto fits = [&](int64_t ranks) {
    double most = static_cast<double>(budget.perRank(ranks));
    Bounds bounds = boundsOf(ranks);
    return bounds.high <= most ? 1 : bounds.low > most ? -1 : 0;
  };
  if (budget.isShared) {
    // All ranks together need most where there are most of them.
    if (fits(1) == 0)
      manifest(1);
    return fits(1) > 0 ? std::optional<int64_t>(1) : std::nullopt;
  }
  if (fits(1) > 0)
    return 1;
  const std::vector<int64_t> &all = choices();
  size_t first = 0, end = all.size(); // it is in [first, end], if there is one
  while (true) {
    for (size_t i = first; i < end; ++i) {
      int known = fits(all[i]);
      if (known < 0)
        first = i + 1;
      if (known > 0)
        end = i;
    }
    if (first >= end)
      break;
    manifest(all[(first + end) / 2]);
  }
  return end < all.size() ? std::optional<int64_t>(all[end]) : std::nullopt;
}

} // namespace colrow
