//===- Emit.h - localized IR as C++ source --------------------------------===//
//
// What is written is a class derived from colrow::Program (runtime/include/colrow/Program.h): a
// member function for each function of the module, memory in segments, calls of the runtime's
// kernels. Names are those of the model.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "colrow/Program.h"
#include "mlir/IR/BuiltinOps.h"

#include <string>

namespace colrow {

/// The generated files of a trainer, as text.
struct ProgramFiles {
  std::string step;      ///< src/step.cpp: the functions
  std::string model;     ///< src/model.cpp: programInfo()
  std::string constants; ///< src/constants.cpp: dense constants; empty where there are none
  std::string manifest;  ///< manifest.json

  /// The file `step`, `model`, `constants` or `manifest`; null for another name.
  const std::string *find(llvm::StringRef name) const;
};

/// Emits a localized module with @forward_backward, @evaluate and @update (one or two may
/// be missing: the program then throws where they are called). Outlined functions become functions.
/// Emits an error at an operation that has no kernel.
mlir::FailureOr<ProgramFiles> emitProgram(mlir::ModuleOp module);

/// What programInfo() of the trainer emitted from a localized module returns; of a module that has only
/// @main, its parameters and inputs.
mlir::FailureOr<ProgramInfo> describeProgram(mlir::ModuleOp module);

} // namespace colrow
