//===- Options.cpp - the trainer's command line ----------------------------===//

#include "Options.h"
#include "Format.h"
#include "Replay.h"
#include "Trainer.h"
#include "colrow/Error.h"
#include "colrow/Rank.h"
#include "colrow/Version.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <new>
#include <ostream>
#include <thread>

namespace colrow {
namespace {

const char *mainExamples = R"(Examples:
  trainer train --data text.txt --steps 200 --init --out run
  trainer train --help
  trainer replay --batches reference.safetensors --steps 20 --out result.safetensors)";

const char *trainExamples = R"(Examples:
  from scratch, on the bytes of a text file:
    trainer train --data shakespeare.txt --steps 500 --init --out run
  from given weights, on llm.c tokens, 4 microbatches a step:
    trainer train --data train.bin --eval-data val.bin --weights model.safetensors \
        --steps 1000 --lr 3e-4 --warmup 100 --accumulate 4 --save-every 200 --out run

The run folder receives config.json, metrics.jsonl (one line for each step),
step-N.safetensors at every save and final.safetensors at the end. Weights are under
the names torch has for them: model.load_state_dict(load_file("final.safetensors")).
Text is read as bytes; a file named *.bin as tokens, with llm.c's header or raw uint16.
The order of the data is a function of seed and step, the same at every number of ranks.)";

const char *replayExamples = R"(Examples:
  trainer replay --batches reference.safetensors --steps 20 --out result.safetensors
  trainer replay --batches reference.safetensors --steps 20 --accumulate 2 --lr 1e-4 \
      --weights torch.safetensors --out result.safetensors

The batches are tensors batch.<input> [count, ...] under the model's input names, labels
as PyTorch has them (not shifted, -100 is ignored). Step s trains on batch s mod count at
a constant learning rate, without dropout. The result holds loss and the model's outputs
of batch 0 before training; losses, grad_norm, grad_norms; grad.<parameter> of the first
step before clipping; final.<parameter>.)";

const CLI::Validator positive(
    [](const std::string &text) {
      char *end = nullptr;
      double value = std::strtod(text.c_str(), &end);
      return *end == 0 && value > 0 && std::isfinite(value) ? "" : "must be above 0";
    },
    "");
const CLI::Validator notNegative(
    [](const std::string &text) {
      char *end = nullptr;
      double value = std::strtod(text.c_str(), &end);
      return *end == 0 && value >= 0 && std::isfinite(value) ? "" : "must be 0 or more";
    },
    "");
const CLI::Validator belowOne(
    [](const std::string &text) {
      char *end = nullptr;
      double value = std::strtod(text.c_str(), &end);
      return *end == 0 && value >= 0 && value < 1 ? "" : "must be in [0, 1)";
    },
    "");

/// The options of both subcommands. `init` receives --init.
void addCommonOptions(CLI::App &command, CommonOptions &options, bool &init) {
  Hyperparameters &hyper = options.hyperparameters;
  command.add_option("--steps", options.steps, "Number of optimizer steps")
      ->required()
      ->check(positive);
  command.add_option("--out", options.out, "Where the results go")->required();
  CLI::Option *initOption = command.add_flag(
      "--init", init, "Start from scratch, by the initialisation rule of each parameter");
  command
      .add_option("--weights", options.weights,
                  "Start from this safetensors file, under torch's names (default: "
                  "weights.safetensors beside this program, if there is one)")
      ->excludes(initOption);
  command.add_option("--seed", options.seed, "Seed of all randomness")->capture_default_str();
  command.add_option("--lr", hyper.learningRate, "Learning rate (its peak)")
      ->check(positive)
      ->capture_default_str();
  command
      .add_option_function<std::vector<double>>(
          "--betas",
          [&hyper](const std::vector<double> &betas) {
            hyper.beta1 = betas[0];
            hyper.beta2 = betas[1];
          },
          "AdamW's decay rates of the two moments")
      ->expected(2)
      ->delimiter(',')
      ->check(belowOne)
      ->default_str(fmt::format("{},{}", hyper.beta1, hyper.beta2));
  command.add_option("--eps", hyper.epsilon, "AdamW's epsilon")
      ->check(positive)
      ->capture_default_str();
  command
      .add_option("--weight-decay", hyper.weightDecay,
                  "Weight decay, of parameters with two or more dimensions")
      ->check(notNegative)
      ->capture_default_str();
  command.add_option("--clip", hyper.clipNorm, "Largest global gradient norm; 0: no clipping")
      ->check(notNegative)
      ->capture_default_str();
  command
      .add_option("--accumulate", options.accumulate,
                  "Microbatches of a step; 2 equals a batch of twice the size")
      ->check(positive)
      ->capture_default_str();
  command
      .add_option("--threads", options.threads,
                  "Cores each rank uses (default: all cores shared among the ranks)")
      ->check(positive);
  command
      .add_option("--wait-limit", options.waitLimit,
                  "Seconds a rank may wait for others before the run fails; 0: no limit")
      ->check(notNegative)
      ->capture_default_str();
}

