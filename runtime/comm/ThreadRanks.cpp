//===- ThreadRanks.cpp - ranks as threads of one process -------------------===//
//
// A collective has three parts: every member publishes its buffers, a barrier, the work, a
// barrier. Between the two barriers members read each other's buffers directly, so nothing is
// copied that need not be; member m does the m-th part of a reduction, for all, in member order.
//
// All barriers share one mutex. That makes them exact about deadlock: the rank that is about to
// wait sees whether every other running rank waits too.
//
//===----------------------------------------------------------------------===//

#include "colrow/ThreadRanks.h"
#include "Collective.h"
#include "colrow/RankRunner.h"

#include <algorithm>
#include <cassert>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>

namespace colrow {
namespace {

/// What a member brings to a collective.
struct ThreadCall : Call {
  const void *send = nullptr;
  void *receive = nullptr;
};

/// The shared side of one communicator.
struct Group {
  std::vector<int64_t> members;
  std::string name;
  std::vector<ThreadCall> calls; ///< by member
  std::vector<char> arrived;     ///< by member
  int64_t arrivals = 0;
  uint64_t generation = 0; ///< barriers completed
  std::condition_variable released;
};

/// What all ranks of a run share.
class World {
public:
  World(int64_t ranks, double waitLimit)
      : running(ranks), waitLimit(waitLimit), waitsIn(size_t(ranks)) {}

  Group &group(const std::vector<int64_t> &members, const std::string &name) {
    std::lock_guard<std::mutex> lock(mutex);
    std::unique_ptr<Group> &found = groups[members];
    if (!found) {
      found = std::make_unique<Group>();
      found->members = members;
      found->name = name;
      found->calls.resize(members.size());
      found->arrived.assign(members.size(), 0);
    }
    return *found;
  }

  /// The barrier before the work of a collective: publishes `call`, waits until all members have
  /// published theirs, and checks that they agree. Throws if the run has failed meanwhile.
  void enter(Group &group, int64_t place, const ThreadCall &call);

  /// The barrier after it. Members that have entered do come here, and still read this one's
  /// buffers until they do; so this waits for them even when the run has failed.
  void leave(Group &group, int64_t place);

  /// A rank has ended, with an error or (null) without.
  void finish(std::exception_ptr error) {
    std::lock_guard<std::mutex> lock(mutex);
    --running;
    if (error)
      fail(error);
    else if (running > 0 && waiting == running && !firstError)
      fail(std::make_exception_ptr(Error("deadlock: " + whoWaits())));
  }

  std::exception_ptr error() const { return firstError; }

private:
  /// Counts a member in; true for the last one, which releases the others. Needs the mutex.
  bool arrive(Group &group, int64_t place);

  /// Records the first error and wakes everyone. Needs the mutex.
  void fail(std::exception_ptr error) {
    if (firstError)
      return;
    firstError = error;
    for (auto &entry : groups)
      entry.second->released.notify_all();
  }

  /// "rank 0 waits in allReduce of 8 f32 over tp for rank 1". Needs the mutex.
  std::string whoWaits() const {
    std::string text;
    for (size_t rank = 0; rank < waitsIn.size(); ++rank) {
      const Group *group = waitsIn[rank];
      if (!group)
        continue;
      std::vector<int64_t> missing;
      size_t place = 0;
      for (size_t m = 0; m < group->members.size(); ++m) {
        if (group->members[m] == int64_t(rank))
          place = m;
        if (!group->arrived[m])
          missing.push_back(group->members[m]);
      }
      text += (text.empty() ? "" : "; ") +
              waitText(int64_t(rank), group->calls[place], group->name, missing);
    }
    return text;
  }

