//===- Context.cpp - what kernels keep between calls ----------------------===//
#include "ContextImpl.h"
#include "EinsumPlan.h"

#include <algorithm>
#include <new>

namespace colrow {

static constexpr size_t alignment = 64;
static constexpr size_t smallestBlock = size_t(1) << 20;

static void release(char *data) { ::operator delete(data, std::align_val_t(alignment)); }

static char *allocate(size_t bytes) {
  return static_cast<char *>(::operator new(bytes, std::align_val_t(alignment)));
}

KernelContext::Impl::Impl(int threads)
    : threads(std::max(threads, 1)), einsum(std::make_unique<EinsumCache>()) {}

KernelContext::Impl::~Impl() {
  for (Block &b : blocks)
    release(b.data);
}

char *KernelContext::Impl::push(size_t bytes) {
  bytes = (bytes + alignment - 1) / alignment * alignment;
  while (block < blocks.size() && used + bytes > blocks[block].size) {
    ++block;
    used = 0;
  }
  if (block == blocks.size()) {
    size_t size = std::max({bytes, smallestBlock, inUse});
    blocks.push_back({allocate(size), size});
  }
  char *result = blocks[block].data + used;
  used += bytes;
  inUse += bytes;
  peak = std::max(peak, inUse);
  return result;
}

void KernelContext::Impl::popTo(size_t toBlock, size_t toUsed, size_t toInUse) {
  block = toBlock;
  used = toUsed;
  inUse = toInUse;
  if (inUse != 0 || blocks.size() < 2)
    return;
  for (Block &b : blocks)
    release(b.data);
  blocks.clear();
  block = used = 0;
  blocks.push_back({allocate(peak), peak});
}

KernelContext::KernelContext(int threads) : state(std::make_unique<Impl>(threads)) {}
KernelContext::~KernelContext() = default;

int KernelContext::threads() const { return state->threads; }
size_t KernelContext::scratchPeak() const { return state->peak; }

} // namespace colrow
