//===- World.cpp - this process among the others ---------------------------===//

#include "World.h"
#include "colrow/Layout.h"

#include <algorithm>
#include <climits>
#include <linux/futex.h>
#include <new>
#include <sched.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace colrow {
namespace {

using Seconds = std::chrono::duration<double>;

/// Staging buffers of all processes of a machine together, and of one. Shared memory is scarce in
/// containers: Docker gives 64 MB.
constexpr size_t stagingOfMachine = size_t(32) << 20, stagingMost = size_t(4) << 20,
                 stagingLeast = size_t(64) << 10;

/// Waiting in shared memory: how often to look before sleeping. Not by sched_yield: where others want
/// the core too, whoever was woken comes to it sooner than whoever gave it away.
constexpr int spinTurns = 1000;
/// Waiting for messages, which move on by looking for them only: how often to look at what pace.
constexpr int quickTurns = 100, slowTurns = 1000;
/// How long to sleep before looking for what else may have happened.
constexpr double sleepSeconds = 0.05;

/// How long processes may take to come to the end of a run that has failed.
constexpr double endSeconds = 5;

constexpr int failureTag = 32000; // MPI guarantees tags up to 32767; slots have smaller ones

void pause() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#endif
}

/// Sleeps until `word` is not `value`, is woken, or time is over.
void sleepWhile(std::atomic<uint32_t> &word, uint32_t value) {
  timespec time = {0, long(sleepSeconds * 1e9)};
  ::syscall(SYS_futex, reinterpret_cast<uint32_t *>(&word), FUTEX_WAIT, value, &time, nullptr, 0);
}

void wakeAll(std::atomic<uint32_t> &word) {
  ::syscall(SYS_futex, reinterpret_cast<uint32_t *>(&word), FUTEX_WAKE, INT_MAX, nullptr, nullptr,
            0);
}

/// Whether a counter has come to a goal; both may have wrapped around.
bool reached(uint32_t counter, uint32_t goal) { return int32_t(counter - goal) >= 0; }

} // namespace

World::Mpi::Mpi() {
  int provided = 0;
  MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided);
  if (provided < MPI_THREAD_FUNNELED) {
    MPI_Finalize();
    throw Error("this MPI allows no threads beside the one that calls it");
  }
}

World::Mpi::~Mpi() { MPI_Finalize(); }

World::World(const std::vector<GridAxis> &allAxes, const MpiRankOptions &options)
    : options(options) {
  for (const GridAxis &axis : allAxes)
    if (axis.size > 1)
      grid.push_back(axis);
  int number = 0, count = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &number);
  MPI_Comm_size(MPI_COMM_WORLD, &count);
  self = number;
  size = count;
  if (size != gridSize(grid))
    throw Error("MPI has " + std::to_string(size) + " processes, but the grid has " +
                std::to_string(gridSize(grid)) +
                " ranks; with srun, --mpi=pmix or --mpi=pmi2 may be what is missing");
  MPI_Comm_dup(MPI_COMM_WORLD, &everyone);
  makeWindow();
  startWatching();
}

World::~World() {
  mine.part->ended = true;
  bool inOrder = allEnd(endSeconds) && !abandoned;
  uint64_t one = 1;
  if (::write(stopWatching, &one, sizeof(one)) == sizeof(one))
    watcher.join();
  else
    watcher.detach();
  if (!inOrder)
    MPI_Abort(MPI_COMM_WORLD, 1); // does not return
  ::close(stopWatching);
  for (MPI_Request &request : failureNotices)
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Win_free(&window);
  MPI_Comm_free(&machine);
  MPI_Comm_free(&everyone);
}

