//===- Trainer.cpp - the training loop -------------------------------------===//

#include "Trainer.h"
#include "Checkpoint.h"
#include "Consistency.h"
#include "Format.h"
#include "Interrupt.h"
#include "NotFinite.h"
#include "Progress.h"
#include "StepProfile.h"
#include "TrainingData.h"
#include "Weights.h"
#include "colrow/Error.h"
#include "colrow/RankRunner.h"
#include "colrow/Version.h"

#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <ostream>

namespace colrow {
namespace {

/// Where this run goes on; null: at its beginning. Names what is damaged; throws Error where the
/// checkpoints of an earlier run would be lost.
std::unique_ptr<CheckpointFile> openCheckpoint(const TrainOptions &options,
                                               const Console &console) {
  if (!options.resumeFrom.empty())
    return std::make_unique<CheckpointFile>(options.resumeFrom);
  std::map<int64_t, std::string> found = findCheckpoints(options.out);
  if (!options.resume) {
    if (!found.empty())
      throw Error(fmt::format("'{}' is of an earlier run; go on with it by --resume, give another "
                              "--out, or remove its checkpoints",
                              found.rbegin()->second));
    return nullptr;
  }
  for (auto newest = found.rbegin(); newest != found.rend(); ++newest) {
    try {
      return std::make_unique<CheckpointFile>(newest->second);
    } catch (const Error &error) {
      console.err << "warning: " << error.what() << std::endl;
    }
  }
  if (!found.empty())
    throw Error(fmt::format("no checkpoint in '{}' is intact", options.out));
  return nullptr;
}

/// What all ranks share: everything that is read only.
struct Run {
  const GeneratedProgram &generated;
  const TrainOptions &options;
  std::unique_ptr<CheckpointFile> checkpoint; ///< null: the run begins
  std::unique_ptr<TrainingData> data, evalData;
  std::unique_ptr<WeightsFile> weights; ///< null: from scratch
  RowOrder order;
  Schedule schedule;
  RunSettings settings;

  Run(const GeneratedProgram &generated, const TrainOptions &options, const Console &console)
      : generated(generated), options(options), checkpoint(openCheckpoint(options, console)),
        data(openTrainingData(options.data, info(), options.dataOptions(), /*evaluates=*/false)),
        order(data->rows(), options.seed), schedule{options.hyperparameters.learningRate,
                                                    options.minLearningRate.value_or(
                                                        options.hyperparameters.learningRate / 10),
                                                    options.warmup, options.steps} {
    if (!options.evalData.empty())
      evalData =
          openTrainingData(options.evalData, info(), options.dataOptions(), /*evaluates=*/true);
    settings = describeSettings();
    if (checkpoint) {
      checkpoint->requireSame(info(), settings);
      if (stepsDone() > options.steps)
        throw Error(fmt::format("'{}' is after step {}, beyond --steps {}", checkpoint->path(),
                                stepsDone(), options.steps));
    } else if (!options.weights.empty()) {
      weights = std::make_unique<WeightsFile>(options.weights, info());
    }
  }

