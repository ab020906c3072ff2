#include "TrainFixture.h"
#include "runtime/train/Checkpoint.h"

#include <cstring>
#include <functional>

using namespace colrow;

namespace {

struct ResumeTest : TrainFixture {
  void SetUp() override {
    TrainFixture::SetUp();
    writeText();
  }

  /// A run of 12 steps with a checkpoint every 3, all kept.
  std::vector<std::string> arguments(const std::string &name,
                                     const std::vector<std::string> &more = {}) const {
    std::vector<std::string> all = {"train", "--init", "--out", path(name)};
    all.insert(all.end(), more.begin(), more.end());
    const std::pair<std::string, std::string> defaults[] = {{"--data", path("data.txt")},
                                                            {"--steps", "12"},
                                                            {"--lr", "0.05"},
                                                            {"--save-every", "3"},
                                                            {"--keep", "9"}};
    for (const auto &[option, value] : defaults)
      if (std::find(all.begin(), all.end(), option) == all.end())
        all.insert(all.end(), {option, value});
    return all;
  }

  std::string checkpoint(const std::string &name, int64_t step) const {
    return path(name + "/checkpoint-0000" + (step < 10 ? "0" : "") + std::to_string(step) +
                ".safetensors");
  }

  void train(const std::string &name, const std::vector<std::string> &more = {},
             int64_t ranks = 2) const {
    Result result = run({ranks}, arguments(name, more));
    ASSERT_EQ(result.code, 0) << result.err;
  }

  /// The error of a run that must fail with exit code 1, without its "error: " and newline.
  std::string fail(const std::string &name, const std::vector<std::string> &more,
                   const std::function<void(ProgramInfo &)> &change = nullptr) const {
    ProgramInfo info = bigram::makeInfo({2});
    if (change)
      change(info);
    Result result = runWith({2}, info, arguments(name, more));
    EXPECT_EQ(result.code, 1);
    EXPECT_EQ(result.err.substr(0, 7), "error: ");
    return result.err.substr(7, result.err.size() - 8);
  }

  /// Leaves what a run killed after step 7 leaves: checkpoints up to step 6, metrics up to step 7
  /// and half a line, half a checkpoint.
  void killAtStep7(const std::string &name) const {
    train(name);
    for (int64_t step : {9, 12})
      std::filesystem::remove(checkpoint(name, step));
    std::filesystem::remove(path(name + "/final.safetensors"));
    std::istringstream lines(readTextFile(path(name + "/metrics.jsonl")));
    std::string kept, line;
    for (int i = 0; i < 7 && std::getline(lines, line); ++i)
      kept += line + "\n";
    writeTextFile(path(name + "/metrics.jsonl"), kept + "{\"step\":8,\"lo");
    writeTextFile(checkpoint(name, 9) + ".tmp999999999", "half");
  }

  void flipBit(const std::string &file, size_t position) const {
    std::string bytes = readTextFile(file);
    bytes[position] = char(bytes[position] ^ 4);
    writeTextFile(file, bytes);
  }
};

} // namespace

TEST_F(ResumeTest, OnTheSameGridBitForBit) {
  train("whole");
  killAtStep7("run");
  Result result = run({2}, arguments("run", {"--resume"}));
  ASSERT_EQ(result.code, 0) << result.err;
  EXPECT_NE(result.out.find("going on after step 6 from '" + checkpoint("run", 6) + "'\n"),
            std::string::npos)
      << result.out;
  EXPECT_EQ(losses("run"), losses("whole"));
  for (const char *name : {"final", "checkpoint-000009", "checkpoint-000012"})
    EXPECT_EQ(readTextFile(path("run/") + name + ".safetensors"),
              readTextFile(path("whole/") + name + ".safetensors"))
        << name;
  for (const auto &entry : std::filesystem::directory_iterator(path("run")))
    EXPECT_EQ(entry.path().string().find(".tmp"), std::string::npos) << entry.path();
  nlohmann::json config = nlohmann::json::parse(readTextFile(path("run/config.json")));
  EXPECT_EQ(config["resumed_from"], checkpoint("run", 6));
}

TEST_F(ResumeTest, OnAnotherGridWithinRounding) {
  train("whole", {"--eps", "1e-4"});
  for (int64_t ranks : {1, 4}) {
    std::string name = "tp" + std::to_string(ranks);
    train(name, {"--eps", "1e-4", "--resume-from", checkpoint("whole", 6)}, ranks);
    std::vector<double> all = losses("whole");
    expectNear(losses(name), {all.begin() + 6, all.end()}, 1e-5);
  }
}

