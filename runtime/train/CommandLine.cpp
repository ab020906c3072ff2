//===- CommandLine.cpp - the trainer's command line ------------------------===//

#include "Checkpoint.h"
#include "Format.h"
#include "Interrupt.h"
#include "Options.h"
#include "Replay.h"
#include "Trainer.h"
#include "colrow/Error.h"
#include "colrow/Rank.h"
#include "colrow/Version.h"

#include <CLI/CLI.hpp>
#include <algorithm>
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
  going on with it after a crash or Ctrl-C; the same command, so that it can be repeated:
    trainer train --data train.bin --eval-data val.bin --weights model.safetensors \
        --steps 1000 --lr 3e-4 --warmup 100 --accumulate 4 --save-every 200 --out run --resume

The run folder receives config.json, metrics.jsonl (one line for each step),
checkpoint-N.safetensors at every save and final.safetensors at the end. Weights are
under the names torch has for them: model.load_state_dict(load_file("final.safetensors")).
A checkpoint holds AdamW's moments too and fits every number of ranks; on the number it
was written with, a run goes on bit for bit. --steps may be another when a run goes on,
the other settings of training not. SIGINT and SIGTERM finish the step and save a
checkpoint (exit codes 130 and 143); a second one ends the run at once.
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

/// The file of the initial weights (empty: from scratch), or an Error that says what to give.
std::string chooseWeights(const CommonOptions &options, const std::string &folder,
                          const ProgramInfo &info) {
  if (options.init || !options.weights.empty())
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
  train.threads = replay.threads =
      std::max(1, int(int64_t(std::thread::hardware_concurrency()) / gridSize(info.grid)));
  CLI::App *trainCommand = app.add_subcommand("train", "Train on a file of tokens");
  trainCommand->footer(trainExamples);
  addTrainOptions(*trainCommand, train);
  CLI::App *replayCommand =
      app.add_subcommand("replay", "Train on given batches and write every number down");
  replayCommand->footer(replayExamples);
  addReplayOptions(*replayCommand, replay);

  try {
    app.parse(std::vector<std::string>(arguments.rbegin(), arguments.rend()));
  } catch (const CLI::Success &request) { // --help or --version
    return app.exit(request, console.out, console.err);
  } catch (const CLI::ParseError &error) {
    console.err << usageMessage(error) << "\n";
    return 2;
  }
  try {
    if (trainCommand->parsed()) {
      // A run that goes on has its weights in the checkpoint.
      if (train.resumeFrom.empty() && !(train.resume && !findCheckpoints(train.out).empty()))
        train.weights = chooseWeights(train, folder, info);
      runTraining(generated, train, console);
    } else {
      replay.weights = chooseWeights(replay, folder, info);
      runReplay(generated, replay, console);
    }
  } catch (const Interrupted &interrupted) {
    console.err << "error: " << interrupted.what() << "\n";
    return 128 + interrupted.signal;
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