  const ProgramInfo &info() const { return generated.info; }
  std::string file(const std::string &name) const { return options.out + "/" + name; }
  int64_t stepsDone() const { return checkpoint ? checkpoint->position().step : 0; }
  int64_t rowsPerStep() const { return options.accumulate * info().batch; }

private:
  /// All that the losses to come depend on beside model and steps; on the number of steps too, but
  /// a longer run is what its user asks for.
  RunSettings describeSettings() const {
    const Hyperparameters &hyper = options.hyperparameters;
    auto text = [](auto value) { return fmt::format("{}", value); };
    RunSettings settings = {
        {"the data", data->identity()},
        {"--sequence", text(info().sequence)},
        {"--batch times --accumulate", text(rowsPerStep())},
        {"--ignore-token", options.ignoreToken ? text(*options.ignoreToken) : "none"},
        {"--seed", text(options.seed)},
        {"--lr", text(hyper.learningRate)},
        {"--min-lr", text(schedule.floor)},
        {"--warmup", text(options.warmup)},
        {"--betas", fmt::format("{},{}", hyper.beta1, hyper.beta2)},
        {"--eps", text(hyper.epsilon)},
        {"--weight-decay", text(hyper.weightDecay)},
        {"--clip", text(hyper.clipNorm)}};
    if (info().objective != "causal_lm")
      settings.emplace_back("--objective", info().objective);
    if (info().labelSmoothing > 0)
      settings.emplace_back("--label-smoothing", text(info().labelSmoothing));
    if (info().zLoss > 0)
      settings.emplace_back("--z-loss", text(info().zLoss));
    if (options.maskToken)
      settings.emplace_back("--mask-token", text(*options.maskToken));
    return settings;
  }
};

/// Makes the run folder that of a run at this position: what a killed run had begun to write goes,
/// and so do checkpoints of later steps, as do their lines of metrics.
void prepareFolder(const Run &run, Progress &progress) {
  removeUnfinishedFiles(run.options.out);
  if (!run.checkpoint)
    return;
  const RunPosition &at = run.checkpoint->position();
  progress.message(
      fmt::format("going on after step {} from '{}'", at.step, run.checkpoint->path()));
  if (at.steps != run.options.steps)
    progress.message(fmt::format("--steps is {} here and was {}: learning rates follow the new "
                                 "schedule",
                                 run.options.steps, at.steps));
  for (const auto &[step, path] : findCheckpoints(run.options.out))
    if (std::error_code code; step > at.step && std::filesystem::remove(path, code))
      progress.message("removed '" + path + "', which is of a later step or damaged");
}

nlohmann::ordered_json orNull(std::optional<int64_t> number) {
  return number ? nlohmann::ordered_json(*number) : nullptr;
}

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
      {"data_dtype", std::string(run.data->formatName())},
      {"data_tokens", orNull(run.data->tokens())},
      {"data_rows", run.data->rows()},
      {"eval_data", run.evalData ? nlohmann::ordered_json(options.evalData) : nullptr},
      {"eval_every", options.evalEvery},
      {"eval_batches", options.evalBatches},
      {"objective", run.info().objective},
      {"label_smoothing", run.info().labelSmoothing},
      {"z_loss", run.info().zLoss},
      {"ignore_token", orNull(options.ignoreToken)},
      {"mask_token", orNull(options.maskToken)},
      {"weights", run.weights ? nlohmann::ordered_json(options.weights) : nullptr},
      {"init", options.init},
      {"resumed_from", run.checkpoint ? nlohmann::ordered_json(run.checkpoint->path()) : nullptr},
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
      {"keep", options.keep},
      {"check_every", options.checkEvery},
      {"log_every", options.logEvery},
      {"threads", options.threads}};
  writeTextFile(run.file("config.json"), config.dump(2) + "\n");
}

/// Training on one rank. Rank 0 has `progress`.
class RankTrainer {
public:
  RankTrainer(const Run &run, Rank &rank, Progress *progress)
      : run(run), info(run.info()), rank(rank), progress(progress),
        program(run.generated.create(rank)) {
    if (run.checkpoint)
      lastCheckpoint = run.checkpoint->path();
  }

  void train();

private:
  double trainStep(StepScalars &scalars);
  double evaluate();
  void begin();
  void requireSameRun();
  void save(int64_t step);
  void requireConsistency(int64_t step);
  int64_t interruption();
  [[noreturn]] void failLoss(double loss, StepScalars scalars);
  [[noreturn]] void failGradients(double norm, int64_t step);
  std::string lastCheckpointText() const;

  const Run &run;
  const ProgramInfo &info;
  Rank &rank;
  Progress *progress;
  std::unique_ptr<Program> program;
  std::string lastCheckpoint;
};

void RankTrainer::begin() {
  if (run.checkpoint)
    run.checkpoint->load(info, rank, *program);
  else if (run.weights)
    loadWeights(*run.weights, info, rank, *program);
  else
    initializeWeights(run.options.seed, info, rank, *program);
}

/// Ranks may be processes, each with a command line and files of its own.
void RankTrainer::requireSameRun() {
  const TrainOptions &options = run.options;
  RunSettings settings = run.settings;
  auto add = [&](const char *name, int64_t value) {
    settings.emplace_back(name, std::to_string(value));
  };
  add("the step to go on after", run.stepsDone());
  add("--steps", options.steps);
  add("--accumulate", options.accumulate);
  add("--save-every", options.saveEvery);
  add("--check-every", options.checkEvery);
  add("--eval-every", options.evalEvery);
  add("--eval-batches", options.evalBatches);
  add("the data for evaluation", run.evalData ? int64_t(run.evalData->checksum()) : 0);
  requireEqualSettings(settings, rank);
}

