//===- Source.h - texts of the model language, and what is wrong in them --===//
//
// Errors are LLVM's diagnostics as text:
//
//   gpt2.colrow:12:14: error: 'hiden' is not defined; did you mean 'hidden'?
//     param weight: [hiden, 3 * hidden] ~ normal(0.02)
//                    ^~~~~
//
//===----------------------------------------------------------------------===//
#pragma once

#include "colrow/Error.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/SourceMgr.h"

#include <string>
#include <vector>

namespace colrow::dsl {

/// An error with its place. The message is complete, several lines, and begins with the file:
/// nothing is to be printed before it.
class SourceError : public Error {
public:
  using Error::Error;
};

/// What else is to be seen, and where.
struct Note {
  llvm::SMRange where;
  std::string text;
};

/// The files that a model is made of.
class Sources {
public:
  /// Reads a file that the text at `from` names, or the user. Throws Error, or SourceError at
  /// `from`.
  llvm::StringRef open(const std::string &path, llvm::SMRange from = {});
  /// A text under the name of a file.
  llvm::StringRef add(const std::string &name, llvm::StringRef text);

  /// In the order in which they were opened.
  const std::vector<std::string> &paths() const { return opened; }

  [[noreturn]] void fail(llvm::SMRange where, const llvm::Twine &message,
                         llvm::ArrayRef<Note> notes = {}) const;

private:
  llvm::SourceMgr manager;
  std::vector<std::string> opened;
};

/// ` and 'hidden'`-like endings of errors about names: `; did you mean 'hidden'?`, or nothing.
std::string suggestion(llvm::StringRef name, llvm::ArrayRef<std::string> known);

inline llvm::SMRange rangeOf(llvm::StringRef text) {
  return {llvm::SMLoc::getFromPointer(text.begin()), llvm::SMLoc::getFromPointer(text.end())};
}
/// From the beginning of one to the end of another.
inline llvm::SMRange join(llvm::SMRange a, llvm::SMRange b) { return {a.Start, b.End}; }

} // namespace colrow::dsl
