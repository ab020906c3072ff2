//===- MpiRanks.h - ranks as processes that talk through MPI ---------------===//
//
// Ranks on one machine exchange through a window of shared memory (MPI-3), without MPI calls; ranks
// on different ones by messages. Sums have the bits of thread ranks either way.
//
// A process that is lost (killed, out of memory) is noticed at once by those on its machine: one of
// them says so on stderr, and all end with exit code 1.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "colrow/RankRunner.h"

namespace colrow {

struct MpiRankOptions : ThreadRankOptions {
  /// Each process as if it were alone on its machine: everything goes by messages.
  bool apart = false;
};

/// Starts MPI, once in a process's life, with this process as the rank of `grid` that its number
/// says; ends MPI when it is destroyed. A collective of all processes. Throws Error if their number
/// is not the grid's.
std::unique_ptr<RankRunner> mpiRunner(const std::vector<GridAxis> &grid,
                                      const MpiRankOptions &options);

} // namespace colrow
