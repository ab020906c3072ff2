//===- Folder.h - the folder of a trainer ---------------------------------===//
//
//   trainer/  CMakeLists.txt  manifest.json
//             src/           the generated program
//             include/ runtime/   what it is linked with, as source
//             third_party/   header-only libraries with their licences
//
// It builds with a C++17 compiler, CMake and oneDNN alone, and nothing in it refers to anything
// outside.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "passes/emit/Emit.h"

namespace colrow {

/// Writes a trainer's folder, which may exist: files of an older one are replaced. Throws
/// colrow::Error naming the file that cannot be written or the library that is not installed.
void writeTrainerFolder(const ProgramFiles &files, const std::string &folder);

/// Builds it: afterwards FOLDER/trainer is there. Where this build tree has the runtime's
/// libraries, they are linked instead of being compiled again. Throws colrow::Error with the end
/// of the compiler's output.
void buildTrainer(const std::string &folder);

} // namespace colrow
