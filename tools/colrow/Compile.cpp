//===- Compile.cpp - colrow compile and colrow train ----------------------===//

#include "tools/colrow/Compile.h"
#include "passes/emit/Folder.h"
#include "tools/colrow/Trainer.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

namespace colrow {

static void addRanks(CLI::App &app, int64_t &ranks) {
  app.add_option("--tp", ranks, "ranks of tensor parallelism")
      ->check(CLI::PositiveNumber)
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
  if (!options.build)
    return;
  buildTrainer(options.output);
  fmt::print("built; next: {}/trainer train --data FILE --steps 500 --out run\n", options.output);
}

void addTrain(CLI::App &app, TrainOptions &options) {
  addModelOptions(app, options.model);
  addRanks(app, options.ranks);
  app.allow_extras();
  app.footer("All other options are the trainer's own: --data, --eval-data, --steps, --seed, --lr, "
             "--min-lr,\n--warmup, --betas, --eps, --weight-decay, --clip, --accumulate, --init, "
             "--weights, --save-every,\n--out and more; '-- --help' lists them.\n"
             "\nexamples:\n"
             "  colrow train model.onnx --tp 2 --batch 8 --sequence 128 --data text.txt "
             "--steps 500 --out run\n"
             "  colrow train model.onnx --batch 8 --sequence 128 -- --help");
}

int train(TrainOptions &options, const std::vector<std::string> &rest) {
  Model model(options.model);
  std::string folder = cachedTrainer(model, options.ranks);
  std::vector<std::string> arguments{"train"};
  for (const std::string &argument : rest)
    if (argument != "--")
      arguments.push_back(argument);
  return runTrainer(folder, arguments);
}

} // namespace colrow
