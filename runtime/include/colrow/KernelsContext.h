//===- KernelsContext.h - what kernels keep between calls -----------------===//
//
// Kernels have no globals (they report to the thread's Profile, and never read it). What they keep
// (prepared matrix products, scratch memory, the number of threads) belongs to a KernelContext, of
// which every rank's program owns one. A context may be used from any thread, but from one at a
// time.
//
//===----------------------------------------------------------------------===//
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

namespace colrow {

class KernelContext {
public:
  /// `threads` cores for the products of this rank. Results may depend on it in the last bits, so
  /// give all ranks, and all runs that are compared, the same number.
  explicit KernelContext(int threads = 1);
  ~KernelContext();
  KernelContext(const KernelContext &) = delete;
  KernelContext &operator=(const KernelContext &) = delete;

  int threads() const;
  /// The most scratch bytes that have been in use at one time.
  size_t scratchPeak() const;

  struct Impl; ///< private to runtime/cpu
  Impl &impl() { return *state; }

private:
  std::unique_ptr<Impl> state;
};

} // namespace colrow
