//===- Verify.h - colrow verify -------------------------------------------===//
#pragma once

#include "tools/colrow/Model.h"

namespace colrow {

struct VerifyOptions {
  ModelOptions model;
  std::vector<int64_t> ranks{1, 2};
  std::string reference, weights, json;
  bool interpret = false;
  int64_t steps = 20;
};

/// Adds the subcommand to the program; `run` is called when it is chosen.
void addVerify(CLI::App &app, VerifyOptions &options);

/// Prints the table; whether everything is within its limit. Throws Error.
bool verify(VerifyOptions &options);

} // namespace colrow
