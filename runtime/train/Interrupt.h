//===- Interrupt.h - ending a run between two steps ------------------------===//
#pragma once

#include "colrow/Error.h"

namespace colrow {

/// A run that its user ended. The program exits as a shell has it, with 128 + signal.
class Interrupted : public Error {
public:
  Interrupted(const std::string &message, int signal) : Error(message), signal(signal) {}
  const int signal;
};

/// While it lives, the first SIGINT, SIGTERM or SIGUSR1 waits to be asked for, so that a step, a
/// checkpoint or a line of metrics is finished and all ranks are let go; a second one ends the
/// process at once. SIGUSR1 is what launchers and batch systems pass on without killing soon after.
class InterruptGuard {
public:
  InterruptGuard();
  ~InterruptGuard();
  InterruptGuard(const InterruptGuard &) = delete;

  /// The signal that came; 0: none.
  static int received();
};

} // namespace colrow
