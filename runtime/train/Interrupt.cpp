//===- Interrupt.cpp - ending a run between two steps ----------------------===//

#include "Interrupt.h"

#include <csignal>

namespace colrow {
namespace {

// A handler can reach nothing but a global.
volatile std::sig_atomic_t signalReceived = 0;

void remember(int signal) {
  signalReceived = signal;
  std::signal(SIGINT, SIG_DFL);
  std::signal(SIGTERM, SIG_DFL);
}

} // namespace

InterruptGuard::InterruptGuard() {
  signalReceived = 0;
  std::signal(SIGINT, remember);
  std::signal(SIGTERM, remember);
}

InterruptGuard::~InterruptGuard() {
  std::signal(SIGINT, SIG_DFL);
  std::signal(SIGTERM, SIG_DFL);
}

int InterruptGuard::received() { return signalReceived; }

} // namespace colrow
