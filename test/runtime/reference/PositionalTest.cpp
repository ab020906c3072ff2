#include "Testing.h"

#include "runtime/reference/Elementwise.h"
#include "runtime/reference/Positional.h"
#include "runtime/reference/Reduce.h"
#include "runtime/reference/Sharding.h"

#include "colrow/Philox.h"

using namespace colrow;
using namespace colrow::reference;

namespace {

const std::vector<GridAxis> grid = {{"dp", 2}, {"tp", 2}};
const Placement cut = {{{4, {{"dp", 2, 1, 1}}}, {3, {}}, {8, {{"tp", 2, 2, 1}}}}, {}, false};

/// What four ranks make together of a kernel of (LocalShape).
template <typename Fn> Tensor onRanks(Fn kernel) {
  std::vector<Tensor> locals;
  for (int64_t rank = 0; rank < 4; ++rank)
    locals.push_back(kernel(LocalShape::of(cut.dims, grid, rank)));
  return collect(locals, cut, grid, f64);
}

const LocalShape whole = LocalShape::whole({4, 3, 8});

} // namespace

TEST(Iota, CountsAlongOneAxis) {
  Tensor x = iota(ElementType::i64, LocalShape::whole({2, 3}), 1);
  EXPECT_EQ(x.toIntegers(), (Integers{0, 1, 2, 0, 1, 2}));
  EXPECT_EQ(x.strides()[0], 0);
  Tensor y = iota(ElementType::f32, LocalShape::whole({2, 2}), 0);
  EXPECT_EQ(y.toFloats(), (Floats{0, 0, 1, 1}));
  EXPECT_TRUE(failsWith("iota: a tensor of 1 axes has no axis 1",
                        [] { iota(ElementType::i64, LocalShape::whole({2}), 1); }));
}

TEST(Iota, OnRanksIsThatOfOne) {
  for (int64_t axis = 0; axis < 3; ++axis) {
    auto kernel = [&](const LocalShape &shape) { return iota(ElementType::i64, shape, axis); };
    EXPECT_TRUE(identical(onRanks(kernel), kernel(whole).materialize()));
  }
}

TEST(MaskPadding, ReplacesByGlobalIndex) {
  Tensor x = counted({2, 4});
  EXPECT_EQ(maskPadding(x, 1, 3, -infinity, LocalDim::whole(4)).toFloats(),
            (Floats{0, 1, 2, -infinity, 4, 5, 6, -infinity}));
  // Rank 1 of 2 holds 4..7 of eight; 5 are valid.
  LocalDim second{{8, {{"tp", 2, 1, 1}}}, {1}};
  EXPECT_EQ(maskPadding(x, 1, 5, 9, second).toFloats(), (Floats{0, 9, 9, 9, 4, 9, 9, 9}));
  EXPECT_EQ(maskPadding(x, 1, 4, 9, second).toFloats(), Floats(8, 9)); // nothing valid here
  EXPECT_EQ(maskPadding(integersOf({1, 2}), 0, 1, -100, LocalDim::whole(2)).toIntegers(),
            (Integers{1, -100}));
  EXPECT_TRUE(failsWith("axis 1 of f32[2x4] should hold 8 elements",
                        [&] { maskPadding(x, 1, 3, 0, LocalDim::whole(8)); }));
}

TEST(Dropout, MaskIsThatOfPhilox) {
  RandomSite site{7, 3, stableId("drop"), 96};
  Tensor mask = dropoutMask(whole, 0.3, site);
  Integers kept = mask.toIntegers();
  ASSERT_EQ(kept.size(), 96u);
  for (size_t i = 0; i < kept.size(); ++i)
    EXPECT_EQ(kept[i], dropoutKeeps(7, 3, stableId("drop"), 96 + i, 0.3));
}

TEST(Dropout, KeepsTheRightShareAndTheMean) {
  LocalShape shape = LocalShape::whole({100, 100});
  Tensor kept = cast(dropoutMask(shape, 0.25, {1, 0, 5, 0}), ElementType::f32, f64);
  double share = reduceSum(kept, {0, 1}, false, f64).item() / 10000;
  EXPECT_NEAR(share, 0.75, 0.02); // five standard deviations
  Tensor y = dropout(Tensor::full(ElementType::f32, {100, 100}, 3), 0.25, {1, 0, 5, 0}, shape, f64);
  EXPECT_EQ(maxDifference(y, mul(kept, Tensor::scalar(ElementType::f32, 3 / 0.75), f64)), 0);
}

TEST(Dropout, DependsOnSeedStepSiteAndMicrobatch) {
  Tensor first = dropoutMask(whole, 0.5, {1, 2, 3, 0});
  EXPECT_TRUE(identical(first, dropoutMask(whole, 0.5, {1, 2, 3, 0})));
  for (const RandomSite &other : {RandomSite{9, 2, 3, 0}, RandomSite{1, 9, 3, 0},
                                  RandomSite{1, 2, 9, 0}, RandomSite{1, 2, 3, 96}})
    EXPECT_FALSE(identical(first, dropoutMask(whole, 0.5, other)));
}

TEST(Dropout, OnRanksIsThatOfOne) {
  Tensor x = randomTensor({4, 3, 8}, 1);
  RandomSite site{7, 3, 11, 0};
  Tensor expected = dropout(x, 0.4, site, whole, f64);
  Tensor result = onRanks(
      [&](const LocalShape &shape) { return dropout(sliceOf(x, shape), 0.4, site, shape, f64); });
  EXPECT_TRUE(identical(result, expected));
}

TEST(Dropout, Extremes) {
  Tensor x = Tensor::full(ElementType::f32, {4, 3, 8}, infinity);
  RandomSite site{1, 2, 3, 0};
  EXPECT_EQ(dropout(x, 1, site, whole, f64).toFloats(), Floats(96, 0));
  EXPECT_TRUE(identical(dropout(x, 0, site, whole, f64), x.materialize()));
  for (double value : dropout(x, 0.5, site, whole, f64).toFloats())
    EXPECT_TRUE(value == 0 || value == infinity); // no 0 * infinity
  EXPECT_TRUE(failsWith("expects a ratio from 0 to 1, got 1.5",
                        [&] { dropout(x, 1.5, site, whole, f64); }));
  EXPECT_TRUE(failsWith("f32[4x3x8] should have the shape [4x3]", [&] {
    dropout(x, 0.5, site, LocalShape::whole({4, 3}), f64);
  }));
}
