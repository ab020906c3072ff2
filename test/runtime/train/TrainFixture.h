//===- TrainFixture.h - runs the trainer in the test's process -------------===//
#pragma once

#include "Bigram.h"
#include "colrow/Error.h"
#include "colrow/File.h"
#include "colrow/Safetensors.h"
#include "runtime/train/Options.h"

#include <filesystem>
#include <functional>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <sstream>
#include <unistd.h>

struct TrainFixture : testing::Test {
  std::filesystem::path folder =
      std::filesystem::temp_directory_path() / ("colrow-train-" + std::to_string(getpid()));
  void SetUp() override { std::filesystem::create_directories(folder); }
  void TearDown() override { std::filesystem::remove_all(folder); }

  std::string path(const std::string &name) const { return (folder / name).string(); }

  struct Result {
    int code;
    std::string out, err;
  };

  /// Runs the trainer of the bigram model of this shape.
  Result run(const bigram::Shape &shape, const std::vector<std::string> &arguments,
             bool terminal = false) const {
    colrow::ProgramInfo info = bigram::makeInfo(shape);
    return runWith(shape, info, arguments, terminal);
  }

  Result runWith(const bigram::Shape &shape, const colrow::ProgramInfo &info,
                 const std::vector<std::string> &arguments, bool terminal = false) const {
    colrow::GeneratedProgram generated = {
        info, [&](colrow::Rank &rank) { return bigram::makeProgram(shape, info, rank); }};
    std::ostringstream out, err;
    int code =
        colrow::trainerMain(arguments, folder.string(), generated, {out, err, terminal});
    return {code, out.str(), err.str()};
  }

  /// A text in which the next letter can be learned.
  std::string writeText(const std::string &name = "data.txt", int repeats = 60) const {
    std::string text;
    for (int i = 0; i < repeats; ++i)
      text += "the quick brown fox jumps over the lazy dog; ";
    colrow::writeTextFile(path(name), text);
    return path(name);
  }

  std::vector<nlohmann::json> metrics(const std::string &run) const {
    std::istringstream lines(colrow::readTextFile(path(run) + "/metrics.jsonl"));
    std::vector<nlohmann::json> result;
    for (std::string line; std::getline(lines, line);)
      result.push_back(nlohmann::json::parse(line));
    return result;
  }

  std::vector<double> losses(const std::string &run) const {
    std::vector<double> result;
    for (const nlohmann::json &line : metrics(run))
      if (line.contains("loss"))
        result.push_back(line["loss"].is_null() ? NAN : line["loss"].get<double>());
    return result;
  }
};

inline void expectNear(const std::vector<double> &a, const std::vector<double> &b,
                       double relative) {
  ASSERT_EQ(a.size(), b.size());
  for (size_t i = 0; i < a.size(); ++i)
    EXPECT_NEAR(a[i], b[i], relative * std::max(1.0, std::abs(b[i]))) << "at " << i;
}
