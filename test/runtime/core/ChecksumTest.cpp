#include "colrow/Checksum.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <set>
#include <string>

using namespace colrow;

static uint64_t checksumOf(const std::string &text) {
  Checksum sum;
  sum.add(text.data(), text.size());
  return sum.value();
}

TEST(Checksum, DoesNotDependOnThePieces) {
  std::string text;
  for (int i = 0; i < 200; ++i)
    text += char(i * 7);
  for (size_t piece : {1, 5, 31, 32, 33, 64, 199}) {
    Checksum sum;
    for (size_t i = 0; i < text.size(); i += piece)
      sum.add(text.data() + i, std::min(piece, text.size() - i));
    EXPECT_EQ(sum.value(), checksumOf(text)) << piece;
  }
}

TEST(Checksum, EveryBitAndTheLengthCount) {
  std::string text(70, '\0');
  std::set<uint64_t> seen;
  for (size_t length = 0; length <= text.size(); ++length)
    seen.insert(checksumOf(text.substr(0, length)));
  for (size_t i = 0; i < text.size(); ++i)
    for (int bit = 0; bit < 8; ++bit) {
      std::string changed = text;
      changed[i] = char(changed[i] ^ (1 << bit));
      seen.insert(checksumOf(changed));
    }
  EXPECT_EQ(seen.size(), 71u + 70 * 8);
}

TEST(Checksum, ValueDoesNotEndIt) {
  Checksum sum;
  sum.add("abc", 3);
  sum.value();
  sum.add("def", 3);
  EXPECT_EQ(sum.value(), checksumOf("abcdef"));
}

// Files of earlier versions must stay readable.
TEST(Checksum, IsWhatItWas) { EXPECT_EQ(checksumOf("colrow"), 0x227267b92c46ec80u); }