void RankTrainer::train() {
  const TrainOptions &options = run.options;
  requireSameRun();
  begin();
  std::optional<StepProfile> profile;
  if (progress && !options.profile.empty())
    profile.emplace(options.profile);
  for (int64_t step = run.stepsDone(); step < options.steps; ++step) {
    int64_t number = step + 1; // for people steps count from 1
    StepScalars scalars = stepScalars(options.hyperparameters, options.seed, step);
    scalars.learningRate = run.schedule.at(step);
    if (profile)
      profile->beginStep();
    double loss = trainStep(scalars);
    if (!std::isfinite(loss))
      failLoss(loss, scalars);
    double norm = program->update(scalars);
    if (profile)
      profile->endStep();
    if (progress)
      progress->step(number, loss, norm, scalars.learningRate);
    if (!std::isfinite(norm))
      failGradients(norm, number);
    bool last = number == options.steps;
    if (run.evalData && (last || (options.evalEvery > 0 && number % options.evalEvery == 0))) {
      double evalLoss = evaluate();
      if (progress)
        progress->evaluation(number, evalLoss);
    }
    int64_t signal = last ? 0 : interruption();
    bool saves = signal || (options.saveEvery > 0 && (last || number % options.saveEvery == 0));
    if (saves || last || (options.checkEvery > 0 && number % options.checkEvery == 0))
      requireConsistency(number);
    if (saves)
      save(number);
    if (signal)
      throw Interrupted(fmt::format("interrupted after step {} of {}; go on with --resume ({})",
                                    number, options.steps, lastCheckpointText()),
                        int(signal));
  }
  if (profile)
    profile->write();
  std::string final = run.file("final.safetensors");
  if (progress)
    progress->sync();
  saveWeights(final, options.steps, info, rank, *program);
  if (progress)
    progress->message("saved " + final);
}

double RankTrainer::trainStep(StepScalars &scalars) {
  // Samples count through the run whatever the split into microbatches, so that N of them equal
  // one batch of N times the size.
  int64_t sample = scalars.step * run.rowsPerStep();
  std::vector<Microbatch> microbatches(size_t(run.options.accumulate));
  int64_t labels = 0;
  for (size_t m = 0; m < microbatches.size(); ++m) {
    microbatches[m].step = scalars.step;
    microbatches[m].number = int64_t(m);
    for (int64_t i = 0; i < info.batch; ++i)
      microbatches[m].rows.push_back(run.order.row(sample++));
    labels += run.data->countLabels(microbatches[m]);
  }
  if (labels == 0)
    throw Error(fmt::format("step {} has no label that counts: all are {}", scalars.step + 1,
                            run.data->ignoredLabels()));
  scalars.validLabels = double(labels);
  program->zeroGradients();
  double loss = 0;
  for (size_t m = 0; m < microbatches.size(); ++m) {
    scalars.microbatch = int64_t(m);
    run.data->fill(microbatches[m], *program);
    if (m == 0 && scalars.step == run.stepsDone())
      requireEqualInputs(info, rank, *program, scalars.step + 1);
    loss += program->forwardBackward(scalars);
  }
  return loss;
}

double RankTrainer::evaluate() {
  const TrainingData &data = *run.evalData;
  int64_t batches = std::min(run.options.evalBatches, data.rows() / info.batch);
  std::vector<Microbatch> microbatches(static_cast<size_t>(batches));
  int64_t row = 0, labels = 0;
  for (size_t m = 0; m < microbatches.size(); ++m) {
    microbatches[m].number = int64_t(m);
    for (int64_t i = 0; i < info.batch; ++i)
      microbatches[m].rows.push_back(row++);
    labels += data.countLabels(microbatches[m]);
  }
  if (labels == 0)
    throw Error(
        fmt::format("the rows of '{}' that are evaluated have no label that counts: all are "
                    "{}",
                    data.path(), data.ignoredLabels()));
  StepScalars scalars = stepScalars(run.options.hyperparameters, run.options.seed, 0);
  scalars.dropout = false;
  scalars.validLabels = double(labels);
  double loss = 0;
  for (const Microbatch &microbatch : microbatches) {
    data.fill(microbatch, *program);
    loss += program->evaluate(scalars);
  }
  return loss;
}

