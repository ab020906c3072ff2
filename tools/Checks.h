//===- Checks.h - checks of command-line values ---------------------------===//
#pragma once

#include <cstdlib>
#include <string>

namespace colrow {

/// For CLI11's check(): a whole number of at least 1.
inline std::string atLeastOne(const std::string &text) {
  char *end = nullptr;
  long long value = std::strtoll(text.c_str(), &end, 10);
  return *end == 0 && value >= 1 ? "" : "must be a whole number of at least 1, got '" + text + "'";
}

} // namespace colrow
