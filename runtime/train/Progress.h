//===- Progress.h - the progress line and the metrics file -----------------===//
#pragma once

#include "Options.h"
#include "colrow/File.h"

#include <chrono>
#include <string>

namespace colrow {

/// Tells how training goes: on the console, where a terminal has its line rewritten and a pipe
/// gets a line every `logEvery` steps, and in a file with one JSON object a line:
///
///   {"step":1,"loss":6.2,"grad_norm":1.4,"learning_rate":0.001,"tokens":1024,
///    "tokens_per_second":9000,"seconds":0.11}
///   {"step":10,"eval_loss":5.9}
///
/// Steps count from 1; `tokens` are those of the run so far; `seconds` is the step's duration.
/// A loss that is no number is null. A run that goes on after some step keeps the file's lines up
/// to that step.
class Progress {
public:
  /// `stepsDone` of the `steps` are done; with 0 the metrics file begins anew.
  Progress(const Console &console, const std::string &metricsPath, int64_t stepsDone,
           int64_t steps, int64_t tokensPerStep, int64_t logEvery);
  ~Progress();

  void step(int64_t step, double loss, double gradientNorm, double learningRate);
  void evaluation(int64_t step, double loss);
  /// A line of its own.
  void message(const std::string &text);
  /// The metrics so far are on the disk afterwards.
  void sync() { metrics.sync(); }

private:
  using Clock = std::chrono::steady_clock;
  void endLine();

  const Console &console;
  OutputFile metrics;
  int64_t stepsDone, steps, tokensPerStep, logEvery;
  Clock::time_point begin, lastStep, lastShown;
  int64_t stepsAtLastShown;
  size_t lineLength = 0; ///< of the unfinished line in the terminal
};

/// "1:05" or "2:01:05".
std::string durationText(double seconds);

} // namespace colrow
