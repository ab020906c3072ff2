//===- Export.h - colrow export -------------------------------------------===//
#pragma once

#include "frontend/onnx/Parameters.h"

#include <string>

namespace CLI {
class App;
}

namespace colrow {

struct ExportOptions {
  std::string model, weights, output;
  ParameterOptions parameters;
};

/// Adds the subcommand's options.
void addExport(CLI::App &app, ExportOptions &options);

/// Writes the model with trained weights. Throws Error.
void exportModel(const ExportOptions &options);

} // namespace colrow
