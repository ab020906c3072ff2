//===- colrow-opt: runs passes on printed IR ------------------------------===//

#include "dialect/Colrow.h"
#include "passes/Passes.h"
#include "tools/CommandLine.h"

#include "mlir/Debug/Counter.h"
#include "mlir/IR/AsmState.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Support/Timing.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "llvm/Support/InitLLVM.h"

namespace cl = llvm::cl;

static const char examples[] = R"(
EXAMPLES:

  Big operations as the primitive ones that define them:
    colrow-opt --colrow-decompose model.mlir

  The IR after every pass, in a folder of files:
    colrow-opt --colrow-evaluate --colrow-differentiate --colrow-optimizer model.mlir \
      --mlir-print-ir-after-all --mlir-print-ir-tree-dir=ir -o step.mlir

  Only check that a program keeps the rules of layouts (L1 to L12 in dialect/README.md):
    colrow-opt sharded.mlir -o /dev/null

Reads standard input where no file is given. Exit codes: 0 done, 1 bad input, 2 wrong usage.
)";

/// mlir::registerAndParseCLIOptions, except that wrong usage ends in exit code 2.
int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  colrow::setUpCommandLine("colrow-opt", examples);

  mlir::registerTransformsPasses();
  colrow::registerColrowPasses();
  mlir::DialectRegistry registry;
  registry.insert<colrow::ColrowDialect, mlir::func::FuncDialect>();

  static cl::opt<std::string> input(cl::Positional, cl::desc("<input file>"), cl::init("-"));
  static cl::opt<std::string> output("o", cl::desc("Output filename"), cl::value_desc("filename"),
                                     cl::init("-"));
  mlir::MlirOptMainConfig::registerCLOptions(registry);
  mlir::registerAsmPrinterCLOptions();
  mlir::registerMLIRContextCLOptions();
  mlir::registerPassManagerCLOptions();
  mlir::registerDefaultTimingManagerCLOptions();
  mlir::tracing::DebugCounter::registerCLOptions();
  if (!cl::ParseCommandLineOptions(argc, argv, "Runs Colrow's passes on printed IR.\n",
                                   &llvm::errs()))
    return 2;
  mlir::MLIRContext context;
  mlir::PassManager pipeline(&context);
  if (failed(mlir::MlirOptMainConfig::createFromCLOptions().setupPassPipeline(pipeline)))
    return 2;
  return mlir::asMainReturnCode(mlir::MlirOptMain(argc, argv, input, output, registry));
}