  std::mutex mutex;
  std::map<std::vector<int64_t>, std::unique_ptr<Group>> groups;
  int64_t running, waiting = 0;
  double waitLimit;
  std::vector<const Group *> waitsIn; ///< by rank; null: it does not wait
  std::exception_ptr firstError;
};

bool World::arrive(Group &group, int64_t place) {
  group.arrived[size_t(place)] = 1;
  if (++group.arrivals < int64_t(group.members.size()))
    return false;
  group.arrivals = 0;
  std::fill(group.arrived.begin(), group.arrived.end(), 0);
  ++group.generation;
  for (int64_t member : group.members)
    if (waitsIn[size_t(member)]) {
      waitsIn[size_t(member)] = nullptr;
      --waiting;
    }
  group.released.notify_all();
  return true;
}

void World::enter(Group &group, int64_t place, const ThreadCall &call) {
  std::unique_lock<std::mutex> lock(mutex);
  int64_t rank = group.members[size_t(place)];
  auto abortIfFailed = [&] {
    if (firstError)
      throw CollectiveAborted(abortText(rank, call, group.name));
  };
  abortIfFailed();
  group.calls[size_t(place)] = call;
  if (!arrive(group, place)) {
    uint64_t generation = group.generation;
    waitsIn[size_t(rank)] = &group;
    if (++waiting == running)
      fail(std::make_exception_ptr(Error("deadlock: " + whoWaits())));
    auto done = [&] { return group.generation != generation || firstError; };
    if (waitLimit <= 0)
      group.released.wait(lock, done);
    else if (!group.released.wait_for(lock, std::chrono::duration<double>(waitLimit), done))
      fail(std::make_exception_ptr(
          Error("no progress for " + secondsText(waitLimit) + " s: " + whoWaits())));
    if (group.generation == generation)
      abortIfFailed();
  }
  for (size_t m = 1; m < group.calls.size(); ++m)
    if (!group.calls[m].agrees(group.calls[0])) {
      Error error(disagreement(group.name, group.members[0], group.calls[0].text(),
                               group.members[m], group.calls[m].text()));
      fail(std::make_exception_ptr(error));
      throw error;
    }
}

void World::leave(Group &group, int64_t place) {
  std::unique_lock<std::mutex> lock(mutex);
  if (arrive(group, place))
    return;
  uint64_t generation = group.generation;
  group.released.wait(lock, [&] { return group.generation != generation; });
}

/// The same over what the members of a group send, from an offset on.
template <typename T>
void reduceSent(const Group &group, int64_t offset, int64_t count, ReduceOp op, T *into) {
  auto sent = [&](int64_t m) {
    return static_cast<const T *>(group.calls[size_t(m)].send) + offset;
  };
  reduceInOrder(int64_t(group.calls.size()), sent, count, op, into);
}

/// Member `place` reduces its part of the elements and gives the result to all members.
template <typename T>
void allReducePart(const Group &group, int64_t place, int64_t count, ReduceOp op) {
  auto [first, end] = partOf<T>(place, int64_t(group.members.size()), count);
  T block[reduceBlock];
  for (int64_t begin = first; begin < end; begin += reduceBlock) {
    int64_t size = std::min(reduceBlock, end - begin);
    reduceSent(group, begin, size, op, block);
    for (const ThreadCall &call : group.calls)
      std::memcpy(static_cast<T *>(call.receive) + begin, block, size_t(size) * sizeof(T));
  }
}

class ThreadCommunicator : public Communicator {
public:
  ThreadCommunicator(World &world, Group &group, int64_t place)
      : Communicator(int64_t(group.members.size()), place, group.name), world(world),
        group(group) {}

protected:
  void doAllReduce(void *data, int64_t count, ElementType type, ReduceOp op) override {
    if (size() == 1)
      return;
    collective({{Collective::allReduce, type, count, int64_t(op)}, data, data}, [&] {
      byType(type, [&](auto zero) {
        allReducePart<decltype(zero)>(group, index(), count, op);
      });
    });
  }

  void doAllGather(const void *send, void *receive, int64_t count, ElementType type) override {
    size_t bytes = size_t(count) * typeBytes(type);
    collective({{Collective::allGather, type, count, 0}, send, receive}, [&] {
      for (size_t m = 0; m < group.calls.size(); ++m)
        copy(receive, m * bytes, group.calls[m].send, 0, bytes);
    });
  }

