//===- ContextImpl.h - what is inside a KernelContext ---------------------===//
#pragma once

#include "colrow/KernelsContext.h"

#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

namespace colrow {

struct EinsumCache; // EinsumPlan.h

struct KernelContext::Impl {
  explicit Impl(int threads);
  ~Impl();

  int threads;
  std::unique_ptr<EinsumCache> einsum;

  /// Scratch is a stack: blocks are used in order, each from its start. When the stack becomes
  /// empty, several blocks become one of all that was in use at one time, so a step that has run
  /// once finds all of its scratch in one place.
  struct Block {
    char *data;
    size_t size;
  };
  std::vector<Block> blocks;
  size_t block = 0, used = 0; ///< top of the stack: block number, and bytes of it in use
  size_t inUse = 0, peak = 0; ///< over all blocks

  char *push(size_t bytes);
  void popTo(size_t toBlock, size_t toUsed, size_t toInUse);
};

/// Scratch memory from here to the end of the enclosing C++ scope. Contents are not initialised.
class Scratch {
public:
  explicit Scratch(KernelContext &ctx)
      : impl(ctx.impl()), block(impl.block), used(impl.used), inUse(impl.inUse) {}
  ~Scratch() { impl.popTo(block, used, inUse); }
  Scratch(const Scratch &) = delete;
  Scratch &operator=(const Scratch &) = delete;

  /// Room for `count` values, aligned to 64 bytes.
  template <typename T> T *get(int64_t count) {
    return reinterpret_cast<T *>(impl.push(size_t(count) * sizeof(T)));
  }

private:
  KernelContext::Impl &impl;
  size_t block, used, inUse;
};

} // namespace colrow