void World::makeWindow() {
  if (options.apart)
    MPI_Comm_split(everyone, int(self), 0, &machine);
  else
    MPI_Comm_split_type(everyone, MPI_COMM_TYPE_SHARED, int(self), MPI_INFO_NULL, &machine);
  int count = 0;
  MPI_Comm_size(machine, &count);
  std::vector<int64_t> ranks(static_cast<size_t>(count));
  MPI_Allgather(&self, 1, MPI_INT64_T, ranks.data(), 1, MPI_INT64_T, machine);

  uint64_t bytes = std::clamp(stagingOfMachine / size_t(count), stagingLeast, stagingMost) / 4096 *
                   4096;
  MPI_Allreduce(MPI_IN_PLACE, &bytes, 1, MPI_UINT64_T, MPI_MIN, everyone);
  staging = bytes;
  size_t slots = size_t(1) << grid.size();
  size_t whole = (headBytes(slots) + staging + 64 + 4095) / 4096 * 4096;
  void *base = nullptr;
  MPI_Comm_set_errhandler(machine, MPI_ERRORS_RETURN);
  if (MPI_Win_allocate_shared(MPI_Aint(whole), 1, MPI_INFO_NULL, machine, &base, &window) !=
      MPI_SUCCESS)
    throw Error("MPI cannot make a window of " + std::to_string(whole * size_t(count)) +
                " bytes of shared memory");
  MPI_Comm_set_errhandler(machine, MPI_ERRORS_ARE_FATAL);

  mine = PartView::at(base, slots);
  new (mine.part) Part;
  for (size_t s = 0; s < slots; ++s)
    new (mine.slots + s) Slot;
  struct stat space = {};
  ::stat("/proc/self/ns/pid", &space);
  mine.part->process = ::getpid();
  mine.part->processSpace = space.st_ino;
  mine.part->rank = self;

  placeOf.assign(size_t(size), -1);
  for (int p = 0; p < count; ++p) {
    MPI_Aint partBytes = 0;
    int unit = 0;
    void *memory = nullptr;
    MPI_Win_shared_query(window, p, &partBytes, &unit, &memory);
    parts.push_back(PartView::at(memory, slots));
    placeOf[size_t(ranks[size_t(p)])] = p;
  }
  spins = ::sysconf(_SC_NPROCESSORS_ONLN) >= int64_t(count) * options.threadsPerRank;
  MPI_Barrier(machine); // all parts are begun
}

char *World::keepBuffer(size_t bytes) {
  buffers.push_back(std::make_unique<char[]>(bytes));
  return buffers.back().get();
}

uint32_t World::slotOf(const std::vector<int64_t> &members) const {
  std::vector<int64_t> mine = gridCoordinates(self, grid);
  uint32_t slot = 0;
  for (int64_t member : members) {
    std::vector<int64_t> other = gridCoordinates(member, grid);
    for (size_t a = 0; a < grid.size(); ++a)
      slot |= uint32_t(other[a] != mine[a]) << a;
  }
  return slot;
}

bool World::isNear(const std::vector<int64_t> &members) const {
  return std::all_of(members.begin(), members.end(),
                     [&](int64_t member) { return placeOf[size_t(member)] >= 0; });
}

//===----------------------------------------------------------------------===//
// Waiting in shared memory
//===----------------------------------------------------------------------===//

void World::requireRunning(const Group &group, const Call &call) {
  if (hasFailed())
    throw CollectiveAborted(abortText(self, call, group.name));
}

void World::arrive(const Group &group) {
  Slot &slot = mine.slots[group.slot];
  slot.arrivals.fetch_add(1); // sequentially consistent, as is the look at the sleepers
  if (slot.sleepers.load() != 0)
    wakeAll(slot.arrivals);
}

void World::sayWaiting(uint32_t waits, uint32_t goal) {
  mine.part->changes.fetch_add(1);
  mine.part->waits.store(waits);
  mine.part->goal.store(goal);
  mine.part->changes.fetch_add(1);
}