void addTrainOptions(CLI::App &command, TrainOptions &options,
                     std::optional<double> &minLearningRate) {
  command.add_option("--data", options.data, "Training data: text, or tokens in a .bin file")
      ->required();
  command.add_option("--eval-data", options.evalData, "Data for evaluation");
  command
      .add_option("--data-dtype", options.format,
                  "How data files hold tokens: auto, text, uint16, uint32")
      ->transform(CLI::Transformer(
          std::map<std::string, DataFormat>{{"auto", DataFormat::automatic},
                                            {"text", DataFormat::text},
                                            {"uint16", DataFormat::uint16},
                                            {"uint32", DataFormat::uint32}},
          CLI::ignore_case))
      ->type_name("TYPE")
      ->default_str("auto");
  command.add_option("--min-lr", minLearningRate,
                     "Learning rate at the end of the cosine (default: a tenth of --lr)")
      ->check(notNegative);
  command.add_option("--warmup", options.warmup, "Steps of linear warm-up")
      ->check(notNegative)
      ->capture_default_str();
  command.add_option("--save-every", options.saveEvery, "Steps between checkpoints; 0: at the end")
      ->check(notNegative)
      ->capture_default_str();
  command.add_option("--log-every", options.logEvery, "Steps between lines of progress")
      ->check(positive)
      ->capture_default_str();
  command
      .add_option("--eval-every", options.evalEvery,
                  "Steps between evaluations on --eval-data; 0: at the end")
      ->check(notNegative)
      ->capture_default_str();
  command.add_option("--eval-batches", options.evalBatches, "Batches of an evaluation, at most")
      ->check(positive)
      ->capture_default_str();
  command.add_option("--ignore-token", options.ignoreToken,
                     "Labels equal to this token do not count in the loss");
}

/// The file of the initial weights (empty: from scratch), or an Error that says what to give.
std::string chooseWeights(const CommonOptions &options, bool init, const std::string &folder,
                          const ProgramInfo &info) {
  if (init || !options.weights.empty())
    return options.weights;
  std::string beside = (std::filesystem::path(folder) / "weights.safetensors").string();
  if (std::filesystem::exists(beside))
    return beside;
  throw Error(fmt::format("this trainer of '{}' came without weights; give --weights FILE, or "
                          "--init to start from scratch",
                          info.model));
}

std::string gridText(const std::vector<GridAxis> &grid) {
  std::string text;
  for (const GridAxis &axis : grid)
    text += fmt::format("{}{}={}", text.empty() ? "" : ", ", axis.name, axis.size);
  return text.empty() ? "one rank" : text;
}

} // namespace

int trainerMain(const std::vector<std::string> &arguments, const std::string &folder,
                const GeneratedProgram &generated, const Console &console) {
  const ProgramInfo &info = generated.info;
  CLI::App app(fmt::format("Trains {} ({}; microbatches of {} x {}).", info.model,
                           gridText(info.grid), info.batch, info.sequence),
               "trainer");
  app.set_version_flag("--version",
                       fmt::format("trainer of {}, colrow {}", info.model, versionText));
  app.footer(mainExamples);
  app.require_subcommand(1);
  app.get_formatter()->column_width(36);

  TrainOptions train;
  ReplayOptions replay;
  bool trainInit = false, replayInit = false;
  std::optional<double> minLearningRate;
  train.threads = replay.threads = std::max(
      1, int(int64_t(std::thread::hardware_concurrency()) / gridSize(info.grid)));
  CLI::App *trainCommand = app.add_subcommand("train", "Train on a file of tokens");
  trainCommand->footer(trainExamples);
  addTrainOptions(*trainCommand, train, minLearningRate);
  addCommonOptions(*trainCommand, train, trainInit);
  CLI::App *replayCommand =
      app.add_subcommand("replay", "Train on given batches and write every number down");
  replayCommand->footer(replayExamples);
  replayCommand->add_option("--batches", replay.batches, "Safetensors file of the batches")
      ->required();
  addCommonOptions(*replayCommand, replay, replayInit);

  auto failUsage = [&](std::string what) {
    if (what.compare(0, 2, "A ") == 0)
      what[0] = 'a'; // the only capital that CLI11 begins with
    console.err << "error: " << what << "; see --help\n";
    return 2;
  };
  try {
    app.parse(std::vector<std::string>(arguments.rbegin(), arguments.rend()));
  } catch (const CLI::Success &request) { // --help or --version
    return app.exit(request, console.out, console.err);
  } catch (const CLI::ParseError &error) {
    return failUsage(error.what());
  }
  train.minLearningRate = minLearningRate.value_or(train.hyperparameters.learningRate / 10);
  if (trainCommand->parsed()) {
    if (train.minLearningRate > train.hyperparameters.learningRate)
      return failUsage("--min-lr is above --lr");
    if (train.warmup > train.steps)
      return failUsage("--warmup is longer than --steps");
  }
  try {
    if (trainCommand->parsed()) {
      train.weights = chooseWeights(train, trainInit, folder, info);
      runTraining(generated, train, console);
    } else {
      replay.weights = chooseWeights(replay, replayInit, folder, info);
      runReplay(generated, replay, console);
    }
  } catch (const std::bad_alloc &) {
    console.err << "error: out of memory\n";
    return 1;
  } catch (const std::exception &error) {
    console.err << "error: " << error.what() << "\n";
    return 1;
  }
  return 0;
}

} // namespace colrow
