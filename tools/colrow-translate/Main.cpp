//===- colrow-translate: model files to IR, IR to C++ ---------------------===//

#include "colrow/Error.h"
#include "colrow/File.h"
#include "dialect/Colrow.h"
#include "frontend/dsl/Import.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OperationSupport.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Support/FileUtilities.h"
#include "passes/emit/Emit.h"
#include "tools/Checks.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/raw_ostream.h"

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstdio>
#include <system_error>

using namespace colrow;

static const char examples[] = R"(examples:
  an ONNX model as IR:
    colrow-translate --import-onnx model.onnx --batch 4 --sequence 128
    colrow-translate --import-onnx t5.onnx --batch 2 --sequence 32 --bind decoder_sequence=16
  a model in Colrow's language as IR:
    colrow-translate --import-dsl model.colrow --batch 4 --sequence 128 --bind layers=2
  its training step on two ranks as C++, with the model's names, which are locations in the IR:
    colrow-translate --import-onnx model.onnx --batch 4 --sequence 128 --locations -o model.mlir
    colrow-opt model.mlir --colrow-to-trainer=axes=tp=2 --mlir-print-debuginfo -o step.mlir
    colrow-translate --colrow-to-cpp step.mlir -o step.cpp
  the parameters and ranks of that program:
    colrow-translate --colrow-to-cpp step.mlir --file model -o model.cpp
  which operators are imported, and which operations the language has:
    colrow-translate --onnx-op-table
    colrow-translate --dsl-op-table

'colrow compile' writes these sources with all that is needed to build them.)";

namespace {
struct Options {
  std::string model, text, program, file = "step", output = "-";
  std::vector<std::string> bindings;
  ImportOptions import;
  bool opTable = false, dslOpTable = false, locations = false, remarks = false, elide = false;
};
} // namespace

static void addOptions(CLI::App &app, Options &options) {
  auto *import = app.add_option("--import-onnx", options.model, "print the IR of this model")
                     ->type_name("MODEL.onnx");
  auto *dsl = app.add_option("--import-dsl", options.text, "print the IR of this model")
                  ->type_name("MODEL.colrow")
                  ->excludes(import);
  auto *emit = app.add_option("--colrow-to-cpp", options.program,
                              "print the C++ of this trainer's IR; -: standard input")
                   ->type_name("STEP.mlir")
                   ->excludes(import)
                   ->excludes(dsl);
  auto *onnxTable =
      app.add_flag("--onnx-op-table", options.opTable, "print the table of imported operators")
          ->excludes(import)
          ->excludes(dsl)
          ->excludes(emit);
  app.add_flag("--dsl-op-table", options.dslOpTable, "print the table of the language's operations")
      ->excludes(onnxTable)
      ->excludes(import)
      ->excludes(dsl)
      ->excludes(emit);
  app.add_option("-o,--output", options.output, "file to write")->type_name("FILE");
  app.add_option(
         "--file", options.file,
         "of the C++: step (its functions), model (parameters, inputs, ranks), constants or "
         "manifest")
      ->check(CLI::IsMember({"step", "model", "constants", "manifest"}))
      ->capture_default_str()
      ->needs(emit);
  app.add_option("--batch", options.import.batch, "rows of a batch")->check(atLeastOne);
  app.add_option("--sequence", options.import.sequence, "tokens of a row")->check(atLeastOne);
  app.add_option("--bind", options.bindings, "sizes of other symbols of the model")
      ->type_name("NAME=SIZE,...")
      ->delimiter(',');
  app.add_option("--tie", options.import.parameters.tie, "A=B: B is the same parameter as A");
  app.add_option("--untie", options.import.parameters.untie, "parameters that are not to be tied");
  app.add_option("--restore-bias", options.import.parameters.restoreBias,
                 "products that get a bias of zeros");
  app.add_flag("--locations", options.locations,
               "print the name of the node behind each operation");
  app.add_flag("--remarks", options.remarks, "print what was decided about parameters");
  app.add_flag("--elide-constants", options.elide, "leave the elements of large constants out");
}

