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

#include <algorithm>
#include <cassert>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstring>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>

namespace colrow {
namespace {

const char *typeName(ElementType type) {
  switch (type) {
  case ElementType::f32: return "f32";
  case ElementType::f64: return "f64";
  case ElementType::i64: return "i64";
  }
  return "";
}

std::string secondsText(double seconds) {
  char text[32];
  std::snprintf(text, sizeof(text), "%g", seconds);
  return text;
}

size_t typeBytes(ElementType type) { return type == ElementType::f32 ? 4 : 8; }

/// What a member brings to a collective.
struct Call {
  const char *name = "barrier";
  int64_t count = 0;
  ElementType type = ElementType::f32;
  int64_t detail = 0; ///< reduction or root
  const void *send = nullptr;
  void *receive = nullptr;

  bool agrees(const Call &other) const {
    return std::strcmp(name, other.name) == 0 && count == other.count && type == other.type &&
           detail == other.detail;
  }
  std::string text() const {
    if (std::strcmp(name, "barrier") == 0)
      return name;
    return std::string(name) + " of " + std::to_string(count) + " " + typeName(type);
  }
};

/// The shared side of one communicator.
struct Group {
  std::vector<int64_t> members;
  std::string name;
  std::vector<Call> calls;   ///< by member
  std::vector<char> arrived; ///< by member
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
  void enter(Group &group, int64_t place, const Call &call);

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
      std::string missing;
      int64_t count = 0, place = 0;
      for (size_t m = 0; m < group->members.size(); ++m) {
        if (group->members[m] == int64_t(rank))
          place = int64_t(m);
        if (!group->arrived[m])
          missing += (count++ ? ", " : "") + std::to_string(group->members[m]);
      }
      text += (text.empty() ? "rank " : "; rank ") + std::to_string(rank) + " waits in " +
              group->calls[size_t(place)].text() + " over " + group->name + " for rank" +
              (count == 1 ? " " : "s ") + missing;
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

void World::enter(Group &group, int64_t place, const Call &call) {
  std::unique_lock<std::mutex> lock(mutex);
  int64_t rank = group.members[size_t(place)];
  auto abortIfFailed = [&] {
    if (firstError)
      throw CollectiveAborted("rank " + std::to_string(rank) + " left " + call.text() +
                              " over " + group.name + " because another rank failed");
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
      Error error("ranks over " + group.name + " disagree: rank " +
                  std::to_string(group.members[0]) + " calls " + group.calls[0].text() +
                  ", rank " + std::to_string(group.members[m]) + " calls " +
                  group.calls[m].text());
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

/// into[i] = the reduction of send[m][offset + i] over all members m in order.
template <typename T>
void reduceInOrder(const Group &group, int64_t offset, int64_t count, ReduceOp op, T *into) {
  auto sendOf = [&](size_t m) { return static_cast<const T *>(group.calls[m].send) + offset; };
  std::memcpy(into, sendOf(0), size_t(count) * sizeof(T));
  for (size_t m = 1; m < group.calls.size(); ++m) {
    const T *from = sendOf(m);
    if (op == ReduceOp::sum) {
      for (int64_t i = 0; i < count; ++i)
        into[i] += from[i];
    } else {
      for (int64_t i = 0; i < count; ++i)
        into[i] = from[i] > into[i] || from[i] != from[i] ? from[i] : into[i];
    }
  }
}

/// Elements that are reduced at a time: small enough to stay in the first cache.
constexpr int64_t reduceBlock = 2048;

/// Member `place` reduces its part of the elements and gives the result to all members.
template <typename T>
void allReducePart(const Group &group, int64_t place, int64_t count, ReduceOp op) {
  int64_t members = int64_t(group.members.size());
  // Parts are whole cache lines, so that no line is written by two members.
  constexpr int64_t line = 64 / sizeof(T);
  int64_t part = (count + members * line - 1) / (members * line) * line;
  int64_t end = std::min(count, part * (place + 1));
  T block[reduceBlock];
  for (int64_t begin = part * place; begin < end; begin += reduceBlock) {
    int64_t size = std::min(reduceBlock, end - begin);
    reduceInOrder(group, begin, size, op, block);
    for (const Call &call : group.calls)
      std::memcpy(static_cast<T *>(call.receive) + begin, block, size_t(size) * sizeof(T));
  }
}

template <typename Function> void byType(ElementType type, Function function) {
  switch (type) {
  case ElementType::f32: return function(float());
  case ElementType::f64: return function(double());
  case ElementType::i64: return function(int64_t());
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
    collective({"allReduce", count, type, int64_t(op), data, data}, [&] {
      byType(type, [&](auto zero) {
        allReducePart<decltype(zero)>(group, index(), count, op);
      });
    });
  }

  void doAllGather(const void *send, void *receive, int64_t count, ElementType type) override {
    size_t bytes = size_t(count) * typeBytes(type);
    collective({"allGather", count, type, 0, send, receive}, [&] {
      for (size_t m = 0; m < group.calls.size(); ++m)
        copy(receive, m * bytes, group.calls[m].send, 0, bytes);
    });
  }

  void doReduceScatter(const void *send, void *receive, int64_t count,
                       ElementType type) override {
    collective({"reduceScatter", count, type, 0, send, receive}, [&] {
      byType(type, [&](auto zero) {
        using T = decltype(zero);
        for (int64_t begin = 0; begin < count; begin += reduceBlock)
          reduceInOrder(group, index() * count + begin, std::min(reduceBlock, count - begin),
                        ReduceOp::sum, static_cast<T *>(receive) + begin);
      });
    });
  }

  void doAllToAll(const void *send, void *receive, int64_t count, ElementType type) override {
    size_t bytes = size_t(count) * typeBytes(type);
    collective({"allToAll", count, type, 0, send, receive}, [&] {
      for (size_t m = 0; m < group.calls.size(); ++m)
        copy(receive, m * bytes, group.calls[m].send, size_t(index()) * bytes, bytes);
    });
  }

  void doBroadcast(void *data, int64_t count, ElementType type, int64_t root) override {
    assert(root >= 0 && root < size() && "no such member");
    collective({"broadcast", count, type, root, data, data}, [&] {
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

  template <typename Work> void collective(const Call &call, Work work) {
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

} // namespace colrow
