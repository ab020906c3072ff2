//===- colrow-translate: between ONNX files and IR ------------------------===//

#include "colrow/Error.h"
#include "frontend/onnx/Import.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OperationSupport.h"
#include "tools/Checks.h"
#include "llvm/Support/raw_ostream.h"

#include <CLI/CLI.hpp>

using namespace colrow;

static const char examples[] = R"(examples:
  colrow-translate --import-onnx model.onnx --batch 4 --sequence 128
  colrow-translate --import-onnx t5.onnx --batch 2 --sequence 32 --bind decoder_sequence=16 -o t5.mlir
  colrow-translate --onnx-op-table)";

int main(int argc, char **argv) {
  CLI::App app("Translates an ONNX model into IR of the colrow dialect.", "colrow-translate");
  app.footer(examples);
  app.set_version_flag("--version", COLROW_VERSION);

  std::string model, output = "-";
  std::vector<std::string> bindings;
  ImportOptions options;
  bool opTable = false, locations = false, remarks = false, elide = false;
  auto *import =
      app.add_option("--import-onnx", model, "print the IR of this model")->type_name("MODEL.onnx");
  app.add_option("--batch", options.batch, "rows of a batch")->check(atLeastOne);
  app.add_option("--sequence", options.sequence, "tokens of a row")->check(atLeastOne);
  app.add_option("--bind", bindings, "sizes of other symbols of the model")
      ->type_name("NAME=SIZE,...")
      ->delimiter(',');
  app.add_option("--tie", options.parameters.tie, "A=B: B is the same parameter as A");
  app.add_option("--untie", options.parameters.untie, "parameters that are not to be tied");
  app.add_option("--restore-bias", options.parameters.restoreBias,
                 "products that get a bias of zeros");
  app.add_flag("--locations", locations, "print the name of the node behind each operation");
  app.add_flag("--remarks", remarks, "print what was decided about parameters");
  app.add_flag("--elide-constants", elide, "leave the elements of large constants out");
  app.add_option("-o,--output", output, "file to write")->type_name("FILE");
  app.add_flag("--onnx-op-table", opTable, "print the table of imported operators")
      ->excludes(import);
  try {
    app.parse(argc, argv);
    for (const std::string &binding : bindings) {
      size_t at = binding.find('=');
      int64_t size = 0;
      if (at == std::string::npos || at == 0 ||
          llvm::StringRef(binding).drop_front(at + 1).getAsInteger(10, size) || size < 1)
        throw CLI::ValidationError("--bind", "expects NAME=SIZE with a size of at least 1, got '" +
                                                 binding + "'");
      options.bindings[binding.substr(0, at)] = size;
    }
    if (model.empty() && !opTable)
      throw CLI::RequiredError("--import-onnx or --onnx-op-table");
  } catch (const CLI::ParseError &error) {
    return app.exit(error) == 0 ? 0 : 2;
  }

  std::error_code code;
  llvm::raw_fd_ostream out(output, code);
  if (code) {
    llvm::errs() << "error: cannot write '" << output << "': " << code.message() << "\n";
    return 1;
  }
  if (opTable) {
    out << onnxOpTable();
    return 0;
  }

  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  mlir::ScopedDiagnosticHandler handler(&context, [&](mlir::Diagnostic &diagnostic) {
    bool isError = diagnostic.getSeverity() == mlir::DiagnosticSeverity::Error;
    if (isError || remarks)
      llvm::errs() << (isError ? "error: " : "remark: ") << diagnostic.str() << "\n";
    return mlir::success();
  });
  auto module = importOnnx(context, model, options);
  if (failed(module))
    return 1;
  mlir::OpPrintingFlags flags;
  if (locations)
    flags.enableDebugInfo();
  if (elide)
    flags.elideLargeElementsAttrs(16);
  (*module)->print(out, flags);
  return 0;
}
