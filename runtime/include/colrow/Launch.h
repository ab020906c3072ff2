//===- Launch.h - whether a launcher started this process as one of several -===//
//
// mpirun, mpiexec and srun start a program N times and tell each process its number by its
// environment. That is known before MPI is, to programs without MPI too, and costs nothing.
//
//===----------------------------------------------------------------------===//
#pragma once

#include <cstdint>
#include <string>

namespace colrow {

/// This process among those that a launcher started. All by itself: 0 of 1.
struct Launch {
  int64_t rank = 0, size = 1;
  /// Its place among the processes on this machine, and their number.
  int64_t localRank = 0, localSize = 1;
  /// "mpirun" or "srun"; empty: there is none.
  std::string launcher;

  /// Started as one of several.
  bool isShared() const { return size > 1; }
  /// What starts `count` processes: "mpirun -n 4".
  std::string command(int64_t count) const { return launcher + " -n " + std::to_string(count); }
};

/// Reads the environment: Open MPI's OMPI_COMM_WORLD_*, then PMI_RANK and PMI_SIZE of MPICH and
/// Intel MPI, then SLURM_PROCID and SLURM_STEP_NUM_TASKS of a process that srun started (a batch
/// script has the number of tasks too, but was not started by srun).
Launch launchedAs();

/// Before a process that does not report an error ends with it: launchers end all others at the
/// first one that fails, and the one that reports may not have come to it yet.
void letOthersReport();

} // namespace colrow
