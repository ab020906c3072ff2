//===- colrow: the program for people who train models --------------------===//

#include "colrow/Error.h"
#include "frontend/dsl/Source.h"
#include "tools/colrow/Compile.h"
#include "tools/colrow/Export.h"
#include "tools/colrow/Format.h"
#include "tools/colrow/Inspect.h"
#include "tools/colrow/Plan.h"
#include "tools/colrow/Verify.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <string>
#include <system_error>
#include <vector>

using namespace colrow;

int main(int argc, char **argv) {
  CLI::App app("Compiles a transformer graph for one GPU into a tensor-parallel trainer.", "colrow");
  app.set_version_flag("--version", "colrow " COLROW_VERSION);
  app.require_subcommand(1);
  app.footer("examples:\n"
             "  colrow inspect model.onnx --tp 2\n"
             "  colrow train model.onnx --tp 2 --batch 8 --sequence 128 --data text.txt --out run\n"
             "  colrow plan model.onnx --tp 2 --batch 8 --sequence 128\n"
             "  colrow compile model.onnx --tp 2 --batch 8 --sequence 128 -o trainer\n"
             "  colrow verify model.onnx --reference reference.safetensors\n"
             "  colrow export model.onnx --weights run -o trained.onnx\n"
             "  colrow format model.colrow\n"
             "\n'colrow SUBCOMMAND --help' has the options of each.");

  InspectOptions inspectOptions;
  CLI::App *inspectCommand =
      app.add_subcommand("inspect", "say what is in a model and what tp would do to it");
  addInspect(*inspectCommand, inspectOptions);
  PlanOptions planOptions;
  CLI::App *planCommand =
      app.add_subcommand("plan", "say what memory, traffic and work a training step takes");
  addPlan(*planCommand, planOptions);
  CompileOptions compileOptions;
  CLI::App *compileCommand = app.add_subcommand("compile", "write a trainer's source and build it");
  addCompile(*compileCommand, compileOptions);
  TrainCommand training;
  training.launch = launchedAs();
  const Launch &launch = training.launch;
  CLI::App *trainCommand = app.add_subcommand("train", "train on a file of data");
  addTrain(*trainCommand, training);
  VerifyOptions verifyOptions;
  CLI::App *verifyCommand =
      app.add_subcommand("verify", "prove that tp=N trains this model as PyTorch does");
  addVerify(*verifyCommand, verifyOptions);
  ExportOptions exportOptions;
  CLI::App *exportCommand =
      app.add_subcommand("export", "put trained weights back into the ONNX file");
  addExport(*exportCommand, exportOptions);
  FormatOptions formatOptions;
  CLI::App *formatCommand =
      app.add_subcommand("format", "write models in Colrow's language in canonical form");
  addFormat(*formatCommand, formatOptions);

  std::vector<std::string> arguments(argv + 1, argv + argc);
  // Before options that are handed on people write '--'; here it separates nothing.
  if (!arguments.empty() && arguments[0] == "train")
    arguments.erase(std::remove(arguments.begin(), arguments.end(), "--"), arguments.end());
  std::reverse(arguments.begin(), arguments.end()); // as CLI11 wants them

  try {
    app.parse(arguments);
  } catch (const CLI::Success &request) { // --help or --version
    return launch.rank == 0 ? app.exit(request) : 0;
  } catch (const CLI::ParseError &error) {
    if (launch.rank == 0)
      std::fprintf(stderr, "%s\n", usageMessage(error).c_str());
    else
      letOthersReport();
    return 2;
  }
  try {
    bool passes = true;
    if (inspectCommand->parsed())
      inspect(inspectOptions);
    else if (planCommand->parsed())
      plan(planOptions);
    else if (compileCommand->parsed())
      compile(compileOptions);
    else if (trainCommand->parsed())
      train(training);
    else if (verifyCommand->parsed())
      passes = verify(verifyOptions);
    else if (exportCommand->parsed())
      exportModel(exportOptions);
    else if (formatCommand->parsed())
      passes = format(formatOptions);
    // What was printed may still be on its way to a full disk.
    if (std::fflush(stdout) != 0)
      throw std::system_error(errno, std::generic_category(), "cannot write the standard output");
    return passes ? 0 : 1;
  } catch (const dsl::SourceError &error) { // begins with its file
    if (launch.localRank == 0)
      std::fprintf(stderr, "%s\n", error.what());
    else
      letOthersReport();
    return 1;
  } catch (const std::exception &error) {
    // What is wrong on a machine is told once there.
    if (launch.localRank == 0)
      std::fprintf(stderr, "error: %s\n", error.what());
    else
      letOthersReport();
    return 1;
  }
}
