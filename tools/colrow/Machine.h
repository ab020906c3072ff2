//===- Machine.h - the memory of this machine -----------------------------===//
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace colrow {

struct MachineMemory {
  int64_t total = 0;     ///< of the machine, or of the control group that limits this process
  int64_t available = 0; ///< what this process may still take before somebody has to be killed
  std::string limit;     ///< the control group's file that says so; empty where there is none
};

/// What Linux says in /proc and /sys below `root`; nothing where it says nothing.
std::optional<MachineMemory> machineMemory(const std::string &root = "");

} // namespace colrow
