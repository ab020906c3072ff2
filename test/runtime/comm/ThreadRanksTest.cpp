#include "colrow/Philox.h"
#include "colrow/ThreadRanks.h"

#include <chrono>
#include <cmath>
#include <functional>
#include <gtest/gtest.h>
#include <thread>

using namespace colrow;

namespace {

std::vector<GridAxis> line(int64_t ranks) { return {{"tp", ranks}}; }

std::string errorOf(const std::function<void()> &function) {
  try {
    function();
  } catch (const std::exception &error) {
    return error.what();
  }
  return "no error";
}

/// A value for element i of rank r: fractions whose float sum depends on the order.
float value(int64_t r, int64_t i) { return philoxNormal(1, uint64_t(r), 2, uint64_t(i)); }

template <typename T> void checkAllCollectives(int64_t ranks, int64_t count) {
  auto at = [](int64_t r, int64_t i) { return T(100 * value(r, i)); };
  runRanks(line(ranks), [&](Rank &rank) {
    Communicator &tp = rank.over({"tp"});
    int64_t self = rank.index();
    auto make = [&](int64_t n) {
      std::vector<T> data(static_cast<size_t>(n));
      for (int64_t i = 0; i < n; ++i)
        data[size_t(i)] = at(self, i);
      return data;
    };
    auto sumOf = [&](int64_t i) { // in rank order: bits must agree
      T sum = at(0, i);
      for (int64_t r = 1; r < ranks; ++r)
        sum += at(r, i);
      return sum;
    };

    std::vector<T> data = make(count);
    tp.allReduce(data.data(), count);
    for (int64_t i = 0; i < count; ++i)
      ASSERT_EQ(data[size_t(i)], sumOf(i));

    data = make(count);
    tp.allReduce(data.data(), count, ReduceOp::max);
    for (int64_t i = 0; i < count; ++i) {
      T most = at(0, i);
      for (int64_t r = 1; r < ranks; ++r)
        most = std::max(most, at(r, i));
      ASSERT_EQ(data[size_t(i)], most);
    }

    data = make(count);
    std::vector<T> all(size_t(ranks * count));
    tp.allGather(data.data(), all.data(), count);
    for (int64_t r = 0; r < ranks; ++r)
      for (int64_t i = 0; i < count; ++i)
        ASSERT_EQ(all[size_t(r * count + i)], at(r, i));

    std::vector<T> large = make(ranks * count);
    tp.reduceScatter(large.data(), data.data(), count);
    for (int64_t i = 0; i < count; ++i)
      ASSERT_EQ(data[size_t(i)], sumOf(self * count + i));

    tp.allToAll(large.data(), all.data(), count);
    for (int64_t r = 0; r < ranks; ++r)
      for (int64_t i = 0; i < count; ++i)
        ASSERT_EQ(all[size_t(r * count + i)], at(r, self * count + i));

    int64_t root = ranks - 1;
    data = make(count);
    tp.broadcast(data.data(), count, root);
    for (int64_t i = 0; i < count; ++i)
      ASSERT_EQ(data[size_t(i)], at(root, i));
    tp.barrier();
  });
}

} // namespace

TEST(ThreadRanks, Collectives) {
  for (int64_t ranks : {1, 2, 3, 4, 7})
    for (int64_t count : {0, 1, 5, 64, 5000}) {
      checkAllCollectives<float>(ranks, count);
      checkAllCollectives<double>(ranks, count);
      checkAllCollectives<int64_t>(ranks, count);
    }
}

TEST(ThreadRanks, MaximumOfNegativesAndNaN) {
  runRanks(line(3), [](Rank &rank) {
    float x[2] = {-1.0f - float(rank.index()), rank.index() == 1 ? NAN : 5.0f};
    rank.world().allReduce(x, 2, ReduceOp::max);
    EXPECT_EQ(x[0], -1);
    EXPECT_TRUE(std::isnan(x[1]));
  });
}

