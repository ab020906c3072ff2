//===- Launch.cpp - what launchers tell by the environment -----------------===//

#include "colrow/Launch.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <optional>
#include <thread>

namespace colrow {
namespace {

/// A number in the environment, 0 or more.
std::optional<int64_t> number(const char *name) {
  const char *text = std::getenv(name);
  if (!text || !*text)
    return {};
  char *end = nullptr;
  int64_t value = std::strtoll(text, &end, 10);
  if (*end != 0 || value < 0)
    return {};
  return value;
}

struct Names {
  const char *rank, *size, *localRank, *localSize, *launcher;
};

} // namespace

Launch launchedAs() {
  constexpr Names mpirun = {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE",
                            "OMPI_COMM_WORLD_LOCAL_RANK", "OMPI_COMM_WORLD_LOCAL_SIZE", "mpirun"};
  constexpr Names hydra = {"PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID", "MPI_LOCALNRANKS", "mpirun"};
  constexpr Names srun = {"SLURM_PROCID", "SLURM_STEP_NUM_TASKS", "SLURM_LOCALID", "", "srun"};
  // srun speaks PMI too; and an mpirun may have started one process a node by srun, and from there
  // the ranks, which then inherit srun's numbers beside their own.
  bool ownPmi = number(hydra.size) && number(hydra.size) != number(srun.size);
  const Names &names = number(mpirun.size) ? mpirun : number(srun.size) && !ownPmi ? srun : hydra;
  std::optional<int64_t> rank = number(names.rank), size = number(names.size);
  if (!rank || !size || *rank >= *size)
    return {};
  Launch launch;
  launch.rank = *rank;
  launch.size = *size;
  launch.localRank = number(names.localRank).value_or(*rank);
  // srun tells a process's place on its node, but not of how many there.
  int64_t nodes = std::max<int64_t>(1, number("SLURM_STEP_NUM_NODES").value_or(1));
  launch.localSize = number(names.localSize).value_or((*size + nodes - 1) / nodes);
  launch.launcher = names.launcher;
  return launch;
}

void letOthersReport() { std::this_thread::sleep_for(std::chrono::seconds(2)); }

} // namespace colrow
