#include "colrow/Launch.h"

#include <cstdlib>
#include <gtest/gtest.h>
#include <map>
#include <string>

using namespace colrow;

namespace {

/// What launchedAs reads, set to this only.
Launch launchedWith(const std::map<std::string, std::string> &environment) {
  for (const char *name :
       {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK",
        "OMPI_COMM_WORLD_LOCAL_SIZE", "PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID",
        "MPI_LOCALNRANKS", "SLURM_PROCID", "SLURM_LOCALID", "SLURM_STEP_NUM_TASKS",
        "SLURM_STEP_NUM_NODES", "SLURM_NTASKS"})
    ::unsetenv(name);
  for (const auto &[name, value] : environment)
    ::setenv(name.c_str(), value.c_str(), 1);
  Launch launch = launchedAs();
  for (const auto &[name, value] : environment)
    ::unsetenv(name.c_str());
  return launch;
}

void expect(const Launch &launch, const std::string &launcher, int64_t rank, int64_t size,
            int64_t localRank, int64_t localSize) {
  EXPECT_EQ(launch.launcher, launcher);
  EXPECT_EQ(launch.rank, rank);
  EXPECT_EQ(launch.size, size);
  EXPECT_EQ(launch.localRank, localRank);
  EXPECT_EQ(launch.localSize, localSize);
}

const std::map<std::string, std::string> openMpi = {{"OMPI_COMM_WORLD_RANK", "5"},
                                                    {"OMPI_COMM_WORLD_SIZE", "8"},
                                                    {"OMPI_COMM_WORLD_LOCAL_RANK", "1"},
                                                    {"OMPI_COMM_WORLD_LOCAL_SIZE", "4"}};
const std::map<std::string, std::string> srun = {{"SLURM_PROCID", "5"},
                                                 {"SLURM_LOCALID", "1"},
                                                 {"SLURM_STEP_NUM_TASKS", "8"},
                                                 {"SLURM_STEP_NUM_NODES", "2"}};

} // namespace

TEST(Launch, NobodyLaunched) {
  expect(launchedWith({}), "", 0, 1, 0, 1);
  EXPECT_FALSE(launchedWith({}).isShared());
}

TEST(Launch, OpenMpi) {
  expect(launchedWith(openMpi), "mpirun", 5, 8, 1, 4);
  EXPECT_EQ(launchedWith(openMpi).command(3), "mpirun -n 3");
}

TEST(Launch, Hydra) {
  expect(launchedWith({{"PMI_RANK", "2"}, {"PMI_SIZE", "4"}}), "mpirun", 2, 4, 2, 4);
}

TEST(Launch, Srun) {
  expect(launchedWith(srun), "srun", 5, 8, 1, 4);
  auto withPmi = srun;
  withPmi.insert({{"PMI_RANK", "5"}, {"PMI_SIZE", "8"}});
  expect(launchedWith(withPmi), "srun", 5, 8, 1, 4);
}

TEST(Launch, BatchScriptIsNoLaunch) {
  expect(launchedWith({{"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "8"}, {"SLURM_LOCALID", "0"}}), "",
         0, 1, 0, 1);
}

TEST(Launch, MpirunThatSrunStarted) {
  auto both = openMpi;
  both.insert({{"SLURM_PROCID", "1"}, {"SLURM_LOCALID", "0"}, {"SLURM_STEP_NUM_TASKS", "2"}});
  expect(launchedWith(both), "mpirun", 5, 8, 1, 4);
  std::map<std::string, std::string> hydra = {
      {"SLURM_PROCID", "1"}, {"SLURM_LOCALID", "0"}, {"SLURM_STEP_NUM_TASKS", "2"},
      {"PMI_RANK", "5"},     {"PMI_SIZE", "8"},      {"MPI_LOCALRANKID", "1"},
      {"MPI_LOCALNRANKS", "4"}};
  expect(launchedWith(hydra), "mpirun", 5, 8, 1, 4);
}

TEST(Launch, NoNumbersAreNoLaunch) {
  expect(launchedWith({{"OMPI_COMM_WORLD_RANK", "x"}, {"OMPI_COMM_WORLD_SIZE", "2"}}), "", 0, 1, 0,
         1);
  expect(launchedWith({{"PMI_RANK", "2"}, {"PMI_SIZE", "2"}}), "", 0, 1, 0, 1);
}
