//===- Arena.h - the memory of a program -----------------------------------===//
//
// A program has one piece of memory, of the size that the compiler planned, in segments one behind
// the other. Its pages come to be, filled with zeros, when they are first written: near the core
// that runs the rank, and not at all where a segment is never used (outputs, in training). Large
// pages where the system has them, so that products do not wait for address translation.
//
//===----------------------------------------------------------------------===//
#pragma once

#include <cstddef>
#include <cstring>
#include <new>
#include <sys/mman.h>

namespace colrow {

class Arena {
public:
  /// Throws std::bad_alloc where the system refuses that much address space.
  explicit Arena(size_t bytes) : bytes(bytes ? bytes : 1) {
    void *mapped = ::mmap(nullptr, this->bytes, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (mapped == MAP_FAILED)
      throw std::bad_alloc();
    begin = static_cast<char *>(mapped);
    ::madvise(begin, this->bytes, MADV_HUGEPAGE); // a wish: without it all works the same
  }
  ~Arena() { ::munmap(begin, bytes); }
  Arena(const Arena &) = delete;
  Arena &operator=(const Arena &) = delete;

  /// The next `count` bytes, aligned to 64. Throws std::bad_alloc beyond the arena's end.
  char *take(size_t count) {
    size_t at = taken;
    taken += (count + alignment - 1) / alignment * alignment;
    if (taken > bytes)
      throw std::bad_alloc();
    return begin + at;
  }

private:
  static constexpr size_t alignment = 64;

  size_t bytes, taken = 0;
  char *begin;
};

/// One segment of an arena: zero at first.
class Segment {
public:
  Segment(Arena &arena, size_t bytes) : bytes(bytes), begin(arena.take(bytes)) {}

  /// What lies `offset` bytes from the begin.
  template <typename T> T *at(size_t offset) { return reinterpret_cast<T *>(begin + offset); }
  void clear() { std::memset(begin, 0, bytes); }

private:
  size_t bytes;
  char *begin;
};

} // namespace colrow
