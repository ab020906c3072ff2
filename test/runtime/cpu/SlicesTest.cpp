#include "colrow/KernelsSlices.h"

#include <gtest/gtest.h>

using namespace colrow;

namespace {

void check(const DimSlice &slice, const std::vector<int64_t> &coordinates) {
  LocalDim dim{slice, coordinates};
  IndexMap map(dim);
  ASSERT_EQ(map.localSize(), dim.localSize());
  ASSERT_EQ(map.globalSize(), slice.size);
  std::vector<int64_t> where(size_t(slice.size), -1);
  for (int64_t i = 0; i < map.localSize(); ++i) {
    ASSERT_EQ(map.globalIndex(i), dim.globalIndex(i));
    where[size_t(dim.globalIndex(i))] = i;
  }
  int64_t below = 0;
  for (int64_t global = 0; global < slice.size; ++global) {
    ASSERT_EQ(map.localIndex(global), where[size_t(global)]) << global;
    ASSERT_EQ(map.countBelow(global), below) << global;
    below += where[size_t(global)] >= 0;
  }
  for (int64_t outside : {int64_t(-1), int64_t(-100), slice.size, slice.size + 1000})
    ASSERT_EQ(map.localIndex(outside), -1) << outside;
}

TEST(IndexMap, EqualsLayout) {
  for (int64_t rank = 0; rank < 4; ++rank) {
    check({24, {{"tp", 4, 1, 1}}}, {rank});
    check({24, {{"tp", 4, 3, 2}}}, {rank});
    check({24, {{"dp", 2, 3, 1}, {"tp", 2, 1, 1}}}, {rank / 2, rank % 2});
    check({48, {{"dp", 2, 1, 1}, {"tp", 2, 3, 2}}}, {rank / 2, rank % 2});
    check({0, {{"tp", 4, 1, 1}}}, {rank});
  }
  check({7, {}}, {});
}

TEST(IndexMap, RunsAreAsLongAsTheyCanBe) {
  EXPECT_EQ(IndexMap(5).runs().size(), 1u);
  EXPECT_EQ(IndexMap(LocalDim{{24, {{"tp", 4, 1, 2}}}, {1}}).runs().size(), 1u);
  EXPECT_EQ(IndexMap(LocalDim{{24, {{"tp", 4, 3, 2}}}, {1}}).runs().size(), 3u);
}

TEST(Slices, Shapes) {
  LocalDim columns{{24, {{"tp", 4, 1, 1}}}, {3}};
  Slices slices{5, IndexMap(columns)};
  EXPECT_EQ(slices.localShape(), (Shape{5, 6}));
  EXPECT_EQ(slices.globalShape(), (Shape{5, 24}));
  EXPECT_EQ(Slices(LocalShape{{LocalDim::whole(5), columns}}).localShape(), (Shape{5, 6}));
  EXPECT_EQ(Slices::whole({5, 24}).localShape(), (Shape{5, 24}));
}

} // namespace
