//===- Progress.cpp - the progress line and the metrics file ---------------===//

#include "Progress.h"
#include "Format.h"
#include "colrow/Error.h"

#include <cstdio>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <ostream>
#include <sstream>

namespace colrow {
namespace {

double secondsBetween(std::chrono::steady_clock::time_point from,
                      std::chrono::steady_clock::time_point to) {
  return std::chrono::duration<double>(to - from).count();
}

/// Leaves a metrics file with its lines up to step `last` only, and returns its name. The line that
/// a killed run was writing is no JSON and goes too.
const std::string &cutMetrics(const std::string &path, int64_t last) {
  if (last == 0) {
    std::remove(path.c_str());
    return path;
  }
  std::string kept;
  if (std::filesystem::exists(path)) {
    std::istringstream lines(readTextFile(path));
    for (std::string line; std::getline(lines, line);) {
      nlohmann::json row = nlohmann::json::parse(line, nullptr, /*allow_exceptions=*/false);
      if (row.is_object() && row.contains("step") && row["step"].is_number() &&
          row["step"] <= last)
        kept += line + "\n";
    }
  }
  writeTextFile(path, kept);
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

Progress::Progress(const Console &console, const std::string &metricsPath, int64_t stepsDone,
                   int64_t steps, int64_t tokensPerStep, int64_t logEvery)
    : console(console), metrics(cutMetrics(metricsPath, stepsDone), OutputFile::append),
      stepsDone(stepsDone), steps(steps), tokensPerStep(tokensPerStep), logEvery(logEvery),
      begin(Clock::now()), lastStep(begin), lastShown(begin), stepsAtLastShown(stepsDone) {}

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
  bool show = last || step == stepsDone + 1 ||
              (console.terminal ? sinceShown >= terminalSeconds : step % logEvery == 0);
  if (!show)
    return;
  double rate = double((step - stepsAtLastShown) * tokensPerStep) / sinceShown;
  double left = secondsBetween(begin, now) / double(step - stepsDone) * double(steps - step);
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
