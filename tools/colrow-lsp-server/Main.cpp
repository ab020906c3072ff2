//===- colrow-lsp-server: the dialect in an editor ------------------------===//
//
// MLIR's language server with the colrow dialect: errors of the verifier while typing, types and
// locations on hover, definitions and uses of values. All of it comes from MLIR's library.
//
//===----------------------------------------------------------------------===//

#include "dialect/Colrow.h"
#include "tools/CommandLine.h"

#include "mlir/Tools/mlir-lsp-server/MlirLspServerMain.h"
#include "llvm/Support/InitLLVM.h"

static const char examples[] = R"(
EXAMPLES:

  An editor starts the server and talks to it over standard input and output. In VS Code's MLIR
  extension (llvm-vs-code-extensions.vscode-mlir):
    "mlir.server_path": "build/bin/colrow-lsp-server"

  In Neovim:
    vim.lsp.start({ name = "colrow", cmd = { "build/bin/colrow-lsp-server" } })

  By hand, with requests in a file, each ended by a line of // -----
    colrow-lsp-server --lit-test < requests.test
)";

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  colrow::setUpCommandLine("colrow-lsp-server", examples);
  mlir::DialectRegistry registry;
  registry.insert<colrow::ColrowDialect, mlir::func::FuncDialect>();
  return mlir::failed(mlir::MlirLspServerMain(argc, argv, registry));
}
