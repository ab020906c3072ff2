// What a process may take, by the files of Linux: of the machine, and of control groups of both
// versions.

#include "tools/colrow/Machine.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>

namespace fs = std::filesystem;

namespace colrow {
namespace {

constexpr int64_t gibibyte = int64_t(1) << 30;

class Machine : public testing::Test {
protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "machine-XXXXXX").string();
    root = ::mkdtemp(pattern.data());
    write("/proc/meminfo", "MemTotal:       16777216 kB\nMemFree:         1048576 kB\n"
                           "MemAvailable:    8388608 kB\n");
  }
  void TearDown() override { fs::remove_all(root); }

  void write(const std::string &path, const std::string &text) {
    fs::create_directories(fs::path(root + path).parent_path());
    std::ofstream(root + path) << text;
  }
  void expect(int64_t total, int64_t available, const std::string &limit) {
    std::optional<MachineMemory> memory = machineMemory(root);
    ASSERT_TRUE(memory);
    EXPECT_EQ(memory->total, total);
    EXPECT_EQ(memory->available, available);
    EXPECT_EQ(memory->limit, limit.empty() ? "" : root + limit);
  }

  std::string root;
};

TEST_F(Machine, WithoutGroups) { expect(16 * gibibyte, 8 * gibibyte, ""); }

TEST_F(Machine, SaysNothing) {
  fs::remove(root + "/proc/meminfo");
  EXPECT_FALSE(machineMemory(root));
}

TEST_F(Machine, Version2CountsPagesOfFilesAsFree) {
  write("/proc/self/cgroup", "0::/jobs/seven\n");
  write("/sys/fs/cgroup/jobs/seven/memory.max", "4294967296\n");
  write("/sys/fs/cgroup/jobs/seven/memory.current", "3221225472\n");
  write("/sys/fs/cgroup/jobs/seven/memory.stat",
        "anon 1073741824\ninactive_file 1610612736\nactive_file 536870912\n");
  expect(4 * gibibyte, 3 * gibibyte, "/sys/fs/cgroup/jobs/seven/memory.max");
}

TEST_F(Machine, Version2LimitsOfTheGroupsAbove) {
  write("/proc/self/cgroup", "0::/jobs/seven\n");
  write("/sys/fs/cgroup/jobs/seven/memory.max", "max\n");
  write("/sys/fs/cgroup/jobs/seven/memory.current", "3221225472\n");
  write("/sys/fs/cgroup/jobs/memory.max", "6442450944\n");
  write("/sys/fs/cgroup/jobs/memory.current", "5368709120\n");
  expect(6 * gibibyte, 1 * gibibyte, "/sys/fs/cgroup/jobs/memory.max");
}

// A container sees its own group at the root, and its path in the host's tree.
TEST_F(Machine, Version1InAContainer) {
  write("/proc/self/cgroup", "5:cpuset:/docker/abc\n4:memory:/docker/abc\n0::/\n");
  write("/sys/fs/cgroup/memory/memory.limit_in_bytes", "2147483648\n");
  write("/sys/fs/cgroup/memory/memory.usage_in_bytes", "1073741824\n");
  write("/sys/fs/cgroup/memory/memory.stat", "total_inactive_file 536870912\n");
  expect(2 * gibibyte, gibibyte + gibibyte / 2, "/sys/fs/cgroup/memory/memory.limit_in_bytes");
}

TEST_F(Machine, AGroupWithoutALimitOfItsOwn) {
  write("/proc/self/cgroup", "4:memory:/\n");
  write("/sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
  write("/sys/fs/cgroup/memory/memory.usage_in_bytes", "1073741824\n");
  expect(16 * gibibyte, 8 * gibibyte, "");
}

} // namespace
} // namespace colrow