void World::awaitMembers(const Group &group) {
  uint32_t goal = mine.slots[group.slot].arrivals.load(std::memory_order_relaxed);
  Clock::time_point since = Clock::now();
  bool waits = false;
  for (int64_t member : group.members) {
    Slot &slot = part(member).slots[group.slot];
    if (reached(slot.arrivals.load(std::memory_order_acquire), goal))
      continue;
    if (!waits)
      sayWaiting(group.slot + 1, goal);
    waits = true;
    while (!awaitArrivals(slot, goal, group, since))
      ;
  }
  if (waits)
    sayWaiting(0, 0);
}

/// Looks, then sleeps once; false if it is not there yet.
bool World::awaitArrivals(Slot &slot, uint32_t goal, const Group &group,
                          Clock::time_point since) {
  auto there = [&] { return reached(slot.arrivals.load(std::memory_order_acquire), goal); };
  for (int turn = 0; spins && turn < spinTurns; ++turn, pause())
    if (there())
      return true;
  slot.sleepers.fetch_add(1);
  uint32_t seen = slot.arrivals.load();
  if (!reached(seen, goal))
    sleepWhile(slot.arrivals, seen);
  slot.sleepers.fetch_sub(1);
  if (there())
    return true;
  checkWait(group, mine.slots[group.slot].call, since, [this] { return whoWaits(); });
  if (isDeadlock())
    throw Error("deadlock: " + whoWaits());
  return false;
}

void World::awaitMembersLater(const Group &group) { pending = &group; }

void World::awaitPending() {
  if (pending)
    awaitMembers(*pending);
  pending = nullptr;
}

/// The members of its group that a rank waits for.
std::vector<int64_t> World::missingFor(const PartView &waiting) const {
  std::vector<int64_t> missing;
  uint32_t waits = waiting.part->waits.load(), goal = waiting.part->goal.load();
  if (waits == 0)
    return missing;
  std::vector<int64_t> at = gridCoordinates(waiting.part->rank, grid);
  for (int64_t other = 0; other < size; ++other) {
    std::vector<int64_t> there = gridCoordinates(other, grid);
    bool isMember = placeOf[size_t(other)] >= 0;
    for (size_t a = 0; a < grid.size(); ++a)
      isMember &= ((waits - 1) >> a & 1) != 0 || there[a] == at[a];
    if (isMember && !reached(part(other).slots[waits - 1].arrivals.load(), goal))
      missing.push_back(other);
  }
  return missing;
}

std::string World::whoWaits() const {
  std::string text;
  for (const PartView &waiting : parts) {
    std::vector<int64_t> missing = missingFor(waiting);
    uint32_t waits = waiting.part->waits.load();
    if (missing.empty() || waits == 0)
      continue;
    const Slot &slot = waiting.slots[waits - 1];
    text += (text.empty() ? "" : "; ") +
            waitText(waiting.part->rank, slot.call, slot.name, missing);
  }
  return text;
}

/// Whether no rank can go on: each that has not ended waits for one that has not come. It is exact:
/// nobody but ranks that do not wait could change what was read, and that none did is seen by their
/// counts of changes.
bool World::isDeadlock() const {
  if (int64_t(parts.size()) != size)
    return false; // what ranks elsewhere do is not known
  auto changes = [&] {
    std::vector<uint32_t> counts;
    for (const PartView &each : parts)
      counts.push_back(each.part->changes.load());
    return counts;
  };
  std::vector<uint32_t> before = changes();
  for (const PartView &each : parts)
    if (!each.part->ended.load() && missingFor(each).empty())
      return false;
  return before == changes();
}

//===----------------------------------------------------------------------===//
// Waiting for messages
//===----------------------------------------------------------------------===//

void World::checkWait(const Group &group, const Call &call, Clock::time_point since,
                      const std::function<std::string()> &who) {
  takeFailureNotices();
  requireRunning(group, call);
  if (options.waitLimit > 0 && Seconds(Clock::now() - since).count() > options.waitLimit)
    throw Error("no progress for " + secondsText(options.waitLimit) + " s: " + who());
}

