#include "TrainFixture.h"


using namespace colrow;

namespace {

struct TrainTest : TrainFixture {
  std::vector<std::string> arguments(const std::string &run,
                                     const std::vector<std::string> &more = {}) const {
    std::vector<std::string> all = {"train", "--data", path("data.txt"), "--init",
                                    "--lr",  "0.05",   "--out",          path(run)};
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }
};

} // namespace

TEST_F(TrainTest, LossFallsAndTheRunFolderIsComplete) {
  writeText();
  Result result = run({2}, arguments("run", {"--steps", "40", "--warmup", "5", "--seed", "3",
                                             "--save-every", "15", "--eval-data",
                                             path("data.txt"), "--eval-every", "20"}));
  ASSERT_EQ(result.code, 0) << result.err;
  EXPECT_EQ(result.err, "");
  std::vector<double> loss = losses("run");
  ASSERT_EQ(loss.size(), 40u);
  EXPECT_GT(loss[0], 5);
  EXPECT_LT(loss[39], 3);

  std::vector<nlohmann::json> lines = metrics("run");
  ASSERT_EQ(lines.size(), 42u); // and two evaluations
  EXPECT_EQ(lines[0]["step"], 1);
  EXPECT_NEAR(lines[0]["learning_rate"], 0.01, 1e-12);
  EXPECT_EQ(lines[1]["tokens"], 128);
  EXPECT_GT(lines[0]["grad_norm"], 0);
  EXPECT_GT(lines[0]["tokens_per_second"], 0);
  EXPECT_EQ(lines[20]["step"], 20);
  double early = lines[20]["eval_loss"], late = lines[41]["eval_loss"];
  EXPECT_LT(late, early);

  nlohmann::json config = nlohmann::json::parse(readTextFile(path("run/config.json")));
  EXPECT_EQ(config["model"], "bigram.onnx");
  EXPECT_EQ(config["grid"]["tp"], 2);
  EXPECT_EQ(config["seed"], 3);
  EXPECT_EQ(config["min_lr"], 0.005);
  EXPECT_EQ(config["data_dtype"], "text");
  EXPECT_EQ(config["init"], true);
  EXPECT_TRUE(config["weights"].is_null());

  EXPECT_EQ(SafetensorsFile(path("run/final.safetensors")).tensors().size(), 5u);
  // The last two of the checkpoints of steps 15, 30 and 40; tensors: three of each parameter.
  for (const char *name : {"checkpoint-000030.safetensors", "checkpoint-000040.safetensors"})
    EXPECT_EQ(SafetensorsFile(path("run/") + name).tensors().size(), 4 * 3 + 1u);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(path("run")),
                          std::filesystem::directory_iterator()),
            5);
}

TEST_F(TrainTest, GridsAgree) {
  writeText();
  for (int64_t ranks : {1, 2, 4})
    ASSERT_EQ(run({ranks}, arguments("tp" + std::to_string(ranks), {"--steps", "12"})).code, 0);
  for (const char *other : {"tp2", "tp4"}) {
    expectNear(losses(other), losses("tp1"), 1e-6);
    SafetensorsFile a(path("tp1/final.safetensors")),
        b(path(other) + "/final.safetensors");
    for (const TensorEntry &entry : a.tensors())
      // Updates have the size of the learning rate; where a gradient is nearly zero its sign is.
      expectNear(a.readDoubles(entry), b.readDoubles(b.get(entry.name)), 1e-3);
  }
}

TEST_F(TrainTest, RunsRepeatBitForBit) {
  writeText();
  for (const char *name : {"a", "b"})
    ASSERT_EQ(run({4}, arguments(name, {"--steps", "6"})).code, 0);
  EXPECT_EQ(readTextFile(path("a/final.safetensors")), readTextFile(path("b/final.safetensors")));
  ASSERT_EQ(run({4}, arguments("c", {"--steps", "6", "--seed", "1"})).code, 0);
  EXPECT_NE(readTextFile(path("a/final.safetensors")), readTextFile(path("c/final.safetensors")));
}

// Dropout is active: its masks count on over the microbatches.
TEST_F(TrainTest, AccumulationEqualsALargerBatch) {
  writeText();
  bigram::Shape whole{2}, half{2};
  whole.batch = 6;
  half.batch = 3;
  ASSERT_EQ(run(whole, arguments("whole", {"--steps", "10"})).code, 0);
  ASSERT_EQ(run(half, arguments("half", {"--steps", "10", "--accumulate", "2"})).code, 0);
  ASSERT_EQ(run(half, arguments("other", {"--steps", "10"})).code, 0);
  expectNear(losses("half"), losses("whole"), 1e-6);
  EXPECT_GT(std::abs(losses("other")[9] - losses("whole")[9]), 1e-3);
  EXPECT_EQ(metrics("half")[9]["tokens"], metrics("whole")[9]["tokens"]);
}

