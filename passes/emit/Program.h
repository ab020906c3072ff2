//===- Program.h - what the generated files have in common ----------------===//
#pragma once

#include "colrow/Program.h"
#include "passes/emit/Emit.h"
#include "passes/emit/FunctionEmitter.h"

namespace colrow {

/// Parameters, inputs and outputs of a localized module, as the runtime knows them.
struct ProgramModel {
  ProgramInfo info;
  ProgramNumbers numbers;
  std::vector<mlir::RankedTensorType> parameterTypes; ///< global, with layouts
  std::vector<mlir::DictionaryAttr> parameterAttributes; ///< of the functions' arguments
  std::vector<mlir::RankedTensorType> outputTypes;

  static mlir::FailureOr<ProgramModel> create(mlir::ModuleOp module);
};

/// Floating operations of the matrix products of one rank, in one call of a function.
double productFlops(mlir::func::FuncOp function);

std::string emitModel(const ProgramModel &model);
std::string emitConstants(const ProgramPlan &plan);

/// Memory that the program allocates: at its start, or when it is first used.
struct SegmentSize {
  std::string name;
  int64_t bytes;
  bool onFirstUse;
};
using Segments = std::vector<SegmentSize>;

struct StepSource {
  std::string text;
  Segments segments;
};

mlir::FailureOr<StepSource> emitStep(mlir::ModuleOp module, const ProgramModel &model,
                                     const ProgramPlan &plan, const WatchedValues &watched);
std::string emitManifest(mlir::ModuleOp module, const ProgramModel &model,
                         const ProgramPlan &plan, const Segments &segments);

} // namespace colrow
