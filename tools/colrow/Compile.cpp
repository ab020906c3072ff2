//===- Compile.cpp - colrow compile and colrow train ----------------------===//

#include "tools/colrow/Compile.h"
#include "colrow/Error.h"
#include "colrow/Safetensors.h"
#include "passes/emit/Folder.h"
#include "runtime/train/Checkpoint.h"
#include "runtime/train/TensorRows.h"
#include "tools/Checks.h"
#include "tools/colrow/Plan.h"
#include "tools/colrow/Trainer.h"
#include "tools/colrow/Weights.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace colrow {

static void addRanks(CLI::App &app, int64_t &ranks) {
  app.add_option("--tp", ranks, "ranks of tensor parallelism")
      ->check(atLeastOne)
      ->capture_default_str();
}

void addCompile(CLI::App &app, CompileOptions &options) {
  addModelOptions(app, options.model);
  addRanks(app, options.ranks);
  app.add_option("-o,--output", options.output, "the trainer's folder")
      ->required()
      ->type_name("FOLDER");
  app.add_flag("--build,!--no-build", options.build, "build it as well (the default)");
  app.footer("examples:\n"
             "  colrow compile model.onnx --tp 2 --batch 8 --sequence 128 -o trainer\n"
             "  trainer/trainer train --data text.txt --steps 500 --out run\n"
             "\nThe folder builds by itself with a C++ compiler, CMake and oneDNN.");
}

void compile(CompileOptions &options) {
  Model model(options.model);
  writeTrainer(model, options.ranks, options.output);
  fmt::print("wrote '{}': src/step.cpp is the program of one rank, manifest.json what is in it\n",
             options.output);
  if (model.file().startsFromScratch())
    fmt::print("the model has rules for its parameters, no weights: train with --init\n");
  else if (!hasWeights(model))
    fmt::print("the model came without weights: train with --weights FILE or --init\n");
  if (!options.build)
    return;
  buildTrainer(options.output);
  fmt::print("built; next: {}/trainer train --data FILE --steps 500 --out run\n", options.output);
}

void addTrain(CLI::App &app, TrainCommand &command) {
  addModelOptions(app, command.model);
  command.ranks = command.launch.size; // where nothing else is said
  addRanks(app, command.ranks);
  app.add_flag("!--no-memory-check", command.checksMemory,
               "start even where memory does not suffice ('colrow plan' says for what)");
  std::vector<const CLI::Option *> own;
  for (const CLI::Option *option : app.get_options())
    own.push_back(option);
  addTrainOptions(app, command.training);
  for (CLI::Option *option : app.get_options())
    if (std::find(own.begin(), own.end(), option) == own.end()) {
      option->group("Training");
      command.passedOn.push_back(option);
    }
  app.footer(
      "examples:\n"
      "  colrow train model.onnx --tp 2 --batch 8 --sequence 128 --data text.txt "
      "--steps 500 --out run\n"
      "  colrow train model.onnx --batch 8 --sequence 128 --data train.bin --eval-data val.bin \\\n"
      "      --init --lr 6e-4 --warmup 200 --steps 5000 --accumulate 4 --save-every 1000 "
      "--out run\n"
      "\nThe same command with --resume goes on from the run's last checkpoint, on any --tp. "
      "SIGINT and\nSIGTERM save one.\n"
      "\nUnder mpirun or srun each rank is a process, and --tp is their number:\n"
      "  mpirun -n 2 --bind-to none colrow train model.onnx --batch 8 --sequence 128 "
      "--data text.txt \\\n"
      "      --steps 500 --out run\n"
      "Without --bind-to none Open MPI binds a process to one core. SIGUSR1 to mpirun saves a "
      "checkpoint and\nends the run; after Ctrl-C mpirun may leave too little time for that.\n"
      "\nText is read as bytes; a file named *.bin as tokens, with llm.c's header or raw "
      "uint16. Any other\nmodel learns from a file named *.safetensors: a tensor for each input of "
      "the "
      "graph and for the labels,\nunder their names, the first dimension being rows:\n"
      "  colrow train vit.onnx --tp 2 --batch 8 --data images.safetensors --steps 500 --out run\n"
      "  colrow train bert.onnx --batch 8 --sequence 128 --data train.bin --mask-token 103 --steps "
      "500 "
      "--out run\n\nThe run folder receives config.json, metrics.jsonl, "
      "checkpoint-N.safetensors\nand final.safetensors, the weights.");
}

/// Symbols that the command line does not bind have the sizes of the tensors of a data file. Its
/// first dimension is rows, which says nothing about a batch.
static void bindLike(ModelOptions &options, const TrainOptions &training) {
  if (!isTensorFile(training.data, training.format))
    return;
  SafetensorsFile file(training.data);
  for (const TensorEntry &tensor : file.tensors()) {
    std::vector<int64_t> shape = tensor.shape;
    if (!shape.empty())
      shape[0] = options.batch.value_or(0);
    options.inputShapes[tensor.name] = shape;
  }
}

/// What is wrong with the objective and the files is told before minutes of compiling.
static void checkFiles(Model &model, const TrainOptions &training) {
  ProgramInfo info = model.describeInputs();
  (void)openTrainingData(training.data, info, training.dataOptions(), /*evaluates=*/false);
  if (!training.evalData.empty())
    (void)openTrainingData(training.evalData, info, training.dataOptions(), /*evaluates=*/true);
  if (!training.weights.empty())
    SafetensorsFile file(training.weights);
  else if (!training.resumeFrom.empty())
    CheckpointFile file(training.resumeFrom);
  else if (!training.init && !training.resume)
    requireWeights(model);
}

void train(TrainCommand &command) {
  const Launch &launch = command.launch;
  if (launch.isShared() && launch.size != command.ranks)
    throw Error(fmt::format("started as {} processes, but --tp is {}: {}, or --tp {}", launch.size,
                            command.ranks,
                            command.ranks == 1 ? "start it without " + launch.launcher
                                               : "use " + launch.command(command.ranks),
                            launch.size));
  bindLike(command.model, command.training);
  Model model(command.model);
  checkFiles(model, command.training);
  std::vector<std::string> arguments{"train"};
  for (const CLI::Option *option : command.passedOn) {
    if (option->count() == 0)
      continue;
    if (option->get_items_expected_max() == 0) // a flag
      arguments.push_back(option->get_name());
    else
      arguments.push_back(
          fmt::format("{}={}", option->get_name(), fmt::join(option->results(), ",")));
  }
  const TrainOptions &training = command.training;
  if (model.file().startsFromScratch() && !training.init && training.weights.empty() &&
      training.resumeFrom.empty())
    arguments.push_back("--init");
  TrainingPlan plan;
  plan.ranks = command.ranks;
  plan.accumulate = command.training.accumulate;
  plan.evaluates = !command.training.evalData.empty();
  plan.checksMemory = command.checksMemory;
  plan.ranksHere = std::min(launch.isShared() ? launch.localSize : command.ranks, command.ranks);
  ManifestCheck check = [&](const std::string &manifest) { checkTraining(model, plan, manifest); };
  // One process says it, and before others have taken what it finds available.
  std::string folder =
      cachedTrainer(model, command.ranks, launch.rank == 0 ? check : ManifestCheck());
  becomeTrainer(folder, arguments);
}

} // namespace colrow