TEST(ThreadRanks, TwoAxesAtOnce) {
  runRanks({{"dp", 2}, {"tp", 2}}, [](Rank &rank) {
    double tp = double(rank.index()), dp = tp, both = tp;
    rank.over({"tp"}).allReduce(&tp, 1);
    rank.over({"dp"}).allReduce(&dp, 1);
    rank.over({"dp", "tp"}).allReduce(&both, 1);
    EXPECT_EQ(tp, rank.coordinate("dp") * 4 + 1);
    EXPECT_EQ(dp, rank.coordinate("tp") * 2 + 2);
    EXPECT_EQ(both, 6);
  });
}

TEST(ThreadRanks, ManyCollectivesInARow) {
  runRanks(line(4), [](Rank &rank) {
    for (int64_t i = 0; i < 2000; ++i) {
      int64_t x = rank.index() + i;
      rank.world().allReduce(&x, 1);
      ASSERT_EQ(x, 6 + 4 * i);
    }
  });
}

TEST(ThreadRanks, AFailingRankEndsTheRun) {
  for (int64_t failing : {0, 1, 3})
    EXPECT_EQ(errorOf([&] {
                runRanks(line(4), [&](Rank &rank) {
                  std::vector<float> data(10000);
                  for (int i = 0;; ++i) {
                    if (i == 5 && rank.index() == failing)
                      throw Error("'data.bin' is damaged");
                    rank.world().allReduce(data.data(), int64_t(data.size()));
                  }
                });
              }),
              "'data.bin' is damaged");
}

TEST(ThreadRanks, OtherRanksSeeAnAbort) {
  std::string seen;
  errorOf([&] {
    runRanks(line(2), [&](Rank &rank) {
      if (rank.index() == 1)
        throw Error("first");
      float x = 0;
      seen = errorOf([&] { rank.world().allReduce(&x, 1); });
    });
  });
  EXPECT_EQ(seen, "rank 0 left allReduce of 1 f32 over tp because another rank failed");
}

TEST(ThreadRanks, ARankThatReturnsEarlyIsADeadlock) {
  EXPECT_EQ(errorOf([] {
              runRanks(line(3), [](Rank &rank) {
                if (rank.index() != 1)
                  rank.world().barrier();
              });
            }),
            "deadlock: rank 0 waits in barrier over tp for rank 1; rank 2 waits in barrier over "
            "tp for rank 1");
}

TEST(ThreadRanks, CrossedCollectivesAreADeadlock) {
  EXPECT_EQ(errorOf([] {
              runRanks({{"dp", 2}, {"tp", 2}}, [](Rank &rank) {
                // A ring: everyone waits for the next one, who waits elsewhere.
                bool dpFirst = rank.index() == 0 || rank.index() == 3;
                double x = 0;
                rank.over({dpFirst ? "dp" : "tp"}).allReduce(&x, 1);
                rank.over({dpFirst ? "tp" : "dp"}).allReduce(&x, 1);
              });
            }),
            "deadlock: rank 0 waits in allReduce of 1 f64 over dp for rank 2; rank 1 waits in "
            "allReduce of 1 f64 over tp for rank 0; rank 2 waits in allReduce of 1 f64 over tp "
            "for rank 3; rank 3 waits in allReduce of 1 f64 over dp for rank 1");
}

TEST(ThreadRanks, TimeLimitNamesWhoDidNotCome) {
  ThreadRankOptions options;
  options.waitLimit = 0.2;
  EXPECT_EQ(errorOf([&] {
              runRanks(
                  line(2),
                  [](Rank &rank) {
                    if (rank.index() == 1)
                      std::this_thread::sleep_for(std::chrono::milliseconds(600));
                    float x[8] = {};
                    rank.world().allReduce(x, 8);
                  },
                  options);
            }),
            "no progress for 0.2 s: rank 0 waits in allReduce of 8 f32 over tp for rank 1");
}

TEST(ThreadRanks, DisagreementIsAnError) {
  EXPECT_EQ(errorOf([] {
              runRanks(line(2), [](Rank &rank) {
                float x[8] = {};
                rank.world().allReduce(x, rank.index() == 0 ? 8 : 4);
              });
            }),
            "ranks over tp disagree: rank 0 calls allReduce of 8 f32, rank 1 calls allReduce of "
            "4 f32");
}
