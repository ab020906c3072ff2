//===- Format.cpp - models in Colrow's language in canonical form ---------===//

#include "tools/colrow/Format.h"
#include "colrow/File.h"
#include "frontend/dsl/Import.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

namespace colrow {

void addFormat(CLI::App &app, FormatOptions &options) {
  app.add_option("files", options.files, "models in Colrow's language")
      ->required()
      ->type_name("MODEL.colrow");
  app.add_flag("--check", options.check, "write nothing; exit code 1 where a file would change");
  app.footer(
      "examples:\n"
      "  colrow format model.colrow\n"
      "  colrow format --check models/*.colrow\n"
      "\nOne statement a line, two spaces a brace, lines of at most 100 characters. Comments "
      "stay.");
}

bool format(const FormatOptions &options) {
  bool isFine = true;
  for (const std::string &path : options.files) {
    std::string text = readTextFile(path), formatted = dsl::format(path, text);
    if (formatted == text)
      continue;
    isFine &= !options.check;
    if (!options.check)
      writeTextFile(path, formatted);
    fmt::print("{} '{}'\n", options.check ? "would reformat" : "reformatted", path);
  }
  return isFine;
}

} // namespace colrow
