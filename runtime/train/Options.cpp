//===- Options.cpp - the options of a trainer's subcommands ----------------===//

#include "Options.h"
#include "Format.h"

#include <CLI/CLI.hpp>
#include <cmath>

namespace colrow {
namespace {

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

void addCommonOptions(CLI::App &command, CommonOptions &options) {
  Hyperparameters &hyper = options.hyperparameters;
  command.add_option("--steps", options.steps, "Number of optimizer steps")
      ->required()
      ->check(positive);
  command.add_option("--out", options.out, "Where the results go")->required();
  CLI::Option *initOption = command.add_flag(
      "--init", options.init, "Start from scratch, by the initialisation rule of each parameter");
  command
      .add_option("--weights", options.weights,
                  "Start from this safetensors file, under torch's names (default: what the model "
                  "came with, weights.safetensors beside the trainer)")
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
      .add_option("--threads-per-rank", options.threads,
                  "Cores each rank uses (default: all cores shared among the ranks)")
      ->check(positive);
  command
      .add_option("--wait-limit", options.waitLimit,
                  "Seconds a rank may wait for others before the run fails; 0: no limit")
      ->check(notNegative)
      ->capture_default_str();
}

} // namespace

void addTrainOptions(CLI::App &command, TrainOptions &options) {
  command
      .add_option("--data", options.data,
                  "Training data: text, tokens in a .bin file, or the graph's inputs and labels by "
                  "name in a .safetensors file, the first dimension being rows")
      ->required();
  command.add_option("--eval-data", options.evalData, "Data for evaluation");
  static const std::map<std::string, DataFormat> formats = {
      {"auto", DataFormat::automatic},
      {"text", DataFormat::text},
      {"uint16", DataFormat::uint16},
      {"uint32", DataFormat::uint32},
      {"safetensors", DataFormat::safetensors}};
  // Not a transformer: the option keeps the user's word, which can be passed on.
  command
      .add_option_function<std::string>(
          "--data-dtype",
          [&options](const std::string &name) { options.format = formats.at(name); },
          "What data files hold: auto (by their names), text, uint16, uint32, safetensors")
      ->check([](const std::string &name) {
        return formats.count(name) ? "" : "must be auto, text, uint16, uint32 or safetensors";
      })
      ->type_name("TYPE")
      ->default_str("auto");
  command
      .add_option("--min-lr", options.minLearningRate,
                  "Learning rate at the end of the cosine (default: a tenth of --lr)")
      ->check(notNegative);
  command.add_option("--warmup", options.warmup, "Steps of linear warm-up")
      ->check(notNegative)
      ->capture_default_str();
  command
      .add_option("--save-every", options.saveEvery,
                  "Steps between checkpoints, which --resume goes on from; 0: none but at "
                  "SIGINT, SIGTERM and SIGUSR1")
      ->check(notNegative)
      ->capture_default_str();
  command.add_option("--keep", options.keep, "Checkpoints to keep, the last ones")
      ->check(positive)
      ->capture_default_str();
  CLI::Option *resumeOption = command.add_flag(
      "--resume", options.resume,
      "Go on from the newest intact checkpoint in the --out folder; begin where there is none");
  command
      .add_option("--resume-from", options.resumeFrom, "Go on from this checkpoint, in any folder")
      ->excludes(resumeOption);
  command
      .add_option("--check-every", options.checkEvery,
                  "Steps between checks that all ranks hold the same bits of what each of them "
                  "holds whole; 0: at every save")
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
                     "Labels equal to this token do not count in the loss; a masked language model "
                     "is never asked for it");
  command.add_option(
      "--mask-token", options.maskToken,
      "The tokenizer's mask token, for a masked language model on tokens: in every step "
      "15% of the tokens are asked for, 80% of which are hidden behind it, and 10% "
      "behind a random token");
  command.add_option("--profile", options.profile,
                     "Write time, FLOPs and bytes of rank 0 by kernel and collective to this JSON "
                     "file, of all steps but the first, which prepares products and memory");
  addCommonOptions(command, options);
  command.callback([&options] {
    const Hyperparameters &hyper = options.hyperparameters;
    if (options.minLearningRate.value_or(0) > hyper.learningRate)
      throw CLI::ValidationError("--min-lr is above --lr");
    if (options.warmup > options.steps)
      throw CLI::ValidationError("--warmup is longer than --steps");
    if (!options.profile.empty() && options.steps < 2)
      throw CLI::ValidationError("--profile leaves the first step out: --steps must be 2 or more");
  });
}

void addReplayOptions(CLI::App &command, ReplayOptions &options) {
  command.add_option("--batches", options.batches, "Safetensors file of the batches")->required();
  addCommonOptions(command, options);
}

std::string usageMessage(const CLI::ParseError &error) {
  std::string what = error.what();
  if (what.compare(0, 2, "A ") == 0)
    what[0] = 'a'; // the only capital that CLI11 begins with
  return "error: " + what + "; see --help";
}

} // namespace colrow
