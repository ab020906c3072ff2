//===- Main.cpp - the program around a generated trainer -------------------===//
//
// Linked with the generated source, which defines programInfo() and createProgram().
//
//===----------------------------------------------------------------------===//

#include "Options.h"
#ifdef COLROW_HAS_MPI
#include "colrow/MpiRanks.h"
#endif

#include <filesystem>
#include <iostream>
#include <system_error>
#include <unistd.h>

int main(int argc, char **argv) {
  std::error_code ignored;
  std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe", ignored);
  if (self.empty())
    self = argv[0];
  colrow::GeneratedProgram generated = {colrow::programInfo(), colrow::createProgram};
  colrow::Console console = {std::cout, std::cerr, isatty(STDOUT_FILENO) == 1};
  colrow::ProcessRanks processRanks;
#ifdef COLROW_HAS_MPI
  processRanks = [](const std::vector<colrow::GridAxis> &grid,
                    const colrow::ThreadRankOptions &options) {
    return colrow::mpiRunner(grid, {options});
  };
#endif
  return colrow::trainerMain(std::vector<std::string>(argv + 1, argv + argc),
                             self.parent_path().string(), generated, console, processRanks);
}
