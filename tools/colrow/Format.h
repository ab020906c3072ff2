//===- Format.h - colrow format -------------------------------------------===//
#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace colrow {

struct FormatOptions {
  std::vector<std::string> files;
  bool check = false;
};

/// Adds the subcommand's options.
void addFormat(CLI::App &app, FormatOptions &options);

/// Writes files of Colrow's language in canonical form, or says which are not. Whether all are, or
/// were written. Throws Error.
bool format(const FormatOptions &options);

} // namespace colrow
