//===- Generated.h - what generated programs need beside kernels ----------===//
#pragma once

#include "colrow/Arena.h"
#include "colrow/KernelsDropout.h"
#include "colrow/Layout.h"
#include "colrow/Rank.h"

#include <cstdint>
#include <memory>

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
