//===- Folder.cpp - the folder of a trainer -------------------------------===//

#include "passes/emit/Folder.h"
#include "colrow/Error.h"
#include "colrow/File.h"

#include <cstdio>
#include <filesystem>
#include <fmt/format.h>

namespace fs = std::filesystem;

namespace colrow {
namespace {

constexpr const char *cmakeLists = R"CMake(# Builds the trainer in this folder:
#   cmake -S . -B build && cmake --build build --parallel
# Needs a C++17 compiler and oneDNN (Debian: libdnnl-dev). Where MPI is found (libopenmpi-dev), ranks
# may be processes under mpirun or srun; without it they are threads.
cmake_minimum_required(VERSION 3.18)
project(trainer LANGUAGES CXX)
set(CMAKE_CXX_STANDARD 17)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release)
endif()
# Not find_package(dnnl): Debian's package file insists on OpenCL, which nothing here uses.
find_path(DNNL_INCLUDE_DIR oneapi/dnnl/dnnl.hpp REQUIRED)
find_library(DNNL_LIBRARY dnnl REQUIRED)
find_package(Threads REQUIRED)
set(COLROW_LIBRARIES "" CACHE PATH
    "folder with libcolrow_train.a and the like, built from the sources in runtime/")
set(COLROW_MPI AUTO CACHE STRING "process ranks by MPI: ON, OFF, or AUTO (where MPI is found)")
set(has_mpi OFF)
if(COLROW_MPI)
  set(MPI_CXX_SKIP_MPICXX ON)
  find_package(MPI COMPONENTS CXX QUIET)
  set(has_mpi ${MPI_CXX_FOUND})
  if(NOT has_mpi AND NOT COLROW_MPI STREQUAL "AUTO")
    message(FATAL_ERROR "COLROW_MPI is ${COLROW_MPI}, but no MPI was found (Debian: libopenmpi-dev)")
  endif()
endif()

file(GLOB program src/*.cpp)
file(GLOB kernels runtime/core/*.cpp runtime/comm/*.cpp runtime/cpu/*.cpp)
if(has_mpi)
  file(GLOB processes runtime/mpi/*.cpp)
endif()
file(GLOB training runtime/train/*.cpp)
list(REMOVE_ITEM training ${CMAKE_SOURCE_DIR}/runtime/train/Main.cpp)
add_executable(trainer ${program} runtime/train/Main.cpp)
# Next to weights.safetensors, which it reads when it is not told otherwise.
set_target_properties(trainer PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_SOURCE_DIR})
if(has_mpi)
  target_compile_definitions(trainer PRIVATE COLROW_HAS_MPI)
endif()
if(COLROW_LIBRARIES)
  set(libraries train cpu comm core)
  if(has_mpi)
    list(PREPEND libraries mpi)
  endif()
  foreach(name ${libraries})
    target_link_libraries(trainer PRIVATE ${COLROW_LIBRARIES}/libcolrow_${name}.a)
  endforeach()
else()
  target_sources(trainer PRIVATE ${kernels} ${processes} ${training})
  # The training loop needs no optimisation and compiles twice as fast without.
  set_source_files_properties(${training} PROPERTIES COMPILE_OPTIONS -O1)
endif()
target_include_directories(trainer PRIVATE include ${DNNL_INCLUDE_DIR})
target_include_directories(trainer SYSTEM PRIVATE third_party)
# No errno and no traps from sqrt and the like, or their loops do not vectorise; infinities and NaN
# keep their meaning. A product and a sum are fused wherever they stand: how an expression is broken
# into statements, which goes by the length of its names, does not change a number.
target_compile_options(trainer PRIVATE -O3 -march=native -fno-math-errno -fno-trapping-math
  -ffp-contract=fast)
# gomp: the OpenMP runtime that Debian's oneDNN runs on.
target_link_libraries(trainer PRIVATE ${DNNL_LIBRARY} gomp Threads::Threads)
if(has_mpi)
  target_link_libraries(trainer PRIVATE MPI::MPI_CXX)
endif()
)CMake";

void makeFolder(const fs::path &folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error)
    throw Error(fmt::format("cannot make the folder '{}': {}", folder.string(), error.message()));
}

/// Files of a folder with these endings, without its subfolders.
void copySources(const fs::path &from, const fs::path &to) {
  makeFolder(to);
  std::error_code error;
  for (const fs::directory_entry &entry : fs::directory_iterator(from, error)) {
    std::string ending = entry.path().extension().string();
    if (ending == ".h" || ending == ".cpp")
      copyFile(entry.path().string(), (to / entry.path().filename()).string());
  }
  if (error)
    throw Error(fmt::format("cannot read the runtime's sources in '{}': {}", from.string(),
                            error.message()));
}

struct Library {
  const char *headers, *package;
};

/// Header-only libraries of the training loop, from where Debian installs them.
void copyLibrary(const Library &library, const fs::path &to) {
  fs::path from;
  for (const char *prefix : {"/usr/include", "/usr/local/include"})
    if (fs::is_directory(fs::path(prefix) / library.headers))
      from = fs::path(prefix) / library.headers;
  if (from.empty())
    throw Error(fmt::format("the headers '{}' are not installed (Debian: {})", library.headers,
                            library.package));
  makeFolder(to / library.headers);
  for (const fs::directory_entry &entry : fs::recursive_directory_iterator(from)) {
    fs::path copy = to / library.headers / fs::relative(entry.path(), from);
    if (entry.is_directory())
      makeFolder(copy);
    else
      copyFile(entry.path().string(), copy.string());
  }
  fs::path licence = fs::path("/usr/share/doc") / library.package / "copyright";
  if (fs::exists(licence))
    copyFile(licence.string(), (to / library.headers / "copyright").string());
}

std::string quotedForShell(const std::string &text) {
  std::string result = "'";
  for (char c : text)
    result += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return result + "'";
}

void runCommand(const std::string &command, const std::string &what) {
  FILE *pipe = popen((command + " 2>&1").c_str(), "r");
  if (!pipe)
    throw Error("cannot start '" + command + "'");
  std::string output;
  char buffer[4096];
  while (size_t count = std::fread(buffer, 1, sizeof(buffer), pipe))
    output.append(buffer, count);
  if (pclose(pipe) == 0)
    return;
  constexpr size_t tail = 4000;
  if (output.size() > tail)
    output = "..." + output.substr(output.size() - tail);
  throw Error(fmt::format("cannot {}: '{}' failed:\n{}", what, command, output));
}

} // namespace

void writeTrainerFolder(const ProgramFiles &files, const std::string &folder) {
  fs::path to(folder), source(COLROW_SOURCE_DIR);
  makeFolder(to);
  makeFolder(to / "src");
  auto write = [&](const char *name, const std::string &text) {
    writeTextFile((to / name).string(), text);
  };
  write("CMakeLists.txt", cmakeLists);
  write("manifest.json", files.manifest);
  write("src/step.cpp", files.step);
  write("src/model.cpp", files.model);
  std::error_code ignored;
  if (files.constants.empty())
    fs::remove(to / "src/constants.cpp", ignored);
  else
    write("src/constants.cpp", files.constants);
  copySources(source / "runtime/include/colrow", to / "include/colrow");
  for (const char *part : {"core", "comm", "mpi", "cpu", "train"})
    copySources(source / "runtime" / part, to / "runtime" / part);
  for (const Library &library : {Library{"CLI", "libcli11-dev"},
                                 Library{"nlohmann", "nlohmann-json3-dev"},
                                 Library{"fmt", "libfmt-dev"}})
    copyLibrary(library, to / "third_party");
}

void buildTrainer(const std::string &folder) {
  std::string build = folder + "/build", libraries = COLROW_LIBRARY_DIR;
  constexpr bool hasMpi = COLROW_HAS_MPI;
  std::vector<std::string> names{"train", "cpu", "comm", "core"};
  if (hasMpi)
    names.push_back("mpi");
  for (const std::string &name : names)
    if (!fs::exists(fmt::format("{}/libcolrow_{}.a", libraries, name)))
      libraries.clear();
  runCommand(fmt::format("cmake -S {} -B {} -DCMAKE_CXX_COMPILER={} -DCOLROW_LIBRARIES={} "
                         "-DCOLROW_MPI={}",
                         quotedForShell(folder), quotedForShell(build),
                         quotedForShell(COLROW_COMPILER), quotedForShell(libraries),
                         hasMpi ? "ON" : "OFF"),
             "configure the trainer");
  runCommand(fmt::format("cmake --build {} --parallel 2", quotedForShell(build)),
             "build the trainer");
}

} // namespace colrow