void RankTrainer::save(int64_t step) {
  std::string path = run.file(checkpointName(step));
  RunPosition position = {step, run.options.steps, step * run.rowsPerStep()};
  if (progress)
    progress->sync(); // a run that goes on from the checkpoint finds the metrics before it
  saveCheckpoint(path, position, run.settings, info, rank, *program);
  lastCheckpoint = path;
  if (rank.index() != 0)
    return;
  // The new one is on the disk; older ones may go. That they cannot ends no run.
  std::error_code ignored;
  std::map<int64_t, std::string> found = findCheckpoints(run.options.out);
  int64_t surplus = int64_t(found.size()) - run.options.keep;
  for (auto oldest = found.begin(); surplus > 0; ++oldest, --surplus)
    std::filesystem::remove(oldest->second, ignored);
}

void RankTrainer::requireConsistency(int64_t step) {
  try {
    requireEqualParameters(info, rank, *program, step);
  } catch (const CollectiveAborted &) {
    throw;
  } catch (const Error &error) {
    throw Error(fmt::format("{} ({})", error.what(), lastCheckpointText()));
  }
}

/// The signal that came to any rank; 0: none. All ranks learn it after the same step.
int64_t RankTrainer::interruption() {
  int64_t signal = InterruptGuard::received();
  rank.world().allReduce(&signal, 1, ReduceOp::max);
  return signal;
}

/// Parameters are still those that the step began with: it can be repeated.
void RankTrainer::failLoss(double loss, StepScalars scalars) {
  int64_t step = scalars.step + 1;
  std::optional<std::string> first =
      describeFirstNotFinite(info, rank, *program, [&] { trainStep(scalars); });
  std::string advice = "try a smaller --lr or a longer --warmup";
  if (!first)
    advice = "such a difference points to faulty memory";
  else if (step == 1 && run.weights) // nothing was updated before
    advice = "look for the cause in '" + run.options.weights + "'";
  throw Error(fmt::format(
      "the loss is {} at step {}: {}; {} ({})", std::isnan(loss) ? "nan" : "infinite", step,
      first.value_or("repeated, the step is finite"), advice, lastCheckpointText()));
}

/// Gradients are still those of the step; parameters are not.
void RankTrainer::failGradients(double norm, int64_t step) {
  throw Error(fmt::format(
      "the gradient norm is {} at step {}, where the loss was finite: {}; try a smaller --lr or a "
      "longer --warmup ({})",
      std::isnan(norm) ? "nan" : "infinite", step,
      describeGradientNotFinite(info, rank, *program)
          .value_or("all gradients are finite, but the sum of their squares is not"),
      lastCheckpointText()));
}

/// Where a run can go on that ends without having finished its step.
std::string whereToGoOn(const TrainOptions &options) {
  std::map<int64_t, std::string> found = findCheckpoints(options.out);
  return found.empty() ? "no checkpoint was written; --save-every writes them"
                       : fmt::format("the last checkpoint is '{}'; go on with --resume",
                                     found.rbegin()->second);
}

std::string RankTrainer::lastCheckpointText() const {
  return lastCheckpoint.empty() ? "no checkpoint was written before"
                                : "the last checkpoint is '" + lastCheckpoint + "'";
}

} // namespace

void runTraining(const GeneratedProgram &generated, const TrainOptions &options,
                 const Console &console, RankRunner &ranks) {
  Run run(generated, options, console);
  const ProgramInfo &info = run.info();
  std::unique_ptr<Progress> progress;
  if (ranks.hasFirst()) {
    makeWritableFolder(options.out);
    writeConfiguration(run);
    progress = std::make_unique<Progress>(console, run.file("metrics.jsonl"), run.stepsDone(),
                                          options.steps, run.rowsPerStep() * info.sequence,
                                          options.logEvery);
    prepareFolder(run, *progress);
    for (const TrainingData *data : {run.data.get(), run.evalData.get()})
      for (const std::string &text : data ? data->warnings() : std::vector<std::string>())
        console.err << "warning: " << text << std::endl;
    progress->message(run.data->summary());
  }
  InterruptGuard guard;
  ranks.run(
      [&](Rank &rank) {
        RankTrainer(run, rank, rank.index() == 0 ? progress.get() : nullptr).train();
      },
      [&] { return whereToGoOn(options); });
}

} // namespace colrow
