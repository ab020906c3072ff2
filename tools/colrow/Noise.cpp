//===- Noise.cpp - how far rounding alone takes a model -------------------===//

#include "tools/colrow/Noise.h"
#include "tools/colrow/TemporaryFolder.h"
#include "tools/colrow/Trainer.h"
#include "tools/colrow/Weights.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <random>

namespace colrow {

/// What is further off than this is no rounding: a model that does it, or one that is not finite, is
/// held to the usual limit.
static constexpr double largestLimit = 1e-3;

/// The weights, each changed in its last bit.
static ParameterData nudged(ParameterData weights) {
  auto random = std::make_shared<std::mt19937>(1);
  return [weights, random](const Parameter &parameter) {
    std::vector<float> values = weights(parameter);
    for (float &value : values)
      value *= 1 + ((*random)() % 2 ? 1 : -1) * std::numeric_limits<float>::epsilon();
    return values;
  };
}

Noise measureNoise(Model &model, int64_t ranks, const Batches &batches, int64_t steps,
                   const std::string &weights) {
  TemporaryFolder temporary;
  std::string other = (temporary.path / "nudged.safetensors").string();
  writeWeights(model.parameters(), nudged(startingWeights(model, weights)), other);
  TrainingRun run = replayTraining(model, ranks, batches, steps, weights);
  TrainingRun near = replayTraining(model, ranks, batches, steps, other);
  Noise noise;
  noise.gradients = gradientNoise(near, run);
  noise.distances = compareRuns(near, run, 0, noise.gradients);
  return noise;
}

std::vector<Distance> allowNoise(std::vector<Distance> table, const Noise &noise) {
  for (Distance &row : table)
    for (const Distance &measured : noise.distances)
      if (measured.quantity == row.quantity && measured.name == row.name &&
          4 * measured.value <= largestLimit)
        row.limit = std::max(row.limit, 4 * measured.value);
  return table;
}

} // namespace colrow
