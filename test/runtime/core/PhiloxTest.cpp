#include "colrow/Philox.h"

#include <cmath>
#include <gtest/gtest.h>
#include <set>

using namespace colrow;

// The known answers of Random123 (tests/kat_vectors, philox4x32 10).
TEST(Philox, KnownAnswers) {
  EXPECT_EQ(philox4x32({0, 0, 0, 0}, {0, 0}),
            (PhiloxCounter{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  EXPECT_EQ(philox4x32({0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff},
                       {0xffffffff, 0xffffffff}),
            (PhiloxCounter{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(philox4x32({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
                       {0xa4093822, 0x299f31d0}),
            (PhiloxCounter{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

// The published test vectors of FNV-1a.
TEST(Philox, StableIdIsFnv1a) {
  static_assert(stableId("") == 0xcbf29ce484222325u);
  EXPECT_EQ(stableId("a"), 0xaf63dc4c8601ec8cu);
  EXPECT_EQ(stableId("foobar"), 0x85944171f73967e8u);
}

TEST(Philox, EveryArgumentMatters) {
  std::set<uint32_t> words;
  for (uint64_t seed : {0ull, 1ull})
    for (uint64_t step : {0ull, 1ull, 1ull << 32})
      for (uint64_t id : {7ull, 8ull, 7ull << 32})
        for (uint64_t index : {0ull, 1ull, 4ull, 1ull << 34})
          words.insert(philoxWord(seed, step, id, index));
  EXPECT_EQ(words.size(), 2u * 3 * 3 * 4);
}

TEST(Philox, UniformIsUniform) {
  const int n = 100000, bins = 10;
  int counts[bins] = {};
  for (int i = 0; i < n; ++i) {
    float u = philoxUniform(3, 5, stableId("site"), i);
    ASSERT_GE(u, 0.0f);
    ASSERT_LT(u, 1.0f);
    ++counts[int(u * bins)];
  }
  for (int count : counts) // the standard deviation is 95
    EXPECT_NEAR(count, n / bins, 500);
  EXPECT_EQ(philoxToUniform(0xffffffffu), 1 - 0x1p-24f);
}

TEST(Philox, NormalHasItsMoments) {
  const int n = 200000;
  double sum = 0, squares = 0, fourth = 0, neighbours = 0, previous = 0;
  for (int i = 0; i < n; ++i) {
    double x = philoxNormal(11, 0, stableId("weight"), i);
    sum += x;
    squares += x * x;
    fourth += x * x * x * x;
    neighbours += x * previous;
    previous = x;
  }
  EXPECT_NEAR(sum / n, 0, 0.01);
  EXPECT_NEAR(squares / n, 1, 0.02);
  EXPECT_NEAR(fourth / n, 3, 0.15);
  EXPECT_NEAR(neighbours / n, 0, 0.01);
}

TEST(Philox, DropoutKeepsItsShare) {
  const int n = 100000;
  int kept = 0;
  for (int i = 0; i < n; ++i)
    kept += dropoutKeeps(1, 2, 3, i, 0.1);
  EXPECT_NEAR(kept, 0.9 * n, 400); // the standard deviation is 95
}

TEST(Philox, DropoutAtTheEnds) {
  for (int i = 0; i < 1000; ++i) {
    EXPECT_TRUE(dropoutKeeps(1, 2, 3, i, 0.0));
    EXPECT_FALSE(dropoutKeeps(1, 2, 3, i, 1.0));
  }
}

// Kernels compute the threshold and the key once; the meaning is that of the plain function and
// of a comparison of real numbers.
TEST(Philox, DropoutFormsAgree) {
  for (double ratio : {0.1, 0.25, 0.5, double(0.3f)}) {
    uint32_t threshold = dropoutThreshold(ratio);
    PhiloxKey key = philoxKey(1, 3);
    for (uint64_t i = 0; i < 4000; ++i) {
      bool kept = dropoutKeeps(1, 2, 3, i, ratio);
      EXPECT_EQ(kept, dropoutKeeps(philoxBlock(key, 2, i / 4)[i % 4], threshold));
      EXPECT_EQ(kept, double(philoxUniform(1, 2, 3, i)) >= ratio);
    }
  }
}
