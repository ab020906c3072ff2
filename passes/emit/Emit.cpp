//===- Emit.cpp - localized IR as C++ source ------------------------------===//

#include "colrow/Error.h"
#include "passes/emit/Folder.h"
#include "passes/emit/Passes.h"
#include "passes/emit/Program.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;

namespace colrow {
#define GEN_PASS_DEF_EMITCPP
#include "passes/emit/Passes.h.inc"

FailureOr<ProgramInfo> describeProgram(ModuleOp module) {
  FailureOr<ProgramModel> model = ProgramModel::create(module);
  if (failed(model))
    return failure();
  return model->info;
}

FailureOr<ProgramFiles> emitProgram(ModuleOp module) {
  FailureOr<ProgramModel> model = ProgramModel::create(module);
  if (failed(model))
    return failure();
  FailureOr<ProgramPlan> plan = ProgramPlan::create(module);
  if (failed(plan))
    return failure();
  FailureOr<std::string> step = emitStep(module, *model, *plan);
  if (failed(step))
    return failure();
  return ProgramFiles{*step, emitModel(*model), emitConstants(*plan),
                      emitManifest(module, *model, *plan)};
}

FailureOr<std::string> emitManifest(ModuleOp module) {
  FailureOr<ProgramModel> model = ProgramModel::create(module);
  if (failed(model))
    return failure();
  FailureOr<ProgramPlan> plan = ProgramPlan::create(module);
  if (failed(plan))
    return failure();
  return emitManifest(module, *model, *plan);
}

namespace {

struct EmitCpp : impl::EmitCppBase<EmitCpp> {
  using EmitCppBase::EmitCppBase;

  void runOnOperation() override {
    FailureOr<ProgramFiles> files = emitProgram(getOperation());
    if (failed(files))
      return signalPassFailure();
    if (!folder.empty())
      return writeFolder(*files);
    if (file == "step")
      llvm::outs() << files->step;
    else if (file == "model")
      llvm::outs() << files->model;
    else if (file == "constants")
      llvm::outs() << files->constants;
    else if (file == "manifest")
      llvm::outs() << files->manifest;
    else {
      getOperation().emitError("there is no file '")
          << file << "': expects step, model, constants or manifest";
      signalPassFailure();
    }
  }

  void writeFolder(const ProgramFiles &files) {
    try {
      writeTrainerFolder(files, folder);
      if (build)
        buildTrainer(folder);
    } catch (const Error &error) {
      getOperation().emitError(error.what());
      signalPassFailure();
    }
  }
};

} // namespace
} // namespace colrow