// Two microbatches of half the rows are the same step.
TEST_F(ResumeTest, WithOtherMicrobatches) {
  train("whole", {"--eps", "1e-4"});
  bigram::Shape half{2};
  half.batch = 2;
  Result result = run(half, arguments("half", {"--eps", "1e-4", "--accumulate", "2",
                                               "--resume-from", checkpoint("whole", 6)}));
  ASSERT_EQ(result.code, 0) << result.err;
  std::vector<double> all = losses("whole");
  expectNear(losses("half"), {all.begin() + 6, all.end()}, 1e-5);
}

TEST_F(ResumeTest, WhereThereIsNoCheckpointARunBegins) {
  train("whole");
  train("run", {"--resume"});
  EXPECT_EQ(losses("run"), losses("whole"));
}

TEST_F(ResumeTest, AFinishedRunIsLeftAndCanBeMadeLonger) {
  train("run");
  std::string final = readTextFile(path("run/final.safetensors"));
  train("run", {"--resume"});
  EXPECT_EQ(readTextFile(path("run/final.safetensors")), final);
  EXPECT_EQ(losses("run").size(), 12u);
  Result result = run({2}, arguments("run", {"--resume", "--steps", "15"}));
  ASSERT_EQ(result.code, 0) << result.err;
  EXPECT_NE(result.out.find("--steps is 15 here and was 12"), std::string::npos) << result.out;
  EXPECT_EQ(losses("run").size(), 15u);
  EXPECT_EQ(fail("run", {"--resume", "--steps", "14"}),
            "'" + checkpoint("run", 15) + "' is after step 15, beyond --steps 14");
}

TEST_F(ResumeTest, CheckpointsOfAnEarlierRunAreNotOverwritten) {
  train("run");
  EXPECT_EQ(fail("run", {}), "'" + checkpoint("run", 12) +
                                 "' is of an earlier run; go on with it by --resume, give another "
                                 "--out, or remove its checkpoints");
  EXPECT_EQ(losses("run").size(), 12u);
}

TEST_F(ResumeTest, DamagedCheckpoints) {
  train("whole");
  killAtStep7("run");
  size_t size = readTextFile(checkpoint("run", 6)).size();
  // Wherever the bit is: in the length, the names, the settings, the data, the checksum.
  for (size_t position :
       {size_t(0), size_t(3), size_t(9), size_t(40), size_t(300), size / 2, size - 9, size - 1}) {
    std::string intact = readTextFile(checkpoint("run", 6));
    flipBit(checkpoint("run", 6), position);
    std::string error = fail("other", {"--resume-from", checkpoint("run", 6)});
    EXPECT_EQ(error.substr(0, checkpoint("run", 6).size() + 6),
              "'" + checkpoint("run", 6) + "' is ")
        << error;
    writeTextFile(checkpoint("run", 6), intact);
  }
  flipBit(checkpoint("run", 6), size / 2);
  EXPECT_EQ(fail("other", {"--resume-from", checkpoint("run", 6)}),
            "'" + checkpoint("run", 6) + "' is damaged: its checksum is not that of its contents");
  EXPECT_FALSE(std::filesystem::exists(path("other")));

  // The one before it is taken.
  Result result = run({2}, arguments("run", {"--resume"}));
  ASSERT_EQ(result.code, 0) << result.err;
  EXPECT_EQ(result.err, "warning: '" + checkpoint("run", 6) +
                            "' is damaged: its checksum is not that of its contents\n");
  EXPECT_NE(result.out.find("going on after step 3 from"), std::string::npos) << result.out;
  EXPECT_EQ(losses("run"), losses("whole"));

  // None is left.
  for (int64_t step : {3, 6, 9, 12})
    std::filesystem::resize_file(checkpoint("run", step), size - 1);
  result = run({2}, arguments("run", {"--resume"}));
  EXPECT_EQ(result.code, 1);
  EXPECT_NE(result.err.find("which is cut off\n"), std::string::npos) << result.err;
  EXPECT_NE(result.err.find("error: no checkpoint in '" + path("run") + "' is intact\n"),
            std::string::npos)
      << result.err;
}

