//===- Interrupt.cpp - ending a run between two steps ----------------------===//

#include "Interrupt.h"

#include <csignal>

namespace colrow {
namespace {

// A handler can reach nothing but a global.
volatile std::sig_atomic_t signalReceived = 0;

constexpr int signals[] = {SIGINT, SIGTERM, SIGUSR1};

void handleBy(void (*handler)(int)) {
  for (int signal : signals)
    std::signal(signal, handler);
}

void remember(int signal) {
  signalReceived = signal;
  handleBy(SIG_DFL);
}

} // namespace

InterruptGuard::InterruptGuard() {
  signalReceived = 0;
  handleBy(remember);
}

InterruptGuard::~InterruptGuard() { handleBy(SIG_DFL); }

int InterruptGuard::received() { return signalReceived; }

} // namespace colrow
