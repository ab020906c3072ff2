//===- allocations.cpp - counts what a training step allocates --------------===//
//
// The main program of a trainer that does nothing but steps. Takes the place of malloc and its kin, in
// all libraries, and counts their calls while a step runs, from the third step on. What oneDNN 2.6
// allocates within a product, for which it takes no memory of ours, is counted apart.
//
//===----------------------------------------------------------------------===//

#include "colrow/Program.h"
#include "colrow/ThreadRanks.h"

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <execinfo.h>
#include <link.h>
#include <unistd.h>

extern "C" {
void *__libc_malloc(size_t);
void *__libc_calloc(size_t, size_t);
void *__libc_realloc(void *, size_t);
void *__libc_memalign(size_t, size_t);
}

namespace {

std::atomic<bool> counting{false};
std::atomic<long> ours{0}, oneDnns{0};
thread_local bool inside = false; // looking at the stack may allocate
uintptr_t libraryBegin = 0, libraryEnd = 0;

int findLibrary(dl_phdr_info *info, size_t, void *) {
  if (!std::strstr(info->dlpi_name, "libdnnl"))
    return 0;
  libraryBegin = info->dlpi_addr;
  for (int i = 0; i < info->dlpi_phnum; ++i)
    if (info->dlpi_phdr[i].p_type == PT_LOAD)
      libraryEnd = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr + info->dlpi_phdr[i].p_memsz;
  return 1;
}

void count() {
  if (!counting || inside)
    return;
  inside = true;
  void *frames[24];
  int depth = backtrace(frames, 24);
  bool library = false;
  for (int i = 0; i < depth; ++i) {
    uintptr_t at = reinterpret_cast<uintptr_t>(frames[i]);
    library |= at >= libraryBegin && at < libraryEnd;
  }
  ++(library ? oneDnns : ours);
  if (!library) // says where
    backtrace_symbols_fd(frames, depth, STDERR_FILENO);
  inside = false;
}

} // namespace

extern "C" {
void *malloc(size_t bytes) {
  count();
  return __libc_malloc(bytes);
}
void *calloc(size_t n, size_t bytes) {
  count();
  return __libc_calloc(n, bytes);
}
void *realloc(void *old, size_t bytes) {
  count();
  return __libc_realloc(old, bytes);
}
void *memalign(size_t alignment, size_t bytes) {
  count();
  return __libc_memalign(alignment, bytes);
}
void *aligned_alloc(size_t alignment, size_t bytes) { return memalign(alignment, bytes); }
int posix_memalign(void **result, size_t alignment, size_t bytes) {
  *result = memalign(alignment, bytes);
  return *result ? 0 : ENOMEM;
}
}

int main() {
  using namespace colrow;
  dl_iterate_phdr(findLibrary, nullptr);
  void *frames[4];
  backtrace(frames, 4); // loads what it needs
  runRanks(programInfo().grid, [](Rank &rank) {
    std::unique_ptr<Program> program = createProgram(rank);
    StepScalars scalars;
    scalars.validLabels = 8;
    Communicator &all = rank.world();
    for (int64_t step = 0; step < 5; ++step) {
      all.barrier();
      counting = step >= 2;
      all.barrier();
      scalars.step = step;
      program->zeroGradients();
      program->forwardBackward(scalars);
      program->update(scalars);
      all.barrier();
      counting = false;
    }
  });
  std::printf("allocations from the third step on: %ld, and %ld within oneDNN's products\n",
              ours.load(), oneDnns.load());
  return ours == 0 ? 0 : 1;
}
