//===- TemporaryFolder.h - a folder that goes with an object --------------===//
#pragma once

#include "colrow/Error.h"
#include "llvm/Support/FileSystem.h"

#include <filesystem>

namespace colrow {

/// Made empty, removed with all that is in it. Throws Error.
struct TemporaryFolder {
  TemporaryFolder() {
    llvm::SmallString<128> made;
    if (std::error_code code = llvm::sys::fs::createUniqueDirectory("colrow", made))
      throw Error("cannot make a temporary folder: " + code.message());
    path = made.str().str();
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
  }
  TemporaryFolder(const TemporaryFolder &) = delete;
  TemporaryFolder &operator=(const TemporaryFolder &) = delete;

  std::filesystem::path path;
};

} // namespace colrow
