//===- Export.cpp - trained weights back into the ONNX file ---------------===//

#include "tools/colrow/Export.h"
#include "colrow/Error.h"
#include "frontend/dsl/Import.h"
#include "tools/colrow/Weights.h"

#include <CLI/CLI.hpp>
#include <filesystem>
#include <fmt/format.h>

namespace fs = std::filesystem;

namespace colrow {

void addExport(CLI::App &app, ExportOptions &options) {
  app.add_option("model", options.model, "the exported model that was trained")
      ->required()
      ->type_name("MODEL.onnx");
  app.add_option("--weights", options.weights,
                 "the trained weights: a safetensors file under torch's names, or a run's folder")
      ->required()
      ->type_name("FILE|RUN");
  app.add_option("-o,--output", options.output, "the file to write")
      ->required()
      ->type_name("OUT.onnx");
  addParameterOptions(app, options.parameters);
  app.footer(
      "examples:\n"
      "  colrow export model.onnx --weights run -o trained.onnx\n"
      "  colrow export model.onnx --weights model.safetensors -o trained.onnx\n"
      "\nNodes, names and metadata stay. Parameters that the exporter merged or dropped have\n"
      "initializers of their own, dropout is in inference form, and weights that lay in a\n"
      "file beside the model (or pass 1 GiB) go to OUT.onnx.data.");
}

/// The original is the only file that has its weights: it is not written over.
static void keepOriginal(const OnnxModel &model, const std::string &output) {
  std::error_code ignored;
  auto refuse = [&](const fs::path &original, const fs::path &written) {
    if (fs::equivalent(original, written, ignored))
      throw Error(fmt::format("'{}' is a file of the original model, which stays as it is; give "
                              "another name with -o",
                              written.string()));
  };
  refuse(model.path(), output);
  for (const TensorInfo &tensor : model.initializers())
    if (tensor.storage == Storage::External)
      refuse(tensor.file, output + ".data");
}

void exportModel(const ExportOptions &options) {
  if (isDslPath(options.model))
    throw Error(fmt::format("'{}' is no ONNX file that weights could go into; '{}' has them under "
                            "the names of the model's parameters",
                            options.model, resolveWeights(options.weights)));
  OnnxModel model = OnnxModel::load(options.model);
  keepOriginal(model, options.output);
  ParameterTable table = sortParameters(model, options.parameters);
  writeOnnx(options.output, model, table, weightsFromFile(table, options.weights));
  fmt::print("wrote '{}' with {} parameters of '{}'\n", options.output, table.parameters.size(),
             resolveWeights(options.weights));
}

} // namespace colrow
