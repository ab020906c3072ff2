//===- File.h - reading and writing files with errors that name them -------===//
//
// Everything the runtime and the tools write goes through OutputFile, so that a full disk or a
// missing permission is one clear error, and an interrupted run never leaves half a file under
// the name of a whole one.
//
//===----------------------------------------------------------------------===//
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace colrow {

/// A file being written.
///
/// `replace` writes to a temporary file beside `path`; commit() makes it durable and renames it
/// over `path`. Without a commit, also when an exception unwinds, nothing of it stays. What is no
/// file (a device, a pipe, a symbolic link) is not replaced but written to.
/// `append` opens `path` itself for appending; each write is passed on at once.
/// All members throw Error naming `path`.
class OutputFile {
public:
  enum Mode { replace, append };

  explicit OutputFile(std::string path, Mode mode = replace);
  ~OutputFile();
  OutputFile(const OutputFile &) = delete;
  OutputFile &operator=(const OutputFile &) = delete;

  void write(const void *data, size_t bytes);
  void write(std::string_view text) { write(text.data(), text.size()); }

  /// All that was written is on the disk afterwards.
  void sync();
  /// Ends the file: flushed, synced to disk unless not `durable`, and under `replace` renamed to its
  /// name.
  void commit(bool durable = true);

  const std::string &path() const { return filePath; }

private:
  void flush();
  [[noreturn]] void fail(const char *what, int code);

  std::string filePath, temporary; ///< temporary is empty where nothing is replaced
  std::string buffer;
  int descriptor = -1;
};

/// Writes a whole text file (see OutputFile::replace).
void writeTextFile(const std::string &path, std::string_view text);
/// Copies a file's content, over a file that may be there. Not durable.
void copyFile(const std::string &from, const std::string &to);
/// Reads a whole file into memory.
std::string readTextFile(const std::string &path);
/// Makes a folder and those above it; a folder that exists is fine. Throws Error naming it when
/// it cannot be made or written in.
void makeWritableFolder(const std::string &path);

/// Removes what OutputFile::replace had begun in this folder when its process was killed. Files
/// whose process is still there stay.
void removeUnfinishedFiles(const std::string &folder);

/// A file mapped read-only into memory for the object's life.
class MappedFile {
public:
  explicit MappedFile(std::string path);
  ~MappedFile();
  MappedFile(const MappedFile &) = delete;
  MappedFile &operator=(const MappedFile &) = delete;

  const uint8_t *data() const { return bytes; }
  uint64_t size() const { return length; }
  const std::string &path() const { return filePath; }

private:
  std::string filePath;
  const uint8_t *bytes = nullptr;
  uint64_t length = 0;
};

} // namespace colrow
