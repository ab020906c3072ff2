#include "colrow/SliceExchange.h"
#include "colrow/ThreadRanks.h"

#include <gtest/gtest.h>
#include <numeric>

using namespace colrow;

namespace {

const std::vector<GridAxis> grid = {{"dp", 2}, {"tp", 2}};
using Dims = std::vector<DimSlice>;

int64_t elements(const LocalShape &shape) {
  int64_t count = 1;
  for (int64_t size : shape.localSizes())
    count *= size;
  return count;
}

/// What a rank holds of the tensor whose element e is e (row-major).
std::vector<float> held(const Dims &dims, const Rank &rank) {
  LocalShape shape = LocalShape::of(dims, grid, rank.index());
  std::vector<int64_t> sizes = shape.localSizes(), at(sizes.size(), 0);
  std::vector<float> values(elements(shape));
  for (float &value : values) {
    value = float(shape.globalElement(at));
    for (size_t d = sizes.size(); d-- > 0 && ++at[d] == sizes[d];)
      at[d] = 0;
  }
  return values;
}

// The second dimension is a fused QKV of 2 heads of 2; blocks make slices that are no ranges.
const Dims whole = {{4, {}}, {12, {}}};
const Dims fused = {{4, {}}, {12, {{"tp", 2, 3, 2}}}};
const Dims rows = {{4, {{"tp", 2, 1, 1}}}, {12, {}}};
const Dims both = {{4, {{"dp", 2, 1, 1}}}, {12, {{"tp", 2, 3, 2}}}};

TEST(SliceExchange, GathersSlicesIntoTheirPlaces) {
  runRanks(grid, [&](Rank &rank) {
    SliceExchange exchange(rank, {"tp"}, fused, whole);
    std::vector<float> in = held(fused, rank), out(48, -1);
    exchange.allGather(in.data(), out.data());
    EXPECT_EQ(out, held(whole, rank));
  });
}

TEST(SliceExchange, GathersOverTwoAxesAtOnce) {
  runRanks(grid, [&](Rank &rank) {
    for (std::vector<std::string> axes : {std::vector<std::string>{"dp", "tp"}, {"tp", "dp"}}) {
      SliceExchange exchange(rank, axes, both, whole);
      std::vector<float> in = held(both, rank), out(48, -1);
      exchange.allGather(in.data(), out.data());
      EXPECT_EQ(out, held(whole, rank));
    }
  });
}

TEST(SliceExchange, ReduceScatterGivesEachRankItsSliceOfTheSum) {
  runRanks(grid, [&](Rank &rank) {
    SliceExchange exchange(rank, {"tp"}, whole, fused);
    std::vector<float> in = held(whole, rank), out(24, -1), expected = held(fused, rank);
    for (float &value : in)
      value *= float(1 + rank.coordinate("tp")); // summands: once and twice the tensor
    for (float &value : expected)
      value *= 3;
    exchange.reduceScatter(in.data(), out.data());
    EXPECT_EQ(out, expected);
  });
}

TEST(SliceExchange, AllToAllChangesTheDimensionThatIsCut) {
  runRanks(grid, [&](Rank &rank) {
    SliceExchange there(rank, {"tp"}, fused, rows), back(rank, {"tp"}, rows, fused);
    std::vector<float> in = held(fused, rank), out(24, -1), again(24, -1);
    there.allToAll(in.data(), out.data());
    EXPECT_EQ(out, held(rows, rank));
    back.allToAll(out.data(), again.data());
    EXPECT_EQ(again, in);
  });
}

TEST(SliceExchange, TakesAShardAndPutsItInItsPlace) {
  runRanks(grid, [&](Rank &rank) {
    SliceExchange take(rank, {"tp"}, whole, fused), place(rank, {"tp"}, fused, whole);
    std::vector<float> in = held(whole, rank), slice(24, -1), placed(48, -1);
    take.takeShard(in.data(), slice.data());
    EXPECT_EQ(slice, held(fused, rank));
    place.place(slice.data(), placed.data());
    rank.over({"tp"}).allReduce(placed.data(), 48);
    EXPECT_EQ(placed, in);
  });
}

} // namespace
