//===- Window.h - what the processes of one machine share in memory --------===//
//
// Each process has a part: who it is, what it waits for, a slot for each group of ranks it belongs
// to, and a staging buffer. A process writes its own part only (but for `failed` and `told`, which
// are taken once by compare-and-swap) and reads all.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "../comm/Collective.h"

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace colrow {

/// A rank's side of one group. A group is known by the axes along which its members differ.
struct Slot {
  /// How often this rank has arrived. Counts on for ever; compared by difference.
  alignas(64) std::atomic<uint32_t> arrivals{0};
  std::atomic<uint32_t> sleepers{0}; ///< those that sleep until `arrivals` changes
  Call call;
  char name[64] = {}; ///< the group's, as this rank has it
};

struct Part {
  std::atomic<int64_t> process{0}; ///< its id
  uint64_t processSpace = 0;       ///< the name space of that id
  int64_t rank = 0;
  std::atomic<bool> ended{false}; ///< its rank has returned or failed
  std::atomic<bool> left{false};  ///< it knows that all have, and may go

  // What it waits for: that all members of the group have arrived this often. `waits` is the slot's
  // number + 1, or 0. `changes` counts when any of it changes, before and after.
  std::atomic<uint32_t> waits{0}, goal{0}, changes{0};

  // Of the machine, in the first part only.
  std::atomic<int64_t> failed{0}; ///< rank + 1 of the first that failed
  std::atomic<bool> told{false};  ///< its message is out
};

/// Bytes of a part before its staging buffer.
inline size_t headBytes(size_t slots) {
  return (sizeof(Part) + 63) / 64 * 64 + slots * sizeof(Slot);
}

/// A part as it lies in memory.
struct PartView {
  Part *part = nullptr;
  Slot *slots = nullptr;
  char *staging = nullptr;

  static PartView at(void *memory, size_t slots) {
    char *begin = reinterpret_cast<char *>((reinterpret_cast<uintptr_t>(memory) + 63) / 64 * 64);
    return {reinterpret_cast<Part *>(begin),
            reinterpret_cast<Slot *>(begin + (sizeof(Part) + 63) / 64 * 64),
            begin + headBytes(slots)};
  }
};

static_assert(std::atomic<uint32_t>::is_always_lock_free &&
              std::atomic<int64_t>::is_always_lock_free && sizeof(std::atomic<uint32_t>) == 4,
              "atomics are shared between processes, and the kernel waits on them");

} // namespace colrow
