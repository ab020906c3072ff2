//===- Trainer.cpp - the training loop -------------------------------------===//

#include "Trainer.h"
#include "Batch.h"
#include "Checkpoint.h"
#include "Format.h"
#include "Interrupt.h"
#include "Progress.h"
#include "colrow/Error.h"
#include "colrow/ThreadRanks.h"
#include "colrow/Version.h"

#include <cmath>
#include <nlohmann/json.hpp>
#include <ostream>

namespace colrow {
namespace {

/// What all ranks share: everything that is read only.
struct Run {
  const GeneratedProgram &generated;
  const TrainOptions &options;
  TokenInputs inputs;
  TokenFile data;
  std::unique_ptr<TokenFile> evalData;
  std::unique_ptr<WeightsFile> weights; ///< null: from scratch
  RowOrder order;
  Schedule schedule;

  Run(const GeneratedProgram &generated, const TrainOptions &options)
      : generated(generated), options(options), inputs(generated.info, options.ignoreToken),
        data(options.data, options.format, inputs.limit()),
        order((requireOneBatch(data, info().batch, info().sequence),
               rowCount(data.size(), info().sequence)),
              options.seed),
        schedule{options.hyperparameters.learningRate,
                 options.minLearningRate.value_or(options.hyperparameters.learningRate / 10),
                 options.warmup, options.steps} {
    if (!options.evalData.empty()) {
      evalData = std::make_unique<TokenFile>(options.evalData, options.format, inputs.limit());
      requireOneBatch(*evalData, info().batch, info().sequence);
    }
    if (!options.weights.empty())
      weights = std::make_unique<WeightsFile>(options.weights, info());
  }

  const ProgramInfo &info() const { return generated.info; }
  std::string file(const std::string &name) const { return options.out + "/" + name; }
};

void writeConfiguration(const Run &run) {
  const TrainOptions &options = run.options;
  const Hyperparameters &hyper = options.hyperparameters;
  nlohmann::ordered_json grid = nlohmann::ordered_json::object();
  for (const GridAxis &axis : run.info().grid)
    grid[axis.name] = axis.size;
  nlohmann::ordered_json config = {
      {"version", versionText},
      {"model", run.info().model},
      {"grid", grid},
      {"batch", run.info().batch},
      {"sequence", run.info().sequence},
      {"accumulate", options.accumulate},
      {"data", options.data},
      {"data_dtype", std::string(run.data.formatName())},
      {"data_tokens", run.data.size()},
      {"eval_data", run.evalData ? nlohmann::ordered_json(options.evalData) : nullptr},
      {"eval_every", options.evalEvery},
      {"eval_batches", options.evalBatches},
      {"ignore_token", options.ignoreToken ? nlohmann::ordered_json(*options.ignoreToken) : nullptr},
      {"weights", run.weights ? nlohmann::ordered_json(options.weights) : nullptr},
      {"init", run.weights == nullptr},
      {"seed", options.seed},
      {"steps", options.steps},
      {"lr", hyper.learningRate},
      {"min_lr", run.schedule.floor},
      {"warmup", options.warmup},
      {"betas", {hyper.beta1, hyper.beta2}},
      {"eps", hyper.epsilon},
      {"weight_decay", hyper.weightDecay},
      {"clip", hyper.clipNorm},
      {"save_every", options.saveEvery},
      {"log_every", options.logEvery},
      {"threads", options.threads}};
  writeTextFile(run.file("config.json"), config.dump(2) + "\n");
}

/// Training on one rank. Rank 0 has `progress`.
class RankTrainer {
public:
  RankTrainer(const Run &run, Rank &rank, Progress *progress)
      : run(run), info(run.info()), rank(rank), progress(progress),
        program(run.generated.create(rank)) {}

  void train();

private:
  double trainStep(StepScalars &scalars);
  double evaluate();
  void save(const std::string &name, int64_t step);
  void endIfInterrupted(int64_t step) const;
  [[noreturn]] void failNotANumber(const char *what, double value, int64_t step) const;
  std::string lastCheckpointText() const;

