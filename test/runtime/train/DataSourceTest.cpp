#include "TrainFixture.h"
#include "runtime/train/DataSource.h"

#include <set>

using namespace colrow;

namespace {

struct DataSourceTest : TrainFixture {
  template <typename T>
  std::string writeTokens(const std::string &name, const std::vector<T> &tokens,
                          const std::vector<int32_t> &header = {}) const {
    OutputFile file(path(name));
    if (!header.empty()) {
      std::vector<int32_t> whole = header;
      whole.resize(256);
      file.write(whole.data(), 1024);
    }
    file.write(tokens.data(), tokens.size() * sizeof(T));
    file.commit();
    return path(name);
  }

  std::string errorOf(const std::string &file, DataFormat format, int64_t limit) const {
    try {
      TokenFile tokens(file, format, limit);
    } catch (const Error &error) {
      return error.what();
    }
    return "no error";
  }
};

} // namespace

TEST_F(DataSourceTest, TextIsBytes) {
  writeTextFile(path("a.txt"), "ab\xff");
  TokenFile file(path("a.txt"), DataFormat::automatic, 300);
  EXPECT_EQ(file.size(), 3);
  EXPECT_EQ(file[0], 'a');
  EXPECT_EQ(file[2], 255);
  EXPECT_EQ(file.formatName(), "text");
}

TEST_F(DataSourceTest, BinFiles) {
  std::vector<uint16_t> tokens = {5, 70, 50256};
  TokenFile raw(writeTokens("raw.bin", tokens), DataFormat::automatic, 50257);
  TokenFile headed(writeTokens("llmc.bin", tokens, {20240520, 1, 3}), DataFormat::automatic,
                   50257);
  TokenFile wide(writeTokens("wide.bin", std::vector<uint32_t>{5, 70, 100000}),
                 DataFormat::uint32, 0);
  for (const TokenFile *file : {&raw, &headed, &wide}) {
    EXPECT_EQ(file->size(), 3);
    EXPECT_EQ((*file)[1], 70);
  }
  EXPECT_EQ(headed[2], 50256);
  EXPECT_EQ(wide[2], 100000);
  EXPECT_EQ(wide.formatName(), "uint32");
  // A file of tokens of any name.
  EXPECT_EQ(TokenFile(writeTokens("tokens", tokens), DataFormat::uint16, 0).size(), 3);
}

TEST_F(DataSourceTest, Errors) {
  std::vector<uint16_t> tokens = {5, 700, 3};
  std::string file = writeTokens("t.bin", tokens);
  EXPECT_EQ(errorOf(file, DataFormat::automatic, 503),
            "'" + file + "': token 700 at position 1 is not below 503, the model's vocabulary; is "
            "it uint16 tokens of this model's tokenizer?");
  EXPECT_EQ(errorOf(file, DataFormat::uint32, 0),
            "'" + file + "' has 6 bytes, which are no uint32 tokens of 4 bytes each");
  EXPECT_EQ(errorOf(file, DataFormat::text, 100),
            "'" + file + "' is text, whose bytes need a vocabulary of 256, but the model's has "
            "100; give a .bin file of its own tokens");
  file = writeTokens("h.bin", tokens, {20240520, 1, 4});
  EXPECT_EQ(errorOf(file, DataFormat::automatic, 0),
            "'" + file + "' should hold 4 tokens by its header, but holds 3");
  file = writeTokens("v.bin", tokens, {20240520, 7, 3});
  EXPECT_EQ(errorOf(file, DataFormat::automatic, 0),
            "'" + file + "' has an llm.c header of version 7; only version 1 is known");
  // An image, say. It is whatever the user says it is.
  file = path("image.png");
  writeTextFile(file, std::string("\x89PNG\0IHDR", 9));
  EXPECT_EQ(errorOf(file, DataFormat::automatic, 0),
            "'" + file + "' is no text: its byte 4 is 0; give text, or token ids in a .bin file, or "
            "say with --data-dtype what it holds");
  EXPECT_EQ(errorOf(file, DataFormat::text, 0), "no error");
  writeTextFile(path("empty.txt"), "");
  EXPECT_EQ(errorOf(path("empty.txt"), DataFormat::automatic, 0),
            "'" + path("empty.txt") + "' holds no tokens");
  EXPECT_EQ(errorOf("/no/file", DataFormat::automatic, 0),
            "cannot read '/no/file': no such file or directory");
}

TEST(RowOrder, EveryEpochIsAPermutationOfItsOwn) {
  for (int64_t rows : {1, 2, 3, 7, 64, 1000}) {
    RowOrder order(rows, 42);
    std::vector<std::vector<int64_t>> epochs(3);
    for (int64_t sample = 0; sample < 3 * rows; ++sample)
      epochs[size_t(sample / rows)].push_back(order.row(sample));
    for (const std::vector<int64_t> &epoch : epochs) {
      std::set<int64_t> seen(epoch.begin(), epoch.end());
      EXPECT_EQ(int64_t(seen.size()), rows);
      EXPECT_EQ(*seen.begin(), 0);
      EXPECT_EQ(*seen.rbegin(), rows - 1);
    }
    if (rows >= 64) {
      EXPECT_NE(epochs[0], epochs[1]);
    }
  }
}

TEST(RowOrder, DependsOnTheSeedAndLooksShuffled) {
  const int64_t rows = 1000;
  RowOrder a(rows, 1), b(rows, 2), again(rows, 1);
  int64_t same = 0, fixed = 0, ascents = 0;
  for (int64_t i = 0; i < rows; ++i) {
    EXPECT_EQ(a.row(i), again.row(i));
    same += a.row(i) == b.row(i);
    fixed += a.row(i) == i;
    ascents += i > 0 && a.row(i) > a.row(i - 1);
  }
  EXPECT_LT(same, 12);
  EXPECT_LT(fixed, 12);
  EXPECT_NEAR(double(ascents), 500, 60);
}
