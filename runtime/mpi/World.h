//===- World.h - this process among the others -----------------------------===//
//
// Owns MPI, the window and the thread that watches the other processes of this machine. All that
// waits, waits here: it spins, sleeps, and meanwhile sees whether the run has failed.
//
// Only the thread that made it calls MPI (MPI_THREAD_FUNNELED).
//
//===----------------------------------------------------------------------===//
#pragma once

#include "Window.h"
#include "colrow/MpiRanks.h"

#include <chrono>
#include <functional>
#include <memory>
#include <mpi.h>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace colrow {

/// Members of a group by their ranks, as one of them asks for it.
struct Group {
  std::vector<int64_t> members;
  int64_t place = 0; ///< of this rank
  std::string name;
  uint32_t slot = 0;
};

class World {
public:
  World(const std::vector<GridAxis> &grid, const MpiRankOptions &options);
  /// Ends MPI: in good order where all processes come to it, else by force.
  ~World();
  World(const World &) = delete;
  World &operator=(const World &) = delete;

  int64_t rank() const { return self; }
  MPI_Comm messages() const { return everyone; }
  uint32_t slotOf(const std::vector<int64_t> &members) const;
  bool isNear(const std::vector<int64_t> &members) const;
  /// Of a rank on this machine.
  const PartView &part(int64_t rank) const { return parts[size_t(placeOf[size_t(rank)])]; }
  size_t stagingBytes() const { return staging; }
  /// Memory that lives as long as MPI does, for messages that may never be received.
  char *keepBuffer(size_t bytes);

  /// Throws CollectiveAborted if the run has failed.
  void requireRunning(const Group &group, const Call &call);

  /// This rank has come once more to what its group does.
  void arrive(const Group &group);
  /// Waits until all members have come as often as this rank has.
  void awaitMembers(const Group &group);
  /// The same, but later: before this rank takes part in anything else.
  void awaitMembersLater(const Group &group);
  void awaitPending();

  /// Waits for the messages of a collective: `receives` has one for each member (null: none).
  void awaitMessages(const Group &group, const Call &call, std::vector<MPI_Request> &receives,
                     std::vector<MPI_Request> &sends);

  /// See RankRunner.
  void run(const std::function<void()> &function, std::function<std::string()> advice);
  bool reports();

private:
  using Clock = std::chrono::steady_clock;

  void makeWindow();
  void startWatching();
  void watch();
  void seeLost(const Part &lost);
  Part &first() const { return *parts[0].part; }
  bool hasFailed() const { return first().failed.load() != 0; }
  void takeFailureNotices();
  /// Throws if the run has failed, or if this wait takes too long. `who` names those who wait.
  void checkWait(const Group &group, const Call &call, Clock::time_point since,
                 const std::function<std::string()> &who);
  bool awaitArrivals(Slot &slot, uint32_t goal, const Group &group, Clock::time_point since);
  void sayWaiting(uint32_t waits, uint32_t goal);
  std::vector<int64_t> missingFor(const PartView &waiting) const;
  std::string whoWaits() const;
  bool isDeadlock() const;
  bool allEnd(double seconds);

  struct Mpi {
    Mpi();
    ~Mpi();
  } mpi;
  std::vector<GridAxis> grid; ///< without axes of size 1
  MpiRankOptions options;
  int64_t self = 0, size = 1;
  MPI_Comm everyone = MPI_COMM_NULL, machine = MPI_COMM_NULL;
  MPI_Win window = MPI_WIN_NULL;
  MPI_Request end = MPI_REQUEST_NULL; ///< of the barrier that all come to before they go
  bool ends = false, ended = false;   ///< it has begun; all have come
  bool abandoned = false;             ///< messages were given up
  bool spins = true;                  ///< each process here has a core
  size_t staging = 0;
  std::vector<PartView> parts;  ///< of this machine
  std::vector<int64_t> placeOf; ///< by rank: its place in `parts`, or -1
  PartView mine;
  const Group *pending = nullptr;
  std::vector<std::unique_ptr<char[]>> buffers;
  int64_t failureNotice = 0;
  std::vector<MPI_Request> failureNotices;

  std::mutex adviceMutex;
  std::function<std::string()> advice;
  int stopWatching = -1; ///< eventfd
  std::thread watcher;
};

} // namespace colrow