static void parseBindings(Options &options) {
  for (const std::string &binding : options.bindings) {
    size_t at = binding.find('=');
    int64_t size = 0;
    if (at == std::string::npos || at == 0 ||
        llvm::StringRef(binding).drop_front(at + 1).getAsInteger(10, size) || size < 1)
      throw CLI::ValidationError("--bind", "expects NAME=SIZE with a size of at least 1, got '" +
                                               binding + "'");
    options.import.bindings[binding.substr(0, at)] = size;
  }
}

static mlir::FailureOr<mlir::OwningOpRef<mlir::ModuleOp>> importText(mlir::MLIRContext &context,
                                                                     const Options &options) {
  try {
    return importDsl(context, DslModel::load(options.text), options.import).module;
  } catch (const dsl::SourceError &error) { // begins with its file
    llvm::errs() << error.what() << "\n";
  } catch (const Error &error) {
    llvm::errs() << "error: " << error.what() << "\n";
  }
  return mlir::failure();
}

static mlir::LogicalResult importModel(const Options &options, llvm::raw_ostream &out) {
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  mlir::ScopedDiagnosticHandler handler(&context, [&](mlir::Diagnostic &diagnostic) {
    bool isError = diagnostic.getSeverity() == mlir::DiagnosticSeverity::Error;
    if (isError || options.remarks)
      llvm::errs() << (isError ? "error: " : "remark: ") << diagnostic.str() << "\n";
    return mlir::success();
  });
  auto module = options.text.empty() ? importOnnx(context, options.model, options.import)
                                     : importText(context, options);
  if (failed(module))
    return mlir::failure();
  mlir::OpPrintingFlags flags;
  if (options.locations)
    flags.enableDebugInfo();
  if (options.elide)
    flags.elideLargeElementsAttrs(16);
  (*module)->print(out, flags);
  return mlir::success();
}

static mlir::LogicalResult emitCpp(const Options &options, llvm::raw_ostream &out) {
  std::string message;
  std::unique_ptr<llvm::MemoryBuffer> buffer = mlir::openInputFile(options.program, &message);
  if (!buffer) {
    llvm::errs() << "error: " << message << "\n";
    return mlir::failure();
  }
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  context.loadDialect<ColrowDialect, mlir::func::FuncDialect>();
  llvm::SourceMgr sources;
  sources.AddNewSourceBuffer(std::move(buffer), llvm::SMLoc());
  mlir::SourceMgrDiagnosticHandler handler(sources, &context);
  auto module = mlir::parseSourceFile<mlir::ModuleOp>(sources, &context);
  if (!module)
    return mlir::failure();
  auto files = emitProgram(*module);
  if (failed(files))
    return mlir::failure();
  out << *files->find(options.file);
  return mlir::success();
}

int main(int argc, char **argv) {
  CLI::App app("Translates a model into IR of the colrow dialect, and the IR of a training "
               "step into C++.",
               "colrow-translate");
  app.footer(examples);
  app.set_version_flag("--version", COLROW_VERSION);
  Options options;
  addOptions(app, options);
  try {
    app.parse(argc, argv);
    parseBindings(options);
    if (options.model.empty() && options.text.empty() && options.program.empty() &&
        !options.opTable && !options.dslOpTable)
      throw CLI::RequiredError(
          "--import-onnx, --import-dsl, --colrow-to-cpp, --onnx-op-table or --dsl-op-table");
  } catch (const CLI::ParseError &error) {
    return app.exit(error) == 0 ? 0 : 2;
  }

  // A translation that fails leaves the file as it was.
  std::string text;
  llvm::raw_string_ostream stream(text);
  if (options.opTable)
    stream << onnxOpTable();
  else if (options.dslOpTable)
    stream << dsl::opTable();
  else if (failed(options.program.empty() ? importModel(options, stream)
                                          : emitCpp(options, stream)))
    return 1;
  try {
    if (options.output != "-")
      writeTextFile(options.output, text);
    else if (std::fwrite(text.data(), 1, text.size(), stdout) < text.size() ||
             std::fflush(stdout) != 0)
      throw std::system_error(errno, std::generic_category(), "cannot write the standard output");
  } catch (const std::exception &error) {
    llvm::errs() << "error: " << error.what() << "\n";
    return 1;
  }
  return 0;
}
