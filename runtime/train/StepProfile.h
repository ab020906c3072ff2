//===- StepProfile.h - where the time of a run's steps goes ----------------===//
#pragma once

#include "colrow/File.h"
#include "colrow/Profile.h"

#include <chrono>
#include <optional>
#include <string>

namespace colrow {

/// Profiles the steps of one rank (see colrow/Profile.h) and writes
///
///   {"steps": 3, "seconds": 0.3, "peak_resident_bytes": 50000000, "calls": [
///     {"name": "einsum ti,io->to [32, 64] [64, 192]", "calls": 6, "seconds": 0.01,
///      "flops": 4718592, "bytes": 491520}, ...]}
///
/// `seconds` is the duration of all measured steps; what the calls leave of it are the loops of the
/// generated program and the training loop. The peak is that of the process (of all ranks that are
/// its threads) up to the last step, before anything is saved at the end. The first step is not measured: it prepares products
/// and touches memory for the first time.
class StepProfile {
public:
  /// Throws Error where `path` cannot be written.
  explicit StepProfile(const std::string &path) : file(path) {}

  /// Around each step, in the thread that runs the rank.
  void beginStep();
  void endStep();
  void write();

private:
  using Clock = std::chrono::steady_clock;
  OutputFile file;
  Profile profile;
  std::optional<ProfileAttachment> attachment; ///< while a step is measured
  Clock::time_point begin;
  bool isWarm = false;
  int64_t steps = 0;
  double seconds = 0;
};

} // namespace colrow
