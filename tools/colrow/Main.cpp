//===- colrow: the program for people who train models --------------------===//

#include "colrow/Error.h"
#include "tools/colrow/Compile.h"
#include "tools/colrow/Inspect.h"
#include "tools/colrow/Verify.h"

#include <CLI/CLI.hpp>
#include <cstdio>

using namespace colrow;

int main(int argc, char **argv) {
  CLI::App app("Compiles a transformer graph for one GPU into a tensor-parallel trainer.", "colrow");
  app.set_version_flag("--version", "colrow " COLROW_VERSION);
  app.require_subcommand(1);
  app.footer("examples:\n"
             "  colrow inspect model.onnx --tp 2\n"
             "  colrow train model.onnx --tp 2 --batch 8 --sequence 128 --data text.txt --steps 500\n"
             "  colrow compile model.onnx --tp 2 --batch 8 --sequence 128 -o trainer\n"
             "  colrow verify model.onnx --reference reference.safetensors\n"
             "\n'colrow SUBCOMMAND --help' has the options of each.");

  InspectOptions inspectOptions;
  CLI::App *inspectCommand =
      app.add_subcommand("inspect", "say what is in a model and what tp would do to it");
  addInspect(*inspectCommand, inspectOptions);
  CompileOptions compileOptions;
  CLI::App *compileCommand = app.add_subcommand("compile", "write a trainer's source and build it");
  addCompile(*compileCommand, compileOptions);
  TrainOptions trainOptions;
  CLI::App *trainCommand = app.add_subcommand("train", "train on a file of tokens");
  addTrain(*trainCommand, trainOptions);
  VerifyOptions verifyOptions;
  CLI::App *verifyCommand =
      app.add_subcommand("verify", "prove that tp=N trains this model as PyTorch does");
  addVerify(*verifyCommand, verifyOptions);

  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError &error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  try {
    if (inspectCommand->parsed())
      return inspect(inspectOptions), 0;
    if (compileCommand->parsed())
      return compile(compileOptions), 0;
    if (trainCommand->parsed())
      return train(trainOptions, trainCommand->remaining());
    if (verifyCommand->parsed())
      return verify(verifyOptions) ? 0 : 1;
  } catch (const std::exception &error) {
    std::fprintf(stderr, "error: %s\n", error.what());
    return 1;
  }
  return 2;
}
