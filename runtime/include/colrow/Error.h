//===- Error.h - the one exception type of the runtime --------------------===//
//
// Bad input and failing systems end in one of these. The message is complete: one lower-case line
// that names the user's own file, tensor or option and says what to do. Programs print it after
// "error: " and exit with 1.
//
//===----------------------------------------------------------------------===//
#pragma once

#include <stdexcept>
#include <string>

namespace colrow {

class Error : public std::runtime_error {
public:
  explicit Error(const std::string &message) : std::runtime_error(message) {}
};

} // namespace colrow
