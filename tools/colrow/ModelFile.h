//===- ModelFile.h - a model file in any of the forms that are read -------===//
#pragma once

#include "frontend/onnx/Import.h"

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

namespace colrow {

class ModelFile {
public:
  /// *.colrow is Colrow's language, everything else ONNX. Throws Error.
  static std::unique_ptr<ModelFile> open(const std::string &path, const ParameterOptions &options);
  virtual ~ModelFile() = default;

  /// The exported model; null where the file is no ONNX.
  virtual const OnnxModel *onnx() const { return nullptr; }

  /// As they are in the file: sizes may be symbols.
  virtual std::vector<GraphInput> inputs() const = 0;
  /// All files that it is made of.
  virtual std::vector<std::filesystem::path> files() const = 0;

  /// The program. Throws Error, or fails with a diagnostic. Called once, before what follows.
  virtual mlir::FailureOr<mlir::OwningOpRef<mlir::ModuleOp>>
  import(mlir::MLIRContext &context, const ImportOptions &options) = 0;
  virtual const ParameterList &parameters() const = 0;

  /// Whether its parameters have rules of their own to start from, instead of weights.
  virtual bool startsFromScratch() const = 0;
  /// The first parameter whose data is absent, as the beginning of a message; empty if none is.
  virtual std::string absentWeights() const = 0;
  /// What a parameter starts with, where the weights are there.
  virtual std::vector<float> initialData(const Parameter &parameter) const = 0;
};

} // namespace colrow
