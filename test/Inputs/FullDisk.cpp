//===- FullDisk.cpp - a disk that fills up, for LD_PRELOAD -----------------===//
//
// Counts what a program does to files in the folder FULL_DISK: opening them for writing, write,
// fsync, rename. Call number FULL_DISK_AT (from 1) fails for want of space, and so do all behind it
// unless FULL_DISK_ONCE is set. The count so far is in the file FULL_DISK_COUNT, where that is set.
//
//===----------------------------------------------------------------------===//

#include <atomic>
#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <fcntl.h>
#include <unistd.h>

namespace {

std::atomic<long> calls{0};

long numberOf(const char *variable) {
  const char *text = getenv(variable);
  return text ? atol(text) : 0;
}

template <typename Function> Function *next(const char *name) {
  return reinterpret_cast<Function *>(dlsym(RTLD_NEXT, name));
}

bool isInFolder(const char *path) {
  const char *folder = getenv("FULL_DISK");
  return folder && strncmp(path, folder, strlen(folder)) == 0;
}

bool isInFolder(int descriptor) {
  char link[64], path[4096];
  snprintf(link, sizeof(link), "/proc/self/fd/%d", descriptor);
  ssize_t size = readlink(link, path, sizeof(path) - 1);
  if (size < 0)
    return false;
  path[size] = 0;
  return isInFolder(path);
}

void writeCount(long count) {
  const char *path = getenv("FULL_DISK_COUNT");
  int file = path ? next<int(const char *, int, ...)>("open")(path, O_WRONLY | O_CREAT, 0666) : -1;
  if (file < 0)
    return;
  char text[32];
  int size = snprintf(text, sizeof(text), "%ld\n", count);
  if (pwrite(file, text, size_t(size), 0) != size) // not write, which is ours
    abort();
  close(file);
}

/// Whether this call finds the disk full.
bool isFull() {
  long number = ++calls, at = numberOf("FULL_DISK_AT");
  writeCount(number);
  bool full = at > 0 && (getenv("FULL_DISK_ONCE") ? number == at : number >= at);
  if (full)
    errno = ENOSPC;
  return full;
}

int openFile(const char *function, const char *path, int flags, mode_t mode) {
  if ((flags & O_ACCMODE) != O_RDONLY && isInFolder(path) && isFull())
    return -1;
  return next<int(const char *, int, ...)>(function)(path, flags, mode);
}

} // namespace

extern "C" {

int open(const char *path, int flags, ...) {
  va_list more;
  va_start(more, flags);
  mode_t mode = flags & O_CREAT ? va_arg(more, mode_t) : 0;
  va_end(more);
  return openFile("open", path, flags, mode);
}

int open64(const char *path, int flags, ...) {
  va_list more;
  va_start(more, flags);
  mode_t mode = flags & O_CREAT ? va_arg(more, mode_t) : 0;
  va_end(more);
  return openFile("open64", path, flags, mode);
}

ssize_t write(int descriptor, const void *data, size_t bytes) {
  if (isInFolder(descriptor) && isFull())
    return -1;
  return next<ssize_t(int, const void *, size_t)>("write")(descriptor, data, bytes);
}

int fsync(int descriptor) {
  if (isInFolder(descriptor) && isFull())
    return -1;
  return next<int(int)>("fsync")(descriptor);
}

int rename(const char *from, const char *to) {
  if (isInFolder(to) && isFull())
    return -1;
  return next<int(const char *, const char *)>("rename")(from, to);
}
}
