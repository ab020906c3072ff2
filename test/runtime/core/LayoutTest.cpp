#include "colrow/Layout.h"

#include <gtest/gtest.h>

using namespace colrow;

namespace {

std::vector<int64_t> heldBy(const DimSlice &dim, const std::vector<int64_t> &coordinates) {
  std::vector<int64_t> held;
  for (int64_t i = 0; i < dim.localSize(); ++i)
    held.push_back(dim.globalIndex(i, coordinates));
  return held;
}

} // namespace

TEST(Layout, BlocksAreDealtOutOneByOne) {
  DimSlice qkv{12, {{"tp", 2, 3, 1}}}; // three blocks of four
  EXPECT_TRUE(qkv.divides());
  EXPECT_EQ(qkv.localSize(), 6);
  EXPECT_EQ(heldBy(qkv, {0}), (std::vector<int64_t>{0, 1, 4, 5, 8, 9}));
  EXPECT_EQ(heldBy(qkv, {1}), (std::vector<int64_t>{2, 3, 6, 7, 10, 11}));
}

TEST(Layout, AnInnerCutCountsInsideTheOuterSlice) {
  DimSlice dim{8, {{"dp", 2, 1, 1}, {"tp", 2, 2, 1}}};
  EXPECT_EQ(heldBy(dim, {0, 0}), (std::vector<int64_t>{0, 2}));
  EXPECT_EQ(heldBy(dim, {0, 1}), (std::vector<int64_t>{1, 3}));
  EXPECT_EQ(heldBy(dim, {1, 0}), (std::vector<int64_t>{4, 6}));
  EXPECT_EQ(heldBy(dim, {1, 1}), (std::vector<int64_t>{5, 7}));
}

TEST(Layout, OnlyWholeUnitsDivide) {
  EXPECT_TRUE((DimSlice{96, {{"tp", 2, 3, 16}}}.divides()));
  EXPECT_FALSE((DimSlice{96, {{"tp", 4, 3, 16}}}.divides()));
  EXPECT_FALSE((DimSlice{10, {{"tp", 4, 1, 1}}}.divides()));
}

TEST(Layout, LocalIndexInvertsGlobalIndex) {
  std::vector<DimSlice> dims = {
      {24, {}},
      {24, {{"tp", 4, 1, 1}}},
      {24, {{"tp", 2, 3, 2}}},
      {24, {{"a", 2, 3, 1}, {"b", 2, 1, 1}}},
      {24, {{"a", 2, 1, 1}, {"b", 3, 2, 1}}},
      {24, {{"a", 2, 3, 1}, {"b", 2, 2, 1}, {"c", 3, 1, 1}}},
  };
  for (const DimSlice &dim : dims) {
    ASSERT_TRUE(dim.divides());
    std::vector<int> holders(dim.size, 0);
    std::vector<GridAxis> grid;
    int64_t ranks = 1;
    for (const Cut &cut : dim.cuts) {
      grid.push_back({cut.axis, cut.ranks});
      ranks *= cut.ranks;
    }
    for (int64_t rank = 0; rank < ranks; ++rank) {
      std::vector<int64_t> at = gridCoordinates(rank, grid);
      int64_t found = 0;
      for (int64_t global = 0; global < dim.size; ++global) {
        int64_t local = dim.localIndex(global, at);
        if (local < 0)
          continue;
        ++found;
        ++holders[global];
        EXPECT_EQ(dim.globalIndex(local, at), global);
      }
      EXPECT_EQ(found, dim.localSize());
    }
    EXPECT_EQ(holders, std::vector<int>(dim.size, 1)); // every element has one holder
  }
}

TEST(Layout, PaddingIsAtTheEndOfEveryBlock) {
  DimSlice dim{18, {{"tp", 3, 3, 1}}, 3}; // 4 of 6 in each of 3 blocks
  std::vector<int64_t> found;
  for (int64_t i = 0; i < 18; ++i)
    found.push_back(dim.validIndex(i, 12));
  EXPECT_EQ(found, (std::vector<int64_t>{0, 1, 2, 3, -1, -1, 4, 5, 6, 7, -1, -1, 8, 9, 10, 11, -1, -1}));
  EXPECT_EQ(dim.validIndex(17, 18), 17);
  DimSlice whole{6, {}};
  EXPECT_EQ(whole.validIndex(4, 5), 4);
  EXPECT_EQ(whole.validIndex(5, 5), -1);
}

TEST(Layout, RanksAreNumberedRowMajor) {
  std::vector<GridAxis> grid = {{"dp", 2}, {"tp", 3}};
  EXPECT_EQ(gridCoordinates(0, grid), (std::vector<int64_t>{0, 0}));
  EXPECT_EQ(gridCoordinates(2, grid), (std::vector<int64_t>{0, 2}));
  EXPECT_EQ(gridCoordinates(3, grid), (std::vector<int64_t>{1, 0}));
}

TEST(Layout, LocalShapeMapsToTheWholeTensor) {
  std::vector<GridAxis> grid = {{"dp", 2}, {"tp", 2}};
  std::vector<DimSlice> dims = {{4, {{"dp", 2, 1, 1}}}, {3, {}}, {8, {{"tp", 2, 2, 1}}}};
  LocalShape shape = LocalShape::of(dims, grid, 3);
  EXPECT_EQ(shape.rank(), 3u);
  EXPECT_EQ(shape.localSizes(), (std::vector<int64_t>{2, 3, 4}));
  EXPECT_EQ(shape.globalSizes(), (std::vector<int64_t>{4, 3, 8}));
  // Local (1, 2, 2) is global (3, 2, 6): the third element of rank 1 is in the second block.
  EXPECT_EQ(shape.globalElement({1, 2, 2}), (3 * 3 + 2) * 8 + 6);
  EXPECT_EQ(LocalShape::whole({2, 3}).globalElement({1, 1}), 4);
}

TEST(Layout, LocalShapeRefusesWhatTheGridCannotDealOut) {
  std::vector<GridAxis> grid = {{"tp", 2}};
  EXPECT_THROW(LocalShape::of({{4, {{"dp", 2, 1, 1}}}}, grid, 0), std::invalid_argument);
  EXPECT_THROW(LocalShape::of({{4, {{"tp", 4, 1, 1}}}}, grid, 0), std::invalid_argument);
  EXPECT_THROW(LocalShape::of({{5, {{"tp", 2, 1, 1}}}}, grid, 0), std::invalid_argument);
}
