#include "Testing.h"

#include "runtime/reference/Elementwise.h"
#include "runtime/reference/Lookup.h"
#include "runtime/reference/Reduce.h"
#include "runtime/reference/Shape.h"

using namespace colrow;
using namespace colrow::reference;

namespace {

/// The part of an axis that rank `rank` of `ranks` holds.
LocalDim part(int64_t size, int64_t ranks, int64_t rank, int64_t blocks = 1) {
  return {{size, {{"tp", ranks, blocks, 1}}}, {rank}};
}

double dot(const Tensor &a, const Tensor &b) {
  Tensor product = mul(a, b, f64);
  std::vector<int64_t> axes;
  for (int64_t i = 0; i < product.rank(); ++i)
    axes.push_back(i);
  return reduceSum(product, axes, false, f64).item();
}

} // namespace

TEST(Take, Rows) {
  Tensor table = counted({3, 2}), ids = Tensor::integers({2, 2}, {2, 0, 0, 1});
  Tensor rows = take(table, ids, 0, LocalDim::whole(3));
  EXPECT_EQ(rows.shape(), (Shape{2, 2, 2}));
  EXPECT_EQ(rows.toFloats(), (Floats{4, 5, 0, 1, 0, 1, 2, 3}));
}

TEST(Take, ColumnsAndScalarIds) {
  Tensor table = counted({2, 3});
  EXPECT_EQ(take(table, integersOf({2, 0}), 1, LocalDim::whole(3)).toFloats(),
            (Floats{2, 0, 5, 3}));
  Tensor one = take(table, Tensor::scalar(ElementType::i64, 1), 1, LocalDim::whole(3));
  EXPECT_EQ(one.shape(), (Shape{2}));
  EXPECT_EQ(one.toFloats(), (Floats{1, 4}));
  EXPECT_EQ(take(transpose(table, {1, 0}), integersOf({2}, ElementType::i32), 0, LocalDim::whole(3))
                .toFloats(),
            (Floats{2, 5}));
  EXPECT_EQ(take(integersOf({5, 6}), integersOf({1}), 0, LocalDim::whole(2)).toIntegers(),
            (Integers{6}));
}

TEST(Take, NegativeIdsAndErrors) {
  Tensor table = vectorOf({1, 2, 3});
  LocalDim whole = LocalDim::whole(3);
  EXPECT_EQ(take(table, integersOf({-1, -3}), 0, whole, true).toFloats(), (Floats{3, 1}));
  EXPECT_TRUE(failsWith("take: index -1 is outside of the 3 elements of axis 0",
                        [&] { take(table, integersOf({-1}), 0, whole); }));
  EXPECT_TRUE(failsWith("index 3 is outside", [&] { take(table, integersOf({3}), 0, whole); }));
  EXPECT_TRUE(
      failsWith("index -4 is outside", [&] { take(table, integersOf({-4}), 0, whole, true); }));
  EXPECT_TRUE(failsWith("expects integers as indices, got f32[1]",
                        [&] { take(table, vectorOf({1}), 0, whole); }));
  EXPECT_TRUE(failsWith("[3] has no axis 1", [&] { take(table, integersOf({0}), 1, whole); }));
  EXPECT_TRUE(failsWith("axis 0 of [3] should hold 4 elements",
                        [&] { take(table, integersOf({0}), 0, LocalDim::whole(4)); }));
}

TEST(Take, RanksOfACutTableAddUpToTheWhole) {
  Tensor table = randomTensor({12, 3}, 1), ids = integersOf({0, 11, 5, 6, 5});
  Tensor whole = take(table, ids, 0, LocalDim::whole(12));
  for (int64_t blocks : {1, 3}) {
    Tensor sum = Tensor::full(ElementType::f32, {5, 3}, 0);
    for (int64_t rank = 0; rank < 2; ++rank) {
      LocalDim held = part(12, 2, rank, blocks);
      Integers rows;
      for (int64_t i = 0; i < 6; ++i)
        rows.push_back(held.globalIndex(i));
      Tensor local = take(table, integersOf(rows), 0, LocalDim::whole(12));
      sum = add(sum, take(local, ids, 0, held), f64);
    }
    EXPECT_EQ(maxDifference(sum, whole), 0);
  }
}

TEST(Take, GradientAddsUpRepeatedIds) {
  Tensor dy = Tensor::floats({3, 2}, {1, 2, 3, 4, 5, 6}), ids = integersOf({1, 0, 1});
  EXPECT_EQ(takeGrad(ids, dy, {3, 2}, 0, LocalDim::whole(3), f64).toFloats(),
            (Floats{3, 4, 6, 8, 0, 0}));
  // Rank 1 of 2 holds rows 2 and 3 of four; ids 0 and 1 are not its own.
  EXPECT_EQ(takeGrad(integersOf({3, 0, 3}), dy, {2, 2}, 0, part(4, 2, 1), f64).toFloats(),
            (Floats{0, 0, 6, 8}));
  EXPECT_TRUE(failsWith("take_grad: expects a floating gradient of shape [3x2], got f32[2x3]", [&] {
    takeGrad(ids, counted({2, 3}), {3, 2}, 0, LocalDim::whole(3), f64);
  }));
}

