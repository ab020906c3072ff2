//===- CommandLine.cpp - the trainer's command line ------------------------===//

#include "Checkpoint.h"
#include "Format.h"
#include "Interrupt.h"
#include "Options.h"
#include "Replay.h"
#include "Trainer.h"
#include "colrow/Error.h"
#include "colrow/Launch.h"
#include "colrow/RankRunner.h"
#include "colrow/Version.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <new>
#include <ostream>
#include <sched.h>
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
  each rank a process; on one machine they share memory:
    mpirun -n 2 --bind-to none trainer train --data train.bin --steps 1000 --init --out run
  any other model, on its inputs and labels by name, such as pixel_values and labels:
    trainer train --data images.safetensors --steps 1000 --out run
  a masked language model on tokens:
    trainer train --data train.bin --mask-token 103 --steps 1000 --out run
  going on with it after a crash or Ctrl-C; the same command, so that it can be repeated:
    trainer train --data train.bin --eval-data val.bin --weights model.safetensors \
        --steps 1000 --lr 3e-4 --warmup 100 --accumulate 4 --save-every 200 --out run --resume

The run folder receives config.json, metrics.jsonl (one line for each step),
checkpoint-N.safetensors at every save and final.safetensors at the end. Weights are
under the names torch has for them: model.load_state_dict(load_file("final.safetensors")).
A checkpoint holds AdamW's moments too and fits every number of ranks; on the number it
was written with, a run goes on bit for bit. --steps may be another when a run goes on,
the other settings of training not. SIGINT, SIGTERM and SIGUSR1 finish the step and
save a checkpoint (exit codes 130, 143 and 138); a second one ends the run at once.
Under mpirun send SIGUSR1, which it passes on: one or two seconds after SIGINT or SIGTERM
it kills its processes. A process that is lost ends the run, which --resume goes on with.
Text is read as bytes; a file named *.bin as tokens, with llm.c's header or raw uint16.
One named *.safetensors has a tensor for each input of the graph and for the labels, under
their names; the first dimension is rows, labels are as PyTorch has them (not shifted,
-100 is ignored).
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

/// Cores for each rank where nothing is said. A launcher may have bound this process to some.
int coresOfRank(const Launch &launch, int64_t ranks) {
  int64_t cores = std::thread::hardware_concurrency();
  int64_t share = cores / (launch.isShared() ? launch.localSize : ranks);
  cpu_set_t bound;
  if (launch.isShared() && ::sched_getaffinity(0, sizeof(bound), &bound) == 0)
    share = std::min<int64_t>(share, CPU_COUNT(&bound));
  return int(std::max<int64_t>(1, share));
}

/// Ranks as this process was started: threads, or this process is one of them.
std::unique_ptr<RankRunner> startRanks(const Launch &launch, const ProgramInfo &info,
                                       const CommonOptions &options,
                                       const ProcessRanks &processRanks) {
  ThreadRankOptions ranks;
  ranks.threadsPerRank = options.threads;
  ranks.waitLimit = options.waitLimit;
  if (!launch.isShared())
    return threadRunner(info.grid, ranks);
  int64_t size = gridSize(info.grid);
  if (launch.size != size)
    throw Error(fmt::format(
        "started as {} processes, but this trainer is compiled for {}: {}, or compile it with --tp {}",
        launch.size, gridText(info.grid),
        size == 1 ? "start it without " + launch.launcher : "use " + launch.command(size),
        launch.size));
  if (!processRanks)
    throw Error(fmt::format("started as {} processes, but this trainer was built without MPI: "
                            "without {} its ranks are threads; or install MPI (Debian: "
                            "libopenmpi-dev) and build it anew",
                            launch.size, launch.launcher));
  return processRanks(info.grid, ranks);
}

} // namespace

int trainerMain(const std::vector<std::string> &arguments, const std::string &folder,
                const GeneratedProgram &generated, const Console &wholeConsole,
                const ProcessRanks &processRanks) {
  const ProgramInfo &info = generated.info;
  // All processes of a launch come here, and one of them speaks. Launchers give processes a
  // terminal of their own whatever theirs is.
  Launch launch = launchedAs();
  std::ostream nowhere(nullptr);
  bool isFirst = launch.rank == 0;
  Console console = {isFirst ? wholeConsole.out : nowhere, isFirst ? wholeConsole.err : nowhere,
                     wholeConsole.terminal && launch.launcher.empty()};
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
  train.threads = replay.threads = coresOfRank(launch, gridSize(info.grid));
  CLI::App *trainCommand = app.add_subcommand("train", "Train on a file of data");
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
    if (!isFirst)
      letOthersReport();
    return 2;
  }
  std::unique_ptr<RankRunner> ranks;
  auto fail = [&](const char *what, int code) {
    if (ranks ? ranks->reports() : isFirst)
      wholeConsole.err << "error: " << what << std::endl;
    else if (!ranks)
      letOthersReport();
    return code;
  };
  try {
    bool trains = trainCommand->parsed();
    ranks = startRanks(launch, info, trains ? static_cast<CommonOptions &>(train) : replay,
                       processRanks);
    if (trainCommand->parsed()) {
      // A run that goes on has its weights in the checkpoint.
      if (train.resumeFrom.empty() && !(train.resume && !findCheckpoints(train.out).empty()))
        train.weights = chooseWeights(train, folder, info);
      runTraining(generated, train, console, *ranks);
    } else {
      replay.weights = chooseWeights(replay, folder, info);
      runReplay(generated, replay, console, *ranks);
    }
  } catch (const Interrupted &interrupted) {
    return fail(interrupted.what(), 128 + interrupted.signal);
  } catch (const std::bad_alloc &) {
    return fail("out of memory", 1);
  } catch (const std::exception &error) {
    return fail(error.what(), 1);
  }
  return 0;
}

} // namespace colrow
