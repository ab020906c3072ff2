//===- Generated.h - what generated programs need beside kernels ----------===//
#pragma once

#include "colrow/KernelsDropout.h"
#include "colrow/Layout.h"
#include "colrow/Rank.h"

#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <optional>

/// Before a loop whose iterations touch no common elements but where one reads what it writes.
/// Compilers need not prove it to vectorise.
#if defined(__clang__)
#define COLROW_INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#elif defined(__GNUC__)
#define COLROW_INDEPENDENT _Pragma("GCC ivdep")
#else
#define COLROW_INDEPENDENT
#endif

namespace colrow {

/// One segment of a program's memory: aligned to 64 bytes, zero at first.
class Memory {
public:
  explicit Memory(size_t bytes)
      : size(bytes), data(static_cast<char *>(::operator new(bytes + 1, alignment))) {
    clear();
  }

  /// What lies `offset` bytes from the begin.
  template <typename T> T *at(size_t offset) {
    return reinterpret_cast<T *>(data.get() + offset);
  }
  void clear() { std::memset(data.get(), 0, size); }

private:
  static constexpr std::align_val_t alignment{64};
  struct Free {
    void operator()(char *memory) const { ::operator delete(memory, alignment); }
  };

  size_t size;
  std::unique_ptr<char, Free> data;
};

/// A segment that takes no memory before it is needed: outputs, which training does not read.
class LazyMemory {
public:
  explicit LazyMemory(size_t bytes) : size(bytes) {}

  template <typename T> T *at(size_t offset) {
    if (!memory)
      memory.emplace(size);
    return memory->at<T>(offset);
  }

private:
  size_t size;
  std::optional<Memory> memory;
};

/// `count` numbers: start, start + step, start + 2 step, ...
template <typename T> struct Run {
  T start, step;
  int64_t count;
};

/// Writes runs one behind the other.
template <typename T, size_t n> void fillRuns(T *to, const Run<T> (&runs)[n]) {
  for (const Run<T> &run : runs)
    for (int64_t i = 0; i < run.count; ++i)
      *to++ = T(run.start + run.step * T(i));
}

/// This rank's part of a cut dimension.
inline LocalDim localDim(const Rank &rank, const DimSlice &slice) {
  return {slice, rank.coordinates(slice)};
}

/// The site of a dropout with this id, where `random` is {seed, step, microbatch, active}.
inline DropoutSite dropoutSite(const int64_t *random, uint64_t id, double rate) {
  DropoutSite site;
  site.seed = uint64_t(random[0]);
  site.step = uint64_t(random[1]);
  site.id = id;
  site.microbatch = random[2];
  site.rate = random[3] ? rate : 0;
  return site;
}

} // namespace colrow
