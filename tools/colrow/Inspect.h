//===- Inspect.h - colrow inspect -----------------------------------------===//
#pragma once

#include "tools/colrow/Model.h"

namespace colrow {

struct InspectOptions {
  ModelOptions model;
  int64_t ranks = 1;
  bool ir = false;
  std::string json;
};

/// Adds the subcommand's options.
void addInspect(CLI::App &app, InspectOptions &options);

/// Prints what is in the model and what `ranks` would do to it. Throws Error.
void inspect(InspectOptions &options);

} // namespace colrow