// With ignored labels the microbatches have different counts, and the mean is over all.
TEST_F(TrainTest, AccumulationCountsLabelsOfTheWholeStep) {
  writeText();
  bigram::Shape whole{1}, half{1};
  whole.batch = 6;
  half.batch = 3;
  std::vector<std::string> more = {"--steps", "10", "--ignore-token", std::to_string(' ')};
  ASSERT_EQ(run(whole, arguments("whole", more)).code, 0);
  more.insert(more.end(), {"--accumulate", "2"});
  ASSERT_EQ(run(half, arguments("half", more)).code, 0);
  ASSERT_EQ(run(whole, arguments("all", {"--steps", "10"})).code, 0);
  expectNear(losses("half"), losses("whole"), 1e-6);
  EXPECT_GT(std::abs(losses("all")[0] - losses("whole")[0]), 1e-3);
}

TEST_F(TrainTest, TrainingGoesOnFromWeights) {
  writeText();
  ASSERT_EQ(run({2}, arguments("first", {"--steps", "30"})).code, 0);
  ASSERT_EQ(run({4}, {"train", "--data", path("data.txt"), "--steps", "1", "--weights",
                      path("first/final.safetensors"), "--out", path("second")})
                .code,
            0);
  EXPECT_LT(losses("second")[0], 3.5);
}

TEST_F(TrainTest, WeightsBesideTheProgramAreTheDefault) {
  writeText();
  ASSERT_EQ(run({1}, arguments("first", {"--steps", "30"})).code, 0);
  std::filesystem::copy(path("first/final.safetensors"), path("weights.safetensors"));
  Result result = run({1}, {"train", "--data", path("data.txt"), "--steps", "1", "--out",
                            path("second")});
  ASSERT_EQ(result.code, 0) << result.err;
  EXPECT_LT(losses("second")[0], 3.5);
  ASSERT_EQ(run({1}, arguments("scratch", {"--steps", "1"})).code, 0);
  EXPECT_GT(losses("scratch")[0], 5);
}

TEST_F(TrainTest, ProgressInAPipeAndInATerminal) {
  writeText();
  Result pipe = run({1}, arguments("p", {"--steps", "7", "--log-every", "3"}));
  EXPECT_EQ(pipe.out.find('\r'), std::string::npos);
  for (const char *line : {"\nstep 1/7  loss ", "\nstep 3/7  loss ", "\nstep 6/7  loss ",
                           "\nstep 7/7  loss ", " tokens/s  0:00 left\n", "\nsaved "})
    EXPECT_NE(pipe.out.find(line), std::string::npos) << line << "\n" << pipe.out;
  EXPECT_EQ(pipe.out.find("step 2/7"), std::string::npos);
  Result terminal = run({1}, arguments("t", {"--steps", "7"}), true);
  EXPECT_NE(terminal.out.find("\rstep 1/7  loss "), std::string::npos);
  EXPECT_NE(terminal.out.find("\rstep 7/7  loss "), std::string::npos);
  EXPECT_EQ(terminal.out.find("\nstep"), std::string::npos);
}

TEST_F(TrainTest, ASecondRunBeginsItsMetricsAnew) {
  writeText();
  ASSERT_EQ(run({1}, arguments("run", {"--steps", "5"})).code, 0);
  ASSERT_EQ(run({1}, arguments("run", {"--steps", "3"})).code, 0);
  EXPECT_EQ(metrics("run").size(), 3u);
}

TEST_F(TrainTest, ProfileIsOfTheStepsAfterTheFirst) {
  writeText();
  Result result =
      run({2}, arguments("run", {"--steps", "5", "--profile", path("profile.json"), "--eval-data",
                                 path("data.txt"), "--eval-every", "1"}));
  ASSERT_EQ(result.code, 0) << result.err;
  nlohmann::json profile = nlohmann::json::parse(readTextFile(path("profile.json")));
  EXPECT_EQ(profile["steps"], 4);
  EXPECT_GT(profile["peak_resident_bytes"], 1000000);
  double seconds = profile["seconds"], calls = 0;
  std::map<std::string, nlohmann::json> byName;
  for (const nlohmann::json &call : profile["calls"]) {
    byName[call["name"]] = call;
    calls += call["seconds"].get<double>();
  }
  EXPECT_GT(seconds, 0);
  EXPECT_LE(calls, seconds);
  // Evaluations reduce too, but are no part of a step.
  ASSERT_TRUE(byName.count("allReduce"));
  EXPECT_EQ(byName["allReduce"]["calls"].get<int>() % 4, 0);

  Result without = run({2}, arguments("plain", {"--steps", "5", "--eval-data", path("data.txt"),
                                                "--eval-every", "1"}));
  EXPECT_EQ(losses("run"), losses("plain"));
}

TEST_F(TrainTest, ProfileThatCannotBeWritten) {
  writeText();
  Result result = run({1}, arguments("run", {"--steps", "2", "--profile", path("none/p.json")}));
  EXPECT_EQ(result.code, 1);
  EXPECT_NE(result.err.find(path("none/p.json")), std::string::npos) << result.err;
  result = run({1}, arguments("run", {"--steps", "1", "--profile", path("p.json")}));
  EXPECT_EQ(result.code, 2);
  EXPECT_NE(result.err.find("--steps must be 2 or more"), std::string::npos) << result.err;
}
