//===- ThreadRanks.h - ranks as threads of one process ---------------------===//
#pragma once

#include "colrow/Rank.h"

#include <functional>
#include <vector>

namespace colrow {

struct ThreadRankOptions {
  /// Seconds a rank may wait in one collective before the run ends with an error that names the
  /// collective and the ranks that did not come; 0: no limit. Without a limit too, the run ends
  /// at once when all ranks wait for each other or for ranks that have returned.
  double waitLimit = 0;
  /// What Rank::threads() says.
  int threadsPerRank = 1;
};

/// Runs `function` once for each rank of `grid`, each in a thread of its own, and returns when
/// all have returned. If any throws, the others leave their collectives, and the first error
/// (never a CollectiveAborted) is thrown again here.
void runRanks(const std::vector<GridAxis> &grid, const std::function<void(Rank &)> &function,
              const ThreadRankOptions &options = {});

} // namespace colrow