/// Cut anywhere, and with any bit of the header and the checksum changed.
TEST_F(ResumeTest, CheckpointsDamagedAnywhere) {
  train("run", {"--steps", "3"});
  std::string file = checkpoint("run", 3), intact = readTextFile(file);
  uint64_t header;
  std::memcpy(&header, intact.data(), sizeof(header));
  auto problem = [&]() -> std::string {
    try {
      CheckpointFile opened(file);
    } catch (const Error &error) {
      return error.what();
    }
    return "accepted";
  };
  auto isNamed = [&](const std::string &text) {
    std::string name = "'" + file + "' ";
    return (text.rfind(name + "is ", 0) == 0 || text == name + "has no checksum") &&
           text.find('\n') == std::string::npos;
  };
  EXPECT_EQ(problem(), "accepted");
  size_t step = 1;
  for (size_t size = intact.size(); size-- > 0; size -= std::min(step, size)) {
    std::filesystem::resize_file(file, size);
    ASSERT_TRUE(isNamed(problem())) << size << ": " << problem();
    // More near both ends of the file and of the header.
    bool near = size < header + 72 || size + 64 > intact.size();
    step = near ? 12 : 1999;
  }
  for (size_t bit = 0; bit < 8 * intact.size(); bit += bit < 8 * (header + 8) ? 37 : 20011) {
    std::string damaged = intact;
    damaged[bit / 8] = char(damaged[bit / 8] ^ 1 << bit % 8);
    writeTextFile(file, damaged);
    ASSERT_TRUE(isNamed(problem())) << "bit " << bit << ": " << problem();
  }
  for (size_t bit = 8 * (intact.size() - 8); bit < 8 * intact.size(); ++bit) {
    std::string damaged = intact;
    damaged[bit / 8] = char(damaged[bit / 8] ^ 1 << bit % 8);
    writeTextFile(file, damaged);
    ASSERT_EQ(problem(), "'" + file + "' is damaged: its checksum is not that of its contents");
  }
}

TEST_F(ResumeTest, OfAnotherModel) {
  train("run");
  std::string file = "'" + checkpoint("run", 12) + "' is a checkpoint of another model";
  EXPECT_EQ(
      fail("run", {"--resume"}, [](ProgramInfo &info) { info.parameters[1].name = "model.gain"; }),
      file + ": it has no 'model.gain'");
  EXPECT_EQ(fail("run", {"--resume"},
                 [](ProgramInfo &info) {
                   info.model = "other.onnx";
                   info.parameters[1].valid = {11};
                 }),
            file + ", 'bigram.onnx': 'model.scale' is F32 [12] there and F32 [11] here");
  EXPECT_EQ(fail("run", {"--resume"}, [](ProgramInfo &info) { info.parameters.pop_back(); }),
            file + ": 'bigram.onnx' has no parameter 'model.head.bias'");
  EXPECT_EQ(fail("run", {"--resume"}, [](ProgramInfo &info) { info.graph = "1234"; }),
            file + ": its graph has other operations than 'bigram.onnx', though all parameters are "
                   "called alike; weights without the run go into it by --weights");
  EXPECT_EQ(fail("other", {"--resume-from", path("run/final.safetensors")}),
            "'" + path("run/final.safetensors") +
                "' is no checkpoint; a run starts from weights by --weights");
}

TEST_F(ResumeTest, OfOtherSettings) {
  train("run");
  EXPECT_EQ(fail("run", {"--resume", "--lr", "0.04", "--seed", "3"}),
            "'" + checkpoint("run", 12) +
                "' is of a run with other settings: --seed is 0 there and 3 here; --lr is 0.05 "
                "there and 0.04 here; --min-lr is 0.005 there and 0.004 here");
  std::string text = readTextFile(path("data.txt"));
  text[100] = 'X';
  writeTextFile(path("other.txt"), text);
  EXPECT_NE(fail("run", {"--resume", "--data", path("other.txt")})
                .find("the data is 2700 tokens (text, checksum "),
            std::string::npos);
  EXPECT_EQ(losses("run").size(), 12u); // nothing was touched
}

// What follows a step that the user goes back to is of another future.
TEST_F(ResumeTest, GoingBack) {
  train("whole");
  train("run");
  Result result = run({2}, arguments("run", {"--resume-from", checkpoint("run", 3)}));
  ASSERT_EQ(result.code, 0) << result.err;
  EXPECT_NE(result.out.find("removed '" + checkpoint("run", 12) + "'"), std::string::npos);
  EXPECT_EQ(losses("run"), losses("whole"));
}

TEST_F(ResumeTest, LastOnesAreKept) {
  train("run", {"--keep", "1"});
  EXPECT_FALSE(std::filesystem::exists(checkpoint("run", 9)));
  EXPECT_TRUE(std::filesystem::exists(checkpoint("run", 12)));
}
