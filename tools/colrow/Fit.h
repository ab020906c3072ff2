//===- Fit.h - how many ranks a model needs for a given memory ------------===//
//
// Plans for several numbers of ranks, each made when it is first asked for. For a search most need
// not be made: with more ranks nothing of a rank grows, and nothing but what is cut shrinks, so
// each plan bounds all others,
//
//   bytes(e) e / n <= bytes(n) <= bytes(e)    where n > e,
//
// and of parameters, gradients and moments the plan says which are cut.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "tools/colrow/Model.h"

#include <map>
#include <nlohmann/json.hpp>

namespace colrow {

/// Memory for ranks. All ranks of this machine share its memory; what --memory gives is for each.
struct Budget {
  int64_t bytes = 0;
  bool isShared = true;
  int64_t perRank(int64_t ranks) const { return isShared ? bytes / ranks : bytes; }
};

class RankPlans {
public:
  /// With `evaluates` a rank has memory for the outputs too.
  RankPlans(Model &model, bool evaluates) : model(model), evaluates(evaluates) {}

  /// The manifest of the trainer for tp = `ranks`. Throws Error.
  const nlohmann::ordered_json &manifest(int64_t ranks);
  /// Takes one that is known already.
  void add(int64_t ranks, nlohmann::ordered_json manifest) {
    manifests[ranks] = std::move(manifest);
  }

  /// Memory of one rank during training.
  int64_t bytes(int64_t ranks) { return bytesOf(manifest(ranks)); }

  /// The tp, up to 64, that divide this model. Throws Error.
  const std::vector<int64_t> &choices();

  /// The smallest of them that fits.
  std::optional<int64_t> smallest(const Budget &budget);

private:
  struct Bounds {
    double low = 0, high = 0;
  };
  int64_t bytesOf(const nlohmann::ordered_json &manifest) const;
  /// From all plans made so far, of which there is one.
  Bounds boundsOf(int64_t ranks) const;

  Model &model;
  bool evaluates;
  std::map<int64_t, nlohmann::ordered_json> manifests;
  std::vector<int64_t> divisors;
};

} // namespace colrow