  const Run &run;
  const ProgramInfo &info;
  Rank &rank;
  Progress *progress;
  std::unique_ptr<Program> program;
  std::string lastCheckpoint;
};

void RankTrainer::train() {
  const TrainOptions &options = run.options;
  if (run.weights)
    loadWeights(*run.weights, info, rank, *program);
  else
    initializeWeights(options.seed, info, rank, *program);
  for (int64_t step = 0; step < options.steps; ++step) {
    int64_t number = step + 1; // for people steps count from 1
    endIfInterrupted(number);
    StepScalars scalars = stepScalars(options.hyperparameters, options.seed, step);
    scalars.learningRate = run.schedule.at(step);
    double loss = trainStep(scalars);
    if (!std::isfinite(loss))
      failNotANumber("loss", loss, number);
    double norm = program->update(scalars);
    if (progress)
      progress->step(number, loss, norm, scalars.learningRate);
    if (!std::isfinite(norm))
      failNotANumber("gradient norm", norm, number);
    bool last = number == options.steps;
    if (run.evalData && (last || (options.evalEvery > 0 && number % options.evalEvery == 0))) {
      double evalLoss = evaluate();
      if (progress)
        progress->evaluation(number, evalLoss);
    }
    if (!last && options.saveEvery > 0 && number % options.saveEvery == 0)
      save(fmt::format("step-{:06}.safetensors", number), number);
  }
  save("final.safetensors", options.steps);
  if (progress)
    progress->message("saved " + lastCheckpoint);
}

double RankTrainer::trainStep(StepScalars &scalars) {
  // Samples count through the run whatever the split into microbatches, so that N of them equal
  // one batch of N times the size.
  int64_t sample = scalars.step * run.options.accumulate * info.batch;
  std::vector<std::vector<int64_t>> microbatches(size_t(run.options.accumulate));
  int64_t labels = 0;
  for (std::vector<int64_t> &rows : microbatches) {
    for (int64_t i = 0; i < info.batch; ++i)
      rows.push_back(run.order.row(sample++));
    labels += run.inputs.countLabels(run.data, rows);
  }
  if (labels == 0)
    throw Error(fmt::format("step {} has no label that counts: all are the ignored token",
                            scalars.step + 1));
  scalars.validLabels = double(labels);
  program->zeroGradients();
  double loss = 0;
  for (size_t m = 0; m < microbatches.size(); ++m) {
    scalars.microbatch = int64_t(m);
    run.inputs.fill(run.data, microbatches[m], *program);
    loss += program->forwardBackward(scalars);
  }
  return loss;
}

double RankTrainer::evaluate() {
  const TokenFile &file = *run.evalData;
  int64_t batches = std::min(run.options.evalBatches,
                             rowCount(file.size(), info.sequence) / info.batch);
  std::vector<std::vector<int64_t>> microbatches(static_cast<size_t>(batches));
  int64_t row = 0, labels = 0;
  for (std::vector<int64_t> &rows : microbatches) {
    for (int64_t i = 0; i < info.batch; ++i)
      rows.push_back(row++);
    labels += run.inputs.countLabels(file, rows);
  }
  if (labels == 0)
    throw Error(fmt::format("'{}' has no label that counts: all are the ignored token",
                            file.path()));
  StepScalars scalars = stepScalars(run.options.hyperparameters, run.options.seed, 0);
  scalars.dropout = false;
  scalars.validLabels = double(labels);
  double loss = 0;
  for (const std::vector<int64_t> &rows : microbatches) {
    run.inputs.fill(file, rows, *program);
    loss += program->evaluate(scalars);
  }
  return loss;
}

void RankTrainer::save(const std::string &name, int64_t step) {
  saveCheckpoint(run.file(name), step, info, rank, *program);
  lastCheckpoint = run.file(name);
}

// The first rank that sees the signal ends the others too, at their next collective.
void RankTrainer::endIfInterrupted(int64_t step) const {
  if (int signal = InterruptGuard::received())
    throw Interrupted(fmt::format("interrupted before step {} of {} ({})", step,
                                  run.options.steps, lastCheckpointText()),
                      signal);
}

void RankTrainer::failNotANumber(const char *what, double value, int64_t step) const {
  // Nothing was updated before step 1: what is wrong then came with the weights.
  throw Error(fmt::format("the {} is {} at step {}; {} ({})", what,
                          std::isnan(value) ? "nan" : "infinite", step,
                          step == 1 && run.weights
                              ? "look for such numbers in '" + run.options.weights + "'"
                              : "try a smaller --lr or a longer --warmup",
                          lastCheckpointText()));
}

std::string RankTrainer::lastCheckpointText() const {
  return lastCheckpoint.empty() ? "no checkpoint was written before"
                                : "the last checkpoint is '" + lastCheckpoint + "'";
}

} // namespace

void runTraining(const GeneratedProgram &generated, const TrainOptions &options,
                 const Console &console) {
  Run run(generated, options);
  makeWritableFolder(options.out);
  writeConfiguration(run);
  const ProgramInfo &info = run.info();
  Progress progress(console, run.file("metrics.jsonl"), options.steps,
                    options.accumulate * info.batch * info.sequence, options.logEvery);
  progress.message(fmt::format("{} tokens ({}) in '{}': {} rows of {}", run.data.size(),
                               run.data.formatName(), options.data,
                               rowCount(run.data.size(), info.sequence), info.sequence));
  InterruptGuard guard;
  ThreadRankOptions ranks;
  ranks.threadsPerRank = options.threads;
  ranks.waitLimit = options.waitLimit;
  runRanks(
      info.grid,
      [&](Rank &rank) { RankTrainer(run, rank, rank.index() == 0 ? &progress : nullptr).train(); },
      ranks);
}

} // namespace colrow
