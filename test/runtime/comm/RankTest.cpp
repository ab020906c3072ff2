#include "colrow/ThreadRanks.h"

#include <gtest/gtest.h>
#include <thread>

using namespace colrow;

namespace {
const std::vector<GridAxis> grid = {{"dp", 2}, {"tp", 3}};
}

TEST(Rank, CoordinatesAreRowMajor) {
  runRanks(grid, [](Rank &rank) {
    EXPECT_EQ(rank.size(), 6);
    EXPECT_EQ(rank.index(), rank.coordinate("dp") * 3 + rank.coordinate("tp"));
    EXPECT_EQ(rank.axisSize("tp"), 3);
    EXPECT_EQ(rank.axisSize("cp"), 1);
    EXPECT_EQ(rank.coordinate("cp"), 0);
    DimSlice dim;
    dim.size = 12;
    dim.cuts = {{"tp", 3, 1, 1}, {"dp", 2, 1, 1}};
    EXPECT_EQ(rank.coordinates(dim),
              (std::vector<int64_t>{rank.coordinate("tp"), rank.coordinate("dp")}));
  });
}

TEST(Rank, CommunicatorsGroupTheRightRanks) {
  runRanks(grid, [](Rank &rank) {
    auto members = [&](const std::vector<std::string> &axes) {
      Communicator &group = rank.over(axes);
      std::vector<int64_t> found(size_t(group.size()));
      int64_t self = rank.index();
      group.allGather(&self, found.data(), 1);
      EXPECT_EQ(found[size_t(group.index())], self);
      return found;
    };
    int64_t dp = rank.coordinate("dp"), tp = rank.coordinate("tp");
    EXPECT_EQ(members({"tp"}), (std::vector<int64_t>{dp * 3, dp * 3 + 1, dp * 3 + 2}));
    EXPECT_EQ(members({"dp"}), (std::vector<int64_t>{tp, tp + 3}));
    EXPECT_EQ(members({"dp", "tp"}), (std::vector<int64_t>{0, 1, 2, 3, 4, 5}));
    // The last axis is the fastest, whatever its place on the grid.
    EXPECT_EQ(members({"tp", "dp"}), (std::vector<int64_t>{0, 3, 1, 4, 2, 5}));
    EXPECT_EQ(members({}), std::vector<int64_t>{rank.index()});
    EXPECT_EQ(members({"cp"}), std::vector<int64_t>{rank.index()});
    EXPECT_EQ(&rank.over({"tp"}), &rank.over({"tp"}));
    EXPECT_EQ(rank.world().index(), rank.index());
  });
}

TEST(Rank, OneRankNeedsNoThread) {
  std::thread::id caller = std::this_thread::get_id();
  runRanks({}, [&](Rank &rank) {
    EXPECT_EQ(std::this_thread::get_id(), caller);
    EXPECT_EQ(rank.size(), 1);
    float x = 3, y = 0;
    rank.world().allReduce(&x, 1);
    rank.world().reduceScatter(&x, &y, 1);
    EXPECT_EQ(y, 3);
  });
}
