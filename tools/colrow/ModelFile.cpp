//===- ModelFile.cpp - a model file in any of the forms that are read -----===//

#include "tools/colrow/ModelFile.h"
#include "colrow/Error.h"
#include "frontend/dsl/Import.h"

namespace colrow {
namespace {

class OnnxFile : public ModelFile {
public:
  OnnxFile(const std::string &path, const ParameterOptions &options)
      : model(OnnxModel::load(path)), table(sortParameters(model, options)) {}

  const OnnxModel *onnx() const override { return &model; }
  std::vector<GraphInput> inputs() const override { return model.inputs(); }
  const ParameterList &parameters() const override { return table; }
  bool startsFromScratch() const override { return false; }

  std::vector<std::filesystem::path> files() const override {
    std::vector<std::filesystem::path> result{model.path()};
    for (const Parameter &parameter : table.parameters)
      if (const TensorInfo *info = model.findInitializer(parameter.source);
          info && info->storage == Storage::External)
        result.push_back(info->file);
    return result;
  }

  mlir::FailureOr<mlir::OwningOpRef<mlir::ModuleOp>> import(mlir::MLIRContext &context,
                                                            const ImportOptions &options) override {
    return importOnnx(context, model, table, options);
  }

  std::string absentWeights() const override {
    for (const Parameter &parameter : table.parameters) {
      if (parameter.restored())
        continue;
      const TensorInfo *info = model.findInitializer(parameter.source);
      if (info && info->storage != Storage::Absent)
        continue;
      return "the data of '" + parameter.name + "' is missing" +
             (info && !info->file.empty() ? ", file '" + info->file.string() + "' does not exist"
                                          : "");
    }
    return "";
  }

  std::vector<float> initialData(const Parameter &parameter) const override {
    return colrow::initialData(model, parameter);
  }

private:
  OnnxModel model;
  ParameterTable table;
};

class DslFile : public ModelFile {
public:
  explicit DslFile(const std::string &path) : model(DslModel::load(path)) {}

  std::vector<GraphInput> inputs() const override { return model.inputs(); }
  const ParameterList &parameters() const override { return list; }
  bool startsFromScratch() const override { return true; }
  std::vector<std::filesystem::path> files() const override {
    return {model.files().begin(), model.files().end()};
  }

  mlir::FailureOr<mlir::OwningOpRef<mlir::ModuleOp>> import(mlir::MLIRContext &context,
                                                            const ImportOptions &options) override {
    DslProgram program = importDsl(context, model, options);
    list = std::move(program.parameters);
    return std::move(program.module);
  }

  std::string absentWeights() const override { return "it says what parameters start with"; }
  std::vector<float> initialData(const Parameter &parameter) const override {
    throw Error("'" + model.path() + "' has no weights for '" + parameter.name + "'");
  }

private:
  DslModel model;
  ParameterList list;
};

} // namespace

std::unique_ptr<ModelFile> ModelFile::open(const std::string &path,
                                           const ParameterOptions &options) {
  if (isDslPath(path))
    return std::make_unique<DslFile>(path);
  return std::make_unique<OnnxFile>(path, options);
}

} // namespace colrow
