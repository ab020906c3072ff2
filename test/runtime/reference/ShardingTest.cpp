#include "Testing.h"

#include "runtime/reference/Elementwise.h"
#include "runtime/reference/Shape.h"
#include "runtime/reference/Sharding.h"

#include <cmath>

using namespace colrow;
using namespace colrow::reference;

namespace {

const std::vector<GridAxis> grid = {{"dp", 2}, {"tp", 4}};

std::vector<Tensor> spread(const Tensor &whole, const Placement &placement,
                           Precision precision = f64) {
  std::mt19937_64 random(5);
  return distribute(whole, placement, grid, random, precision);
}

} // namespace

TEST(Sharding, SliceOfTakesBlocks) {
  Tensor x = counted({2, 12});
  LocalShape shape{{LocalDim::whole(2), {{12, {{"tp", 2, 3, 1}}}, {1}}}};
  EXPECT_EQ(sliceOf(x, shape).toFloats(), (Floats{2, 3, 6, 7, 10, 11, 14, 15, 18, 19, 22, 23}));
  Tensor view = transpose(transpose(x, {1, 0}).materialize(), {1, 0});
  EXPECT_TRUE(identical(sliceOf(view, shape), sliceOf(x, shape)));
  EXPECT_EQ(sliceOf(booleansOf({0, 1}), LocalShape{{{{2, {{"tp", 2, 1, 1}}}, {1}}}}).toIntegers(),
            (Integers{1}));
  EXPECT_TRUE(failsWith("cannot cut f32[3] as a tensor of shape [2x12]",
                        [&] { sliceOf(counted({3}), shape); }));
}

TEST(Sharding, CollectUndoesDistribute) {
  Tensor x = randomTensor({8, 24}, 1);
  std::vector<Placement> placements = {
      {{{8, {}}, {24, {}}}, {}, false},
      {{{8, {}}, {24, {{"tp", 4, 3, 2}}}}, {}, false},
      {{{8, {{"dp", 2, 1, 1}}}, {24, {{"tp", 4, 1, 1}}}}, {}, false},
      {{{8, {{"tp", 4, 1, 1}, {"dp", 2, 1, 1}}}, {24, {}}}, {}, false},
  };
  for (const Placement &placement : placements) {
    std::vector<Tensor> locals = spread(x, placement);
    ASSERT_EQ(locals.size(), 8u);
    EXPECT_TRUE(identical(collect(locals, placement, grid, f64), x));
  }
}

TEST(Sharding, PartialSummandsAddUp) {
  Tensor x = randomTensor({8, 24}, 1);
  std::vector<Placement> placements = {
      {{{8, {}}, {24, {}}}, {"tp"}, false},
      {{{8, {}}, {24, {}}}, {"tp", "dp"}, false},
      {{{8, {{"dp", 2, 1, 1}}}, {24, {}}}, {"tp"}, false},
      {{{8, {}}, {24, {{"tp", 4, 3, 2}}}}, {"dp"}, false},
  };
  for (const Placement &placement : placements) {
    std::vector<Tensor> locals = spread(x, placement);
    EXPECT_LT(maxDifference(collect(locals, placement, grid, f64), x), 1e-14);
    EXPECT_GT(maxDifference(locals[0], sliceOf(x, LocalShape::of(placement.dims, grid, 0))), 0.1);
  }
  Tensor y = integersOf({3, -4, 5});
  Placement partial{{{3, {}}}, {"tp"}, false};
  std::vector<Tensor> locals = spread(y, partial);
  EXPECT_TRUE(identical(collect(locals, partial, grid, f64), y));
  EXPECT_TRUE(identical(locals[1], locals[5])); // the same tp coordinate
  EXPECT_FALSE(identical(locals[1], locals[2]));
}

TEST(Sharding, PartialMaximum) {
  Tensor x = randomTensor({3, 5}, 1);
  Placement placement{{{3, {}}, {5, {}}}, {"tp"}, true};
  std::vector<Tensor> locals = spread(x, placement);
  EXPECT_TRUE(identical(collect(locals, placement, grid, f64), x));
  for (const Tensor &local : locals)
    EXPECT_FALSE(identical(local, x));
}

TEST(Sharding, SummandsAreFloatsUnderF32) {
  Tensor x = rounded(randomTensor({100}, 1), f32);
  Placement placement{{{100, {}}}, {"dp", "tp"}, false};
  std::vector<Tensor> locals = spread(x, placement, f32);
  for (const Tensor &local : locals)
    EXPECT_TRUE(identical(local, rounded(local, f32)));
  EXPECT_LT(maxDifference(collect(locals, placement, grid, f32), x), 1e-5);
}

TEST(Sharding, CollectNoticesCopiesThatDiffer) {
  Tensor x = counted({2, 4});
  Placement placement{{{2, {{"dp", 2, 1, 1}}}, {4, {}}}, {}, false};
  std::vector<Tensor> locals = spread(x, placement);
  Floats values = locals[6].toFloats(); // dp 1, tp 2: holds row 1
  values[3] = std::nextafter(values[3], 100.0);
  locals[6] = Tensor::floats({1, 4}, values);
  EXPECT_TRUE(failsWith("ranks 4 and 6 should hold the same bits, but element [1, 3] of [2x4] is "
                        "7 and 7.0000000000000009",
                        [&] { collect(locals, placement, grid, f64); }));
  // As a summand over tp it may differ, but no longer from its copy on the other dp coordinate.
  Placement partial{{{1, {}}, {4, {}}}, {"tp"}, false};
  EXPECT_TRUE(failsWith("ranks 2 and 6 should hold the same bits", [&] {
    locals = spread(counted({1, 4}), partial);
    locals[6] = add(locals[6], Tensor::scalar(ElementType::f32, 1), f64);
    collect(locals, partial, grid, f64);
  }));
}

TEST(Sharding, Errors) {
  Tensor x = counted({8});
  auto fails = [&](const char *message, const Placement &placement) {
    return failsWith(message, [&] { spread(x, placement); });
  };
  EXPECT_TRUE(fails("the grid has no axis 'pp'", {{{8, {}}}, {"pp"}, false}));
  EXPECT_TRUE(fails("the grid has no axis 'tp' of 2 ranks", {{{8, {{"tp", 2, 1, 1}}}}, {}, false}));
  EXPECT_TRUE(fails("axis 'tp' cannot both cut a dimension and be partial",
                    {{{8, {{"tp", 4, 1, 1}}}}, {"tp"}, false}));
  EXPECT_TRUE(fails("does not divide", {{{8, {{"tp", 4, 3, 1}}}}, {}, false}));
  Placement placement{{{8, {{"tp", 4, 1, 1}}}}, {}, false};
  std::vector<Tensor> locals = spread(x, placement);
  locals[3] = x;
  EXPECT_TRUE(failsWith("rank 3 holds f32[8], expected f32[2]",
                        [&] { collect(locals, placement, grid, f64); }));
  locals.pop_back();
  EXPECT_TRUE(failsWith("expects a tensor from each of 8 ranks, got 7",
                        [&] { collect(locals, placement, grid, f64); }));
}
