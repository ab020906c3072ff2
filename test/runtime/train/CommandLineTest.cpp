#include "TrainFixture.h"

#include <sys/wait.h>

using namespace colrow;

namespace {

struct CommandLineTest : TrainFixture {
  /// A wrong command line; the message must contain `words`.
  void expectUsageError(const std::vector<std::string> &arguments, const std::string &words) const {
    Result result = run({1}, arguments);
    EXPECT_EQ(result.code, 2) << result.err;
    EXPECT_EQ(result.err.substr(0, 7), "error: ");
    EXPECT_NE(result.err.find(words), std::string::npos) << result.err;
  }
};

} // namespace

TEST_F(CommandLineTest, HelpHasExamples) {
  for (const std::vector<std::string> &arguments :
       {std::vector<std::string>{"--help"}, {"train", "--help"}, {"replay", "--help"}}) {
    Result result = run({2}, arguments);
    EXPECT_EQ(result.code, 0);
    EXPECT_NE(result.out.find("Examples:"), std::string::npos) << result.out;
  }
  EXPECT_NE(run({2}, {"--help"}).out.find("Trains bigram.onnx (tp=2; microbatches of 4 x 16)"),
            std::string::npos);
}

TEST_F(CommandLineTest, Version) {
  Result result = run({1}, {"--version"});
  EXPECT_EQ(result.code, 0);
  EXPECT_EQ(result.out, "trainer of bigram.onnx, colrow 0.1.0\n");
}

TEST_F(CommandLineTest, WrongUsage) {
  expectUsageError({}, "a subcommand is required; see --help");
  expectUsageError({"fly"}, "a subcommand is required");
  expectUsageError({"train", "--steps", "5", "--out", "x"}, "--data is required; see --help");
  std::vector<std::string> good = {"train", "--data", "d", "--steps", "5", "--out", "x"};
  auto with = [&](std::vector<std::string> more) {
    more.insert(more.begin(), good.begin(), good.end());
    return more;
  };
  expectUsageError(with({"--no-such-option"}), "--no-such-option");
  expectUsageError(with({"--lr", "-1"}), "must be above 0");
  expectUsageError(with({"--lr", "fast"}), "--lr");
  expectUsageError(with({"--betas", "0.9,1"}), "must be in [0, 1)");
  expectUsageError(with({"--betas", "0.9"}), "--betas");
  expectUsageError(with({"--accumulate", "0"}), "must be above 0");
  expectUsageError(with({"--data-dtype", "int8"}), "--data-dtype");
  expectUsageError(with({"--init", "--weights", "w"}), "excludes");
  expectUsageError(with({"--resume", "--resume-from", "c"}), "excludes");
  expectUsageError(with({"--keep", "0"}), "--keep: must be above 0");
  expectUsageError(with({"--lr", "1e-3", "--min-lr", "1e-2"}), "--min-lr is above --lr");
  expectUsageError(with({"--warmup", "6"}), "--warmup is longer than --steps");
}

/// As if mpirun had started several of this process; here without MPI.
struct LaunchedTest : TrainFixture {
  Result runAs(const char *rank, const char *size, const std::vector<std::string> &arguments) {
    ::setenv("OMPI_COMM_WORLD_RANK", rank, 1);
    ::setenv("OMPI_COMM_WORLD_SIZE", size, 1);
    Result result = run({/*ranks=*/2}, arguments, /*terminal=*/true);
    ::unsetenv("OMPI_COMM_WORLD_RANK");
    ::unsetenv("OMPI_COMM_WORLD_SIZE");
    return result;
  }
  std::vector<std::string> training() {
    return {"train", "--init", "--data", writeText(), "--steps", "2", "--out", path("run")};
  }
};

TEST_F(LaunchedTest, OneProcessHasAllRanks) {
  Result result = runAs("0", "1", training());
  EXPECT_EQ(result.code, 0);
  EXPECT_EQ(result.out.find('\r'), std::string::npos) << "mpirun's terminals are none";
}

TEST_F(LaunchedTest, WithoutMpi) {
  Result result = runAs("0", "2", training());
  EXPECT_EQ(result.code, 1);
  EXPECT_EQ(result.err, "error: started as 2 processes, but this trainer was built without MPI: "
                        "without mpirun its ranks are threads; or install MPI (Debian: "
                        "libopenmpi-dev) and build it anew\n");
  EXPECT_FALSE(std::filesystem::exists(path("run")));
}

TEST_F(LaunchedTest, WrongNumber) {
  Result result = runAs("0", "4", training());
  EXPECT_EQ(result.code, 1);
  EXPECT_EQ(result.err, "error: started as 4 processes, but this trainer is compiled for tp=2: use "
                        "mpirun -n 2, or compile it with --tp 4\n");
}

TEST_F(LaunchedTest, OnlyTheFirstSpeaks) {
  for (const std::vector<std::string> &arguments :
       {training(), {"train", "--steps"}, {"train", "--help"}}) {
    Result result = runAs("1", "4", arguments);
    EXPECT_EQ(result.out + result.err, "");
    EXPECT_EQ(result.code, arguments.back() == "--help" ? 0 : arguments.size() == 2 ? 2 : 1);
  }
}

TEST_F(CommandLineTest, HyperparametersArrive) {
  Result result =
      run({1}, {"train", "--data", writeText(), "--steps", "3", "--out", path("run"), "--init",
                "--lr", "0.02", "--min-lr", "0.001", "--warmup", "1", "--betas", "0.8,0.99",
                "--eps", "1e-6", "--weight-decay", "0.1", "--clip", "0.5", "--accumulate", "2",
                "--threads-per-rank", "3"});
  ASSERT_EQ(result.code, 0) << result.err;
  nlohmann::json config = nlohmann::json::parse(readTextFile(path("run/config.json")));
  EXPECT_EQ(config["lr"], 0.02);
  EXPECT_EQ(config["min_lr"], 0.001);
  EXPECT_EQ(config["warmup"], 1);
  EXPECT_EQ(config["betas"], (std::vector<double>{0.8, 0.99}));
  EXPECT_EQ(config["eps"], 1e-6);
  EXPECT_EQ(config["weight_decay"], 0.1);
  EXPECT_EQ(config["clip"], 0.5);
  EXPECT_EQ(config["accumulate"], 2);
  EXPECT_EQ(config["threads"], 3);
}

// The program that Main.cpp makes, in a process of its own.
TEST_F(CommandLineTest, TheProgram) {
  std::filesystem::copy(BIGRAM_TRAINER, path("trainer"));
  auto shell = [&](const std::string &arguments) {
    int status = std::system(
        (path("trainer") + " " + arguments + " >" + path("out") + " 2>" + path("err")).c_str());
    return WEXITSTATUS(status);
  };
  std::string train = "train --data " + writeText() + " --steps 30 --lr 0.05 --out ";
  EXPECT_EQ(shell("--help"), 0);
  EXPECT_EQ(shell("train --help"), 0);
  EXPECT_EQ(shell("train"), 2);
  EXPECT_EQ(shell(train + path("run")), 1);
  EXPECT_NE(readTextFile(path("err")).find("--init to start from scratch"), std::string::npos);
  EXPECT_EQ(shell(train + path("run") + " --init"), 0) << readTextFile(path("err"));
  EXPECT_EQ(readTextFile(path("out")).find('\r'), std::string::npos); // a file is no terminal
  std::filesystem::copy(path("run/final.safetensors"), path("weights.safetensors"));
  EXPECT_EQ(shell(train + path("next")), 0) << readTextFile(path("err"));
  EXPECT_LT(losses("next")[0], 3.5);
}
