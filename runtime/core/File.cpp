//===- File.cpp - reading and writing files with errors that name them -----===//

#include "colrow/File.h"
#include "colrow/Error.h"

#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <sys/mman.h>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>

namespace colrow {
namespace {

constexpr size_t bufferSize = 1 << 20;

/// Between a name and the process id, in the names of temporary files.
constexpr const char *temporaryInfix = ".tmp";

/// "no space left on device", in the case of our messages.
std::string reason(int code) {
  std::string text = std::generic_category().message(code);
  if (!text.empty() && text[0] >= 'A' && text[0] <= 'Z')
    text[0] = char(text[0] - 'A' + 'a');
  return text;
}

/// Whether a rename would put a file in the place of something else.
bool isOtherThanFile(const std::string &path) {
  struct stat status;
  return ::lstat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode) &&
         !S_ISDIR(status.st_mode);
}

/// fsync, where what is open can be synced: pipes and devices cannot.
bool syncDescriptor(int descriptor) {
  return ::fsync(descriptor) == 0 || errno == EINVAL || errno == EROFS;
}

std::string folderOf(const std::string &path) {
  std::string folder = std::filesystem::path(path).parent_path().string();
  return folder.empty() ? "." : folder;
}

} // namespace

OutputFile::OutputFile(std::string path, Mode mode) : filePath(std::move(path)) {
  int flags = O_WRONLY | O_CREAT | O_CLOEXEC;
  if (mode == replace && isOtherThanFile(filePath)) {
    flags |= O_TRUNC;
  } else if (mode == replace) {
    // Beside the target, so that the rename stays within one file system; with the process id, so
    // that two runs do not write into one temporary file.
    temporary = filePath + temporaryInfix + std::to_string(getpid());
    flags |= O_TRUNC;
  } else {
    flags |= O_APPEND;
  }
  descriptor = ::open((temporary.empty() ? filePath : temporary).c_str(), flags, 0666);
  if (descriptor < 0) {
    int code = errno;
    temporary.clear(); // nothing to remove
    fail("write", code);
  }
}

OutputFile::~OutputFile() {
  if (descriptor >= 0) {
    // Appended text that commit() never saw is still wanted; a destructor cannot report more.
    if (temporary.empty()) {
      try {
        flush();
      } catch (const Error &) {
      }
    }
    ::close(descriptor);
  }
  if (!temporary.empty())
    ::unlink(temporary.c_str());
}

void OutputFile::fail(const char *what, int code) {
  throw Error("cannot " + std::string(what) + " '" + filePath + "': " + reason(code));
}

void OutputFile::write(const void *data, size_t bytes) {
  buffer.append(static_cast<const char *>(data), bytes);
  if (temporary.empty() || buffer.size() >= bufferSize)
    flush();
}

void OutputFile::flush() {
  const char *next = buffer.data();
  size_t left = buffer.size();
  while (left > 0) {
    ssize_t written = ::write(descriptor, next, left);
    if (written < 0) {
      if (errno == EINTR)
        continue;
      int code = errno;
      buffer.clear();
      fail("write", code);
    }
    next += written;
    left -= size_t(written);
  }
  buffer.clear();
}

void OutputFile::sync() {
  flush();
  if (!syncDescriptor(descriptor))
    fail("write", errno);
}

void OutputFile::commit(bool durable) {
  if (durable)
    sync();
  else
    flush();
  int status = ::close(descriptor);
  descriptor = -1;
  if (status != 0)
    fail("write", errno);
  if (temporary.empty())
    return;
  if (::rename(temporary.c_str(), filePath.c_str()) != 0)
    fail("write", errno);
  temporary.clear();
  if (!durable)
    return;
  // The rename itself must reach the disk; where a folder cannot be opened, the file system offers
  // no more.
  int folder = ::open(folderOf(filePath).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder < 0)
    return;
  int code = syncDescriptor(folder) ? 0 : errno;
  ::close(folder);
  if (code != 0)
    fail("write", code);
}

void copyFile(const std::string &from, const std::string &to) {
  MappedFile source(from);
  OutputFile file(to);
  file.write(source.data(), source.size());
  file.commit(/*durable=*/false);
}

void writeTextFile(const std::string &path, std::string_view text) {
  OutputFile file(path);
  file.write(text);
  file.commit();
}

std::string readTextFile(const std::string &path) {
  MappedFile file(path);
  return std::string(reinterpret_cast<const char *>(file.data()), file.size());
}

void makeWritableFolder(const std::string &path) {
  std::error_code code;
  if (std::filesystem::exists(path, code) && !std::filesystem::is_directory(path, code))
    throw Error("cannot write into '" + path + "': not a folder");
  std::filesystem::create_directories(path, code);
  if (code)
    throw Error("cannot make the folder '" + path + "': " + reason(code.value()));
  if (::access(path.c_str(), W_OK | X_OK) != 0)
    throw Error("cannot write into the folder '" + path + "': " + reason(errno));
}

void removeUnfinishedFiles(const std::string &folder) {
  std::error_code ignored;
  for (const auto &entry : std::filesystem::directory_iterator(folder, ignored)) {
    std::string name = entry.path().filename().string();
    size_t infix = name.rfind(temporaryInfix);
    if (infix == std::string::npos)
      continue;
    std::string digits = name.substr(infix + std::strlen(temporaryInfix));
    if (digits.empty() || digits.size() > 9 ||
        digits.find_first_not_of("0123456789") != std::string::npos)
      continue;
    if (::kill(pid_t(std::stol(digits)), 0) != 0 && errno == ESRCH)
      std::filesystem::remove(entry.path(), ignored);
  }
}

MappedFile::MappedFile(std::string path) : filePath(std::move(path)) {
  int descriptor = ::open(filePath.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0)
    throw Error("cannot read '" + filePath + "': " + reason(errno));
  struct stat status;
  int code = ::fstat(descriptor, &status) != 0 ? errno : 0;
  if (code == 0 && S_ISDIR(status.st_mode))
    code = EISDIR;
  void *address = nullptr;
  if (code == 0 && status.st_size > 0) {
    address = ::mmap(nullptr, size_t(status.st_size), PROT_READ, MAP_PRIVATE, descriptor, 0);
    code = address == MAP_FAILED ? errno : 0;
  }
  ::close(descriptor);
  if (code != 0)
    throw Error("cannot read '" + filePath + "': " + reason(code));
  bytes = static_cast<const uint8_t *>(address);
  length = uint64_t(status.st_size);
}

MappedFile::~MappedFile() {
  if (bytes)
    ::munmap(const_cast<uint8_t *>(bytes), length);
}

} // namespace colrow
