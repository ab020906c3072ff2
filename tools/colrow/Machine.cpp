//===- Machine.cpp - the memory of this machine ---------------------------===//

#include "tools/colrow/Machine.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace fs = std::filesystem;

namespace colrow {

/// The number behind a word at the begin of a line.
static std::optional<int64_t> numberAfter(const fs::path &path, const std::string &word) {
  std::ifstream file(path);
  std::string line, first;
  int64_t number = 0;
  while (std::getline(file, line)) {
    std::istringstream words(line);
    if (words >> first >> number && first == word)
      return number;
  }
  return {};
}

/// The number that is a file's whole content; none where it says "max".
static std::optional<int64_t> numberIn(const fs::path &path) {
  std::ifstream file(path);
  int64_t number = 0;
  if (file >> number)
    return number;
  return {};
}

namespace {
/// The files of one version of control groups.
struct GroupFiles {
  const char *folder, *limit, *usage, *inactive, *active;
};
} // namespace

static void applyGroup(const fs::path &group, const GroupFiles &files, MachineMemory &memory) {
  std::optional<int64_t> limit = numberIn(group / files.limit);
  std::optional<int64_t> usage = numberIn(group / files.usage);
  if (!limit || !usage)
    return;
  // Pages of files are given back before a process is killed.
  fs::path statistics = group / "memory.stat";
  int64_t ofFiles = numberAfter(statistics, files.inactive).value_or(0) +
                   numberAfter(statistics, files.active).value_or(0);
  int64_t available = std::max<int64_t>(0, *limit - std::max<int64_t>(0, *usage - ofFiles));
  memory.total = std::min(memory.total, *limit);
  if (available >= memory.available)
    return;
  memory.available = available;
  memory.limit = (group / files.limit).string();
}

std::optional<MachineMemory> machineMemory(const std::string &root) {
  constexpr int64_t kilobyte = 1024;
  fs::path information = root + "/proc/meminfo";
  std::optional<int64_t> total = numberAfter(information, "MemTotal:");
  std::optional<int64_t> available = numberAfter(information, "MemAvailable:");
  if (!total || !available)
    return {};
  MachineMemory memory{*total * kilobyte, *available * kilobyte, ""};

  static constexpr GroupFiles version1 = {"/sys/fs/cgroup/memory", "memory.limit_in_bytes",
                                          "memory.usage_in_bytes", "total_inactive_file",
                                          "total_active_file"};
  static constexpr GroupFiles version2 = {"/sys/fs/cgroup", "memory.max", "memory.current",
                                          "inactive_file", "active_file"};
  // Lines are number:controllers:path; version 2 has no controllers there.
  std::ifstream groups(root + "/proc/self/cgroup");
  for (std::string line; std::getline(groups, line);) {
    size_t first = line.find(':'), second = line.find(':', first + 1);
    if (second == std::string::npos)
      continue;
    std::string controllers = "," + line.substr(first + 1, second - first - 1) + ",";
    const GroupFiles *files = controllers == ",," ? &version2
                              : controllers.find(",memory,") != std::string::npos ? &version1
                                                                                  : nullptr;
    if (!files)
      continue;
    // Every group above limits too. In a container the path may be the host's: then what can be
    // seen is the container's own group, at the root.
    for (fs::path path = line.substr(second + 1);; path = path.parent_path()) {
      applyGroup(root + files->folder + (path == "/" ? "" : path.string()), *files, memory);
      if (!path.has_relative_path())
        break;
    }
  }
  return memory;
}

} // namespace colrow
