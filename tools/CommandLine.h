//===- CommandLine.h - what tools on LLVM's command line share ------------===//
#pragma once

#include "llvm/Config/llvm-config.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/raw_ostream.h"

namespace colrow {

/// Sets the text of --version and the examples at the end of --help, and keeps the hundreds of
/// options that LLVM's code generators register by being linked out of --help (--help-hidden has
/// them). Call it first in main, before any option of the tool's own is registered. COLROW_VERSION
/// is defined by each tool's CMakeLists.txt.
inline void setUpCommandLine(llvm::StringRef tool, llvm::StringRef examples) {
  llvm::cl::SetVersionPrinter([tool](llvm::raw_ostream &out) {
    out << tool << " " COLROW_VERSION " (MLIR " LLVM_VERSION_STRING ")\n";
  });
  static llvm::cl::extrahelp help(examples);
  for (auto &entry : llvm::cl::getRegisteredOptions())
    if (entry.second->getOptionHiddenFlag() == llvm::cl::NotHidden && entry.first != "help" &&
        entry.first != "version")
      entry.second->setHiddenFlag(llvm::cl::Hidden);
}

} // namespace colrow
