//===- Noise.h - how far rounding alone takes a model ---------------------===//
#pragma once

#include "tools/colrow/Compare.h"
#include "tools/colrow/Model.h"

namespace colrow {

/// The difference between two runs of the emitted program, from weights that differ in their last
/// bit: what another order of sums may do as well.
struct Noise {
  std::map<std::string, double> gradients; ///< root mean square over a parameter's elements
  std::vector<Distance> distances;
};
Noise measureNoise(Model &model, int64_t ranks, const Batches &batches, int64_t steps,
                   const std::string &weights);

/// Where rounding takes the model further than the limit allows, four times as far is the limit
/// (test/models/README.md, Tolerances).
std::vector<Distance> allowNoise(std::vector<Distance> table, const Noise &noise);

} // namespace colrow
