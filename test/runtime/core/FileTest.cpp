#include "colrow/Error.h"
#include "colrow/File.h"

#include <fcntl.h>
#include <filesystem>
#include <functional>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace colrow;
namespace fs = std::filesystem;

namespace {

struct FileTest : testing::Test {
  fs::path folder = fs::temp_directory_path() / ("colrow-file-" + std::to_string(getpid()));
  void SetUp() override { fs::create_directories(folder); }
  void TearDown() override { fs::remove_all(folder); }
  std::string path(const char *name) const { return (folder / name).string(); }
  size_t filesIn() const {
    return size_t(std::distance(fs::directory_iterator(folder), fs::directory_iterator()));
  }
};

std::string errorOf(const std::function<void()> &function) {
  try {
    function();
  } catch (const Error &error) {
    return error.what();
  }
  return "no error";
}

} // namespace

TEST_F(FileTest, NothingIsThereBeforeCommit) {
  {
    OutputFile file(path("a"));
    file.write("hello");
    EXPECT_FALSE(fs::exists(path("a")));
    file.commit();
  }
  EXPECT_EQ(readTextFile(path("a")), "hello");
  EXPECT_EQ(filesIn(), 1u);
}

TEST_F(FileTest, WithoutCommitTheOldFileStays) {
  writeTextFile(path("a"), "old");
  { OutputFile(path("a")).write("new"); }
  EXPECT_EQ(readTextFile(path("a")), "old");
  EXPECT_EQ(filesIn(), 1u);
}

TEST_F(FileTest, AppendIsVisibleAtOnce) {
  writeTextFile(path("log"), "1\n");
  OutputFile file(path("log"), OutputFile::append);
  file.write("2\n");
  EXPECT_EQ(readTextFile(path("log")), "1\n2\n");
}

TEST_F(FileTest, LargeFile) {
  std::string block(300000, 'x');
  {
    OutputFile file(path("big"));
    for (int i = 0; i < 10; ++i)
      file.write(block);
    file.commit();
  }
  EXPECT_EQ(fs::file_size(path("big")), 3000000u);
}

TEST_F(FileTest, EmptyFileCanBeRead) {
  writeTextFile(path("empty"), "");
  EXPECT_EQ(MappedFile(path("empty")).size(), 0u);
}

TEST_F(FileTest, ErrorsNameTheFile) {
  EXPECT_EQ(errorOf([&] { MappedFile("/no/such/file"); }),
            "cannot read '/no/such/file': no such file or directory");
  EXPECT_EQ(errorOf([&] { MappedFile file(folder.string()); }),
            "cannot read '" + folder.string() + "': is a directory");
  EXPECT_EQ(errorOf([&] { OutputFile("/no/such/file"); }),
            "cannot write '/no/such/file': no such file or directory");
  EXPECT_EQ(errorOf([&] { writeTextFile("/proc/version", "x"); }).substr(0, 30),
            "cannot write '/proc/version': ");
  writeTextFile(path("file"), "");
  EXPECT_EQ(errorOf([&] { makeWritableFolder(path("file")); }),
            "cannot write into '" + path("file") + "': not a folder");
  EXPECT_EQ(errorOf([&] { makeWritableFolder("/proc/colrow"); }),
            "cannot make the folder '/proc/colrow': no such file or directory");
}

TEST_F(FileTest, FullDiskIsOneError) {
  if (!fs::exists("/dev/full"))
    GTEST_SKIP() << "no /dev/full here";
  fs::create_symlink("/dev/full", path("log"));
  EXPECT_EQ(errorOf([&] { OutputFile(path("log"), OutputFile::append).write("x"); }),
            "cannot write '" + path("log") + "': no space left on device");
}

TEST_F(FileTest, WhatIsNoFileIsWrittenToAndStays) {
  writeTextFile(path("target"), "old content");
  fs::create_symlink(path("target"), path("link"));
  writeTextFile(path("link"), "new");
  EXPECT_TRUE(fs::is_symlink(path("link")));
  EXPECT_EQ(readTextFile(path("target")), "new");
  ASSERT_EQ(mkfifo(path("pipe").c_str(), 0600), 0);
  int reader = open(path("pipe").c_str(), O_RDONLY | O_NONBLOCK);
  writeTextFile(path("pipe"), "text");
  char text[5] = {};
  EXPECT_EQ(read(reader, text, sizeof(text)), 4);
  close(reader);
  EXPECT_STREQ(text, "text");
  EXPECT_TRUE(fs::is_fifo(path("pipe")));
  EXPECT_EQ(filesIn(), 3u);
}

TEST_F(FileTest, CopiesAreWhole) {
  for (const std::string &text : {std::string(), std::string(3000000, 'x')}) {
    writeTextFile(path("a"), text);
    copyFile(path("a"), path("b"));
    EXPECT_EQ(readTextFile(path("b")), text);
  }
  EXPECT_EQ(errorOf([&] { copyFile(path("none"), path("c")); }),
            "cannot read '" + path("none") + "': no such file or directory");
  EXPECT_EQ(errorOf([&] { copyFile(path("a"), path("none/c")); }),
            "cannot write '" + path("none/c") + "': no such file or directory");
}

TEST_F(FileTest, FolderWithoutPermission) {
  if (geteuid() == 0)
    GTEST_SKIP() << "root may write everywhere";
  fs::permissions(folder, fs::perms::owner_read | fs::perms::owner_exec);
  std::string message = errorOf([&] { makeWritableFolder(folder.string()); });
  fs::permissions(folder, fs::perms::owner_all);
  EXPECT_EQ(message, "cannot write into the folder '" + folder.string() + "': permission denied");
}

TEST_F(FileTest, UnfinishedFilesOfKilledProcessesGo) {
  std::string own = path("a.tmp") + std::to_string(getpid()); // a process that is there
  for (const std::string &name : {path("a.tmp999999999"), own, path("b.tmp"), path("c.tmp12x")})
    writeTextFile(name, "");
  removeUnfinishedFiles(folder.string());
  EXPECT_FALSE(fs::exists(path("a.tmp999999999")));
  EXPECT_TRUE(fs::exists(own));
  EXPECT_EQ(filesIn(), 3u);
}