// A linear map L and its transpose satisfy <L x, y> = <x, L' y> for all x and y.
TEST(Take, GradientIsTheTranspose) {
  Tensor ids = Tensor::integers({2, 3}, {0, 4, 5, 3, 4, 4});
  for (const LocalDim &held : {LocalDim::whole(6), part(12, 2, 0)}) {
    Tensor x = randomTensor({2, 6, 3}, 1), y = randomTensor({2, 2, 3, 3}, 2);
    EXPECT_NEAR(dot(take(x, ids, 1, held), y), dot(x, takeGrad(ids, y, {2, 6, 3}, 1, held, f64)),
                1e-13);
  }
}

TEST(TakeAlong, ReadsOneElementForEachIndex) {
  Tensor x = counted({2, 3}), ids = Tensor::integers({2, 2}, {2, 0, 1, 1});
  EXPECT_EQ(takeAlong(x, ids, 1, LocalDim::whole(3)).toFloats(), (Floats{2, 0, 4, 4}));
  EXPECT_EQ(takeAlong(x, Tensor::integers({1, 3}, {1, 0, 1}), 0, LocalDim::whole(2)).toFloats(),
            (Floats{3, 1, 5}));
  EXPECT_EQ(takeAlong(x, Tensor::integers({1, 1}, {-1}), 1, LocalDim::whole(3), true).item(), 2);
  EXPECT_TRUE(failsWith("take_along: indices i64[3x1] do not fit into [2x3]", [&] {
    takeAlong(x, Tensor::integers({3, 1}, {0, 0, 0}), 1, LocalDim::whole(3));
  }));
  EXPECT_TRUE(failsWith("index 3 is outside of the 3 elements of axis 1", [&] {
    takeAlong(x, Tensor::integers({2, 1}, {0, 3}), 1, LocalDim::whole(3));
  }));
}

TEST(TakeAlong, MasksWhatOtherRanksHold) {
  Tensor ids = Tensor::integers({1, 3}, {2, 0, 3});
  Tensor x = Tensor::floats({1, 2}, {7, 8}); // columns 2 and 3 of four
  EXPECT_EQ(takeAlong(x, ids, 1, part(4, 2, 1)).toFloats(), (Floats{7, 0, 8}));
  Tensor dy = Tensor::floats({1, 3}, {1, 2, 3});
  EXPECT_EQ(takeAlongGrad(ids, dy, {1, 2}, 1, part(4, 2, 1), f64).toFloats(), (Floats{1, 3}));
}

TEST(TakeAlong, GradientIsTheTranspose) {
  Tensor ids = Tensor::integers({2, 4, 2}, {0, 2, 1, 1, 0, 2, 2, 2, 1, 0, 0, 0, 2, 1, 1, 2});
  for (const LocalDim &held : {LocalDim::whole(3), part(6, 2, 0)}) {
    Tensor x = randomTensor({2, 3, 2}, 1), y = randomTensor({2, 4, 2}, 2);
    EXPECT_NEAR(dot(takeAlong(x, ids, 1, held), y),
                dot(x, takeAlongGrad(ids, y, {2, 3, 2}, 1, held, f64)), 1e-13);
  }
}

TEST(GatherNd, ElementsSlicesAndBatches) {
  Tensor x = counted({2, 2, 2});
  Tensor pairs = Tensor::integers({2, 2}, {0, 1, 1, 0});
  EXPECT_EQ(gatherNd(x, pairs, 0).toFloats(), (Floats{2, 3, 4, 5}));
  EXPECT_EQ(gatherNd(x, Tensor::integers({1, 3}, {1, 0, 1}), 0).toFloats(), (Floats{5}));
  EXPECT_EQ(gatherNd(x, Tensor::integers({2, 1}, {1, 0}), 1).toFloats(), (Floats{2, 3, 4, 5}));
  EXPECT_EQ(gatherNd(x, integersOf({1}), 0).toFloats(), (Floats{4, 5, 6, 7}));
  EXPECT_EQ(gatherNd(x, Tensor::integers({1, 1}, {-2}), 0, true).toFloats(), (Floats{0, 1, 2, 3}));
  EXPECT_EQ(gatherNd(reverse(x, {0, 2}), pairs, 0).toFloats(), (Floats{7, 6, 1, 0}));
  EXPECT_TRUE(failsWith("gather_nd: index 2 is outside of the 2 elements of axis 1", [&] {
    gatherNd(x, Tensor::integers({1, 2}, {0, 2}), 0);
  }));
  EXPECT_TRUE(failsWith("with 1 batch dimensions do not fit to [2x2x2]", [&] {
    gatherNd(x, Tensor::integers({1, 1}, {0}), 1);
  }));
  EXPECT_TRUE(failsWith("do not fit", [&] {
    gatherNd(x, Tensor::integers({1, 4}, {0, 0, 0, 0}), 0);
  }));
}

TEST(GatherNd, GradientIsTheTranspose) {
  Tensor ids = Tensor::integers({2, 3, 1}, {0, 2, 2, 1, 1, 1});
  Tensor x = randomTensor({2, 3, 4}, 1), y = randomTensor({2, 3, 4}, 2);
  EXPECT_NEAR(dot(gatherNd(x, ids, 1), y), dot(x, gatherNdGrad(ids, y, {2, 3, 4}, 1, f64)), 1e-13);
  Tensor pairs = Tensor::integers({4, 2}, {0, 1, 1, 2, 0, 1, 1, 0}), z = randomTensor({4, 4}, 3);
  EXPECT_NEAR(dot(gatherNd(x, pairs, 0), z), dot(x, gatherNdGrad(pairs, z, {2, 3, 4}, 0, f64)),
              1e-13);
}