void World::awaitMessages(const Group &group, const Call &call,
                          std::vector<MPI_Request> &receives, std::vector<MPI_Request> &sends) {
  Clock::time_point since = Clock::now(), checked = since;
  auto who = [&] {
    std::vector<int64_t> missing;
    for (size_t m = 0; m < receives.size(); ++m) {
      int done = 1;
      if (receives[m] != MPI_REQUEST_NULL)
        MPI_Request_get_status(receives[m], &done, MPI_STATUS_IGNORE);
      if (!done)
        missing.push_back(group.members[m]);
    }
    return waitText(self, call, group.name, missing);
  };
  for (int64_t turn = 0;; ++turn) {
    int received = 0, sent = 0;
    MPI_Testall(int(receives.size()), receives.data(), &received, MPI_STATUSES_IGNORE);
    MPI_Testall(int(sends.size()), sends.data(), &sent, MPI_STATUSES_IGNORE);
    if (received && sent)
      return;
    if (turn < quickTurns)
      ::sched_yield();
    else
      std::this_thread::sleep_for(std::chrono::microseconds(turn < slowTurns ? 20 : 200));
    Clock::time_point now = Clock::now();
    if (Seconds(now - checked).count() < sleepSeconds)
      continue;
    checked = now;
    try {
      checkWait(group, call, since, who);
    } catch (...) {
      abandoned = true;
      throw;
    }
  }
}

/// Ranks elsewhere tell that the run has failed.
void World::takeFailureNotices() {
  if (int64_t(parts.size()) == size)
    return;
  int there = 0;
  MPI_Status status;
  MPI_Iprobe(MPI_ANY_SOURCE, failureTag, everyone, &there, &status);
  if (!there)
    return;
  int64_t failed = 0, none = 0;
  MPI_Recv(&failed, 1, MPI_INT64_T, status.MPI_SOURCE, failureTag, everyone, MPI_STATUS_IGNORE);
  first().failed.compare_exchange_strong(none, failed);
}

//===----------------------------------------------------------------------===//
// The end
//===----------------------------------------------------------------------===//

void World::run(const std::function<void()> &function, std::function<std::string()> whatToDo) {
  {
    std::lock_guard<std::mutex> lock(adviceMutex);
    advice = std::move(whatToDo);
  }
  auto finish = [this] {
    std::lock_guard<std::mutex> lock(adviceMutex);
    advice = {};
    pending = nullptr; // it belonged to the rank, which is gone
    mine.part->ended = true;
  };
  try {
    function();
  } catch (...) {
    finish();
    throw;
  }
  finish();
  if (!allEnd(/*seconds=*/0))
    throw CollectiveAborted("another rank failed");
}

bool World::reports() {
  int64_t none = 0;
  failureNotice = self + 1;
  bool isFirst = first().failed.compare_exchange_strong(none, failureNotice);
  mine.part->ended = true;
  if (isFirst)
    for (int64_t other = 0; other < size; ++other)
      if (placeOf[size_t(other)] < 0) {
        failureNotices.emplace_back();
        MPI_Isend(&failureNotice, 1, MPI_INT64_T, int(other), failureTag, everyone,
                  &failureNotices.back());
      }
  return isFirst;
}

/// Waits until all processes have come here: for so many seconds, or (0) as long as no rank fails.
bool World::allEnd(double seconds) {
  if (ended)
    return true;
  if (!ends)
    MPI_Ibarrier(everyone, &end);
  ends = true;
  Clock::time_point since = Clock::now();
  while (true) {
    int done = 0;
    MPI_Test(&end, &done, MPI_STATUS_IGNORE);
    if (done) {
      mine.part->left = true;
      return ended = true;
    }
    takeFailureNotices();
    double waited = Seconds(Clock::now() - since).count();
    if (seconds > 0 ? waited > seconds : hasFailed())
      return false;
    std::this_thread::sleep_for(std::chrono::microseconds(waited < 0.01 ? 50 : 1000));
  }
}

} // namespace colrow
