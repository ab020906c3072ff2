//===- Emit.cpp - localized IR as C++ source ------------------------------===//

#include "colrow/Error.h"
#include "passes/emit/Folder.h"
#include "passes/emit/Passes.h"
#include "passes/emit/Program.h"
#include "llvm/ADT/StringSwitch.h"
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

const std::string *ProgramFiles::find(StringRef name) const {
  return llvm::StringSwitch<const std::string *>(name)
      .Case("step", &step)
      .Case("model", &model)
      .Case("constants", &constants)
      .Case("manifest", &manifest)
      .Default(nullptr);
}

FailureOr<ProgramFiles> emitProgram(ModuleOp module) {
  if (llvm::none_of(ArrayRef<StringRef>{"forward_backward", "evaluate", "update"},
                    [&](StringRef name) { return module.lookupSymbol<func::FuncOp>(name); }))
    return module.emitError("has none of @forward_backward, @evaluate and @update to emit: run "
                            "colrow-opt --colrow-to-trainer first");
  FailureOr<ProgramModel> model = ProgramModel::create(module);
  if (failed(model))
    return failure();
  FailureOr<ProgramPlan> plan = ProgramPlan::create(module);
  if (failed(plan))
    return failure();
  WatchedValues watched(*plan);
  model->info.values = watched.describe();
  FailureOr<StepSource> step = emitStep(module, *model, *plan, watched);
  if (failed(step))
    return failure();
  return ProgramFiles{step->text, emitModel(*model), emitConstants(*plan),
                      emitManifest(module, *model, *plan, step->segments)};
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
    if (const std::string *text = files->find(file)) {
      llvm::outs() << *text;
      return;
    }
    getOperation().emitError("there is no file '")
        << file << "': expects step, model, constants or manifest";
    signalPassFailure();
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