  void doReduceScatter(const void *send, void *receive, int64_t count,
                       ElementType type) override {
    collective({{Collective::reduceScatter, type, count, 0}, send, receive}, [&] {
      byType(type, [&](auto zero) {
        using T = decltype(zero);
        for (int64_t begin = 0; begin < count; begin += reduceBlock)
          reduceSent(group, index() * count + begin, std::min(reduceBlock, count - begin),
                     ReduceOp::sum, static_cast<T *>(receive) + begin);
      });
    });
  }

  void doAllToAll(const void *send, void *receive, int64_t count, ElementType type) override {
    size_t bytes = size_t(count) * typeBytes(type);
    collective({{Collective::allToAll, type, count, 0}, send, receive}, [&] {
      for (size_t m = 0; m < group.calls.size(); ++m)
        copy(receive, m * bytes, group.calls[m].send, size_t(index()) * bytes, bytes);
    });
  }

  void doBroadcast(void *data, int64_t count, ElementType type, int64_t root) override {
    assert(root >= 0 && root < size() && "no such member");
    collective({{Collective::broadcast, type, count, root}, data, data}, [&] {
      if (index() != root)
        copy(data, 0, group.calls[size_t(root)].send, 0, size_t(count) * typeBytes(type));
    });
  }

  void doBarrier() override { collective({}, [] {}); }

private:
  static void copy(void *to, size_t toOffset, const void *from, size_t fromOffset,
                   size_t bytes) {
    if (bytes) // pointers may be null where there is nothing to copy
      std::memcpy(static_cast<char *>(to) + toOffset,
                  static_cast<const char *>(from) + fromOffset, bytes);
  }

  template <typename Work> void collective(const ThreadCall &call, Work work) {
    world.enter(group, index(), call);
    work();
    world.leave(group, index());
  }

  World &world;
  Group &group;
};

class ThreadRank : public Rank {
public:
  ThreadRank(World &shared, const std::vector<GridAxis> &grid, int64_t index, int threads)
      : Rank(grid, index, threads), shared(shared) {}

protected:
  std::unique_ptr<Communicator> connect(const std::vector<int64_t> &members, int64_t place,
                                        const std::string &name) override {
    return std::make_unique<ThreadCommunicator>(shared, shared.group(members, name), place);
  }

private:
  World &shared;
};

} // namespace

void runRanks(const std::vector<GridAxis> &grid, const std::function<void(Rank &)> &function,
              const ThreadRankOptions &options) {
  int64_t ranks = gridSize(grid);
  World world(ranks, options.waitLimit);
  auto runOne = [&](int64_t index) {
    std::exception_ptr error;
    try {
      ThreadRank rank(world, grid, index, options.threadsPerRank);
      function(rank);
    } catch (...) {
      error = std::current_exception();
    }
    world.finish(error);
  };
  std::vector<std::thread> threads;
  for (int64_t i = 1; i < ranks; ++i) {
    try {
      threads.emplace_back(runOne, i);
    } catch (const std::system_error &error) {
      world.finish(std::make_exception_ptr(
          Error("cannot start a thread for rank " + std::to_string(i) + ": " + error.what())));
    }
  }
  runOne(0); // the calling thread is rank 0: a single rank is easy to debug
  for (std::thread &thread : threads)
    thread.join();
  if (world.error())
    std::rethrow_exception(world.error());
}

namespace {

class ThreadRunner : public RankRunner {
public:
  ThreadRunner(const std::vector<GridAxis> &grid, const ThreadRankOptions &options)
      : grid(grid), options(options) {}

  bool hasFirst() const override { return true; }
  void run(const std::function<void(Rank &)> &function,
           const std::function<std::string()> &) override {
    runRanks(grid, function, options);
  }
  bool reports() override { return true; }

private:
  std::vector<GridAxis> grid;
  ThreadRankOptions options;
};

} // namespace

std::unique_ptr<RankRunner> threadRunner(const std::vector<GridAxis> &grid,
                                         const ThreadRankOptions &options) {
  return std::make_unique<ThreadRunner>(grid, options);
}

} // namespace colrow
