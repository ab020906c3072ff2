//===- Watcher.cpp - notices processes that are gone -----------------------===//
//
// A thread of each process, so that it does not matter what the others are doing: a product may
// take longer than a launcher leaves before it kills all.
//
//===----------------------------------------------------------------------===//

#include "World.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace colrow {
namespace {

constexpr int lookMilliseconds = 100;
/// How long a process may take to leave a run that has failed, and to tell what it has seen.
constexpr double leaveSeconds = 4, tellSeconds = 1;

/// A descriptor that becomes readable when the process ends; -1 where the kernel has none.
int openProcess(pid_t process) {
#ifdef SYS_pidfd_open
  return int(::syscall(SYS_pidfd_open, process, 0));
#else
  return -1;
#endif
}

void say(const std::string &text) {
  // Not by a stream, which the thread that trains may be writing to.
  for (size_t at = 0; at < text.size();) {
    ssize_t written = ::write(STDERR_FILENO, text.data() + at, text.size() - at);
    if (written <= 0 && errno != EINTR)
      return;
    at += size_t(std::max<ssize_t>(0, written));
  }
}

} // namespace

void World::startWatching() {
  stopWatching = ::eventfd(0, EFD_CLOEXEC);
  if (stopWatching < 0)
    throw Error(std::string("cannot watch the other processes: ") + std::strerror(errno));
  // Signals are for the thread that trains.
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  watcher = std::thread([this] { watch(); });
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

void World::watch() {
  struct Other {
    const Part *part;
    int descriptor;
  };
  std::vector<Other> others;
  for (const PartView &each : parts)
    if (each.part != mine.part && each.part->processSpace == mine.part->processSpace)
      others.push_back({each.part, openProcess(pid_t(each.part->process))});
  Clock::time_point failedSince{};
  while (true) {
    std::vector<pollfd> events = {{stopWatching, POLLIN, 0}};
    for (const Other &other : others)
      events.push_back({other.descriptor, POLLIN, 0}); // poll passes over -1
    ::poll(events.data(), nfds_t(events.size()), lookMilliseconds);
    if (events[0].revents)
      break;
    for (size_t i = others.size(); i-- > 0;) {
      bool gone = others[i].descriptor >= 0
                      ? events[i + 1].revents != 0
                      : ::kill(pid_t(others[i].part->process), 0) != 0 && errno == ESRCH;
      if (!gone)
        continue;
      if (!others[i].part->left)
        seeLost(*others[i].part);
      if (others[i].descriptor >= 0)
        ::close(others[i].descriptor);
      others.erase(others.begin() + long(i));
    }
    if (!hasFailed() || mine.part->ended)
      continue;
    if (failedSince == Clock::time_point{})
      failedSince = Clock::now();
    else if (Clock::now() - failedSince > std::chrono::duration<double>(leaveSeconds))
      ::_exit(1); // it computes, and what for is over
  }
  for (const Other &other : others)
    if (other.descriptor >= 0)
      ::close(other.descriptor);
}

/// A process has ended before its rank did. Does not return where this one is still at work.
void World::seeLost(const Part &lost) {
  int64_t none = 0;
  if (first().failed.compare_exchange_strong(none, self + 1)) {
    std::string text = "error: rank " + std::to_string(lost.rank) + " (process " +
                       std::to_string(lost.process) +
                       ") is gone: it was killed, crashed or ran out of memory";
    std::lock_guard<std::mutex> lock(adviceMutex);
    if (advice)
      text += "; " + advice();
    say(text + "\n");
    first().told = true;
    ::_exit(1);
  }
  if (mine.part->ended)
    return;
  for (int i = 0; i < int(tellSeconds * 100) && !first().told; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  ::_exit(1);
}

} // namespace colrow
