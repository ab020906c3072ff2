//===- Progress.cpp - the progress line and the metrics file ---------------===//

#include "Progress.h"
#include "Format.h"
#include "colrow/Error.h"

#include <cstdio>
#include <nlohmann/json.hpp>
#include <ostream>

namespace colrow {
namespace {

double secondsBetween(std::chrono::steady_clock::time_point from,
                      std::chrono::steady_clock::time_point to) {
  return std::chrono::duration<double>(to - from).count();
}

/// The name of a file that does not exist: an older one is removed first.
const std::string &withoutOldFile(const std::string &path) {
  std::remove(path.c_str());
  return path;
}

/// A terminal's line is rewritten at most this often.
constexpr double terminalSeconds = 0.1;

} // namespace

std::string durationText(double seconds) {
  int64_t s = int64_t(seconds + 0.5);
  if (s >= 3600)
    return fmt::format("{}:{:02}:{:02}", s / 3600, s / 60 % 60, s % 60);
  return fmt::format("{}:{:02}", s / 60, s % 60);
}

Progress::Progress(const Console &console, const std::string &metricsPath, int64_t steps,
                   int64_t tokensPerStep, int64_t logEvery)
    : console(console), metrics(withoutOldFile(metricsPath), OutputFile::append), steps(steps),
      tokensPerStep(tokensPerStep), logEvery(logEvery), begin(Clock::now()), lastStep(begin),
      lastShown(begin) {}

Progress::~Progress() { endLine(); }

void Progress::endLine() {
  if (lineLength > 0)
    console.out << "\n" << std::flush;
  lineLength = 0;
}

void Progress::message(const std::string &text) {
  endLine();
  console.out << text << std::endl;
}

void Progress::step(int64_t step, double loss, double gradientNorm, double learningRate) {
  Clock::time_point now = Clock::now();
  double seconds = secondsBetween(lastStep, now);
  lastStep = now;
  nlohmann::ordered_json line = {{"step", step},
                                 {"loss", loss},
                                 {"grad_norm", gradientNorm},
                                 {"learning_rate", learningRate},
                                 {"tokens", step * tokensPerStep},
                                 {"tokens_per_second", double(tokensPerStep) / seconds},
                                 {"seconds", seconds}};
  metrics.write(line.dump() + "\n");

  bool last = step == steps;
  double sinceShown = secondsBetween(lastShown, now);
  bool show = last || step == 1 ||
              (console.terminal ? sinceShown >= terminalSeconds : step % logEvery == 0);
  if (!show)
    return;
  double rate = double((step - stepsAtLastShown) * tokensPerStep) / sinceShown;
  double left = secondsBetween(begin, now) / double(step) * double(steps - step);
  std::string text = fmt::format("step {:>{}}/{}  loss {:.4f}  grad norm {:.3f}  lr {:.2e}  "
                                 "{:.0f} tokens/s  {} left",
                                 step, fmt::formatted_size("{}", steps), steps, loss,
                                 gradientNorm, learningRate, rate, durationText(left));
  lastShown = now;
  stepsAtLastShown = step;
  if (!console.terminal) {
    console.out << text << std::endl;
    return;
  }
  size_t length = text.size();
  text.resize(std::max(length, lineLength), ' '); // covers what was there
  console.out << "\r" << text << std::flush;
  lineLength = length;
  if (last)
    endLine();
}

void Progress::evaluation(int64_t step, double loss) {
  nlohmann::ordered_json line = {{"step", step}, {"eval_loss", loss}};
  metrics.write(line.dump() + "\n");
  message(fmt::format("step {}/{}  eval loss {:.4f}", step, steps, loss));
  lastStep = Clock::now(); // the time of an evaluation is not the next step's
}

} // namespace colrow
