//===- RankRunner.h - carries out the ranks of a run -----------------------===//
//
// The ranks of a grid are threads of one process, or each is a process that a launcher started.
// Programs are written once for both:
//
//   std::unique_ptr<RankRunner> ranks = ...;
//   try {
//     ranks->run([&](Rank &rank) { ... });
//   } catch (const Error &error) {
//     if (ranks->reports())
//       std::cerr << "error: " << error.what() << "\n";
//   }
//
//===----------------------------------------------------------------------===//
#pragma once

#include "colrow/Rank.h"
#include "colrow/ThreadRanks.h"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace colrow {

class RankRunner {
public:
  virtual ~RankRunner() = default;

  /// Whether rank 0 is in this process: the one that prints and writes files.
  virtual bool hasFirst() const = 0;

  /// Runs `function` for each rank of this process, and returns when all ranks of the grid have
  /// returned. If one throws, all leave their collectives: the error is thrown in its process, and
  /// CollectiveAborted in the others. `advice` says what to do where another process was lost (it
  /// is appended to the message); it may be called from any thread, and the process ends after it.
  virtual void run(const std::function<void(Rank &)> &function,
                   const std::function<std::string()> &advice = {}) = 0;

  /// This process ends with an error, inside of run or elsewhere, so all others shall too. True in
  /// the one that was first, whose error is to be reported.
  virtual bool reports() = 0;
};

/// All ranks as threads of this process.
std::unique_ptr<RankRunner> threadRunner(const std::vector<GridAxis> &grid,
                                         const ThreadRankOptions &options);

} // namespace colrow
