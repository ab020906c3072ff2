//===- colrow: the program for people who train models --------------------===//

#include "colrow/Error.h"
#include "tools/colrow/Verify.h"

#include <CLI/CLI.hpp>
#include <cstdio>

using namespace colrow;

int main(int argc, char **argv) {
  CLI::App app("Compiles a transformer graph for one GPU into a tensor-parallel trainer.", "colrow");
  app.set_version_flag("--version", "colrow " COLROW_VERSION);
  app.require_subcommand(1);
  app.footer("examples:\n"
             "  colrow verify model.onnx --reference reference.safetensors --interpret\n"
             "\n'colrow SUBCOMMAND --help' has the options of each.");

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
    if (verifyCommand->parsed())
      return verify(verifyOptions) ? 0 : 1;
  } catch (const std::exception &error) {
    std::fprintf(stderr, "error: %s\n", error.what());
    return 1;
  }
  return 2;
}
