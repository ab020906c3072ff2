#include "Testing.h"

#include "runtime/reference/Shape.h"

using namespace colrow::reference;

namespace {

/// Whether two tensors share storage (their elements are read from one place).
bool sharesStorage(const Tensor &a, const Tensor &b) {
  return a.data<double>() == b.data<double>();
}

} // namespace

TEST(Reshape, OfContiguousIsAView) {
  Tensor x = counted({2, 6}), y = reshape(x, {3, 1, 4});
  EXPECT_TRUE(sharesStorage(x, y));
  EXPECT_EQ(y.toFloats(), x.toFloats());
  EXPECT_EQ(y.floatAt({1, 0, 2}), 6);
  EXPECT_EQ(reshape(counted({1}), {}).item(), 0);
  EXPECT_EQ(reshape(counted({0, 3}), {5, 0}).shape(), (Shape{5, 0}));
  EXPECT_TRUE(failsWith("reshape: f32[2x6] has not the size of [5]", [&] { reshape(x, {5}); }));
}

TEST(Reshape, SplitsAnAxisOfATransposeWithoutCopy) {
  Tensor x = transpose(counted({6, 4}), {1, 0}); // [4, 6], strides 1, 4
  Tensor y = reshape(x, {4, 2, 3});
  EXPECT_TRUE(sharesStorage(x, y));
  EXPECT_EQ(y.toFloats(), x.toFloats());
}

TEST(Reshape, MergingATransposeCopies) {
  Tensor x = transpose(counted({2, 3}), {1, 0}), y = reshape(x, {6});
  EXPECT_FALSE(sharesStorage(x, y));
  EXPECT_EQ(y.toFloats(), (Floats{0, 3, 1, 4, 2, 5}));
}

TEST(Reshape, KeepsALazyBroadcastLazy) {
  Tensor mask = broadcastTo(counted({1, 1, 4, 4}), {8, 12, 4, 4});
  Tensor y = reshape(mask, {96, 16});
  EXPECT_TRUE(sharesStorage(mask, y));
  EXPECT_EQ(y.strides(), (Shape{0, 1}));
  EXPECT_EQ(y.floatAt({95, 7}), 7);
}

TEST(Reshape, EqualsMaterializedOneOnManyViews) {
  Tensor x = counted({2, 3, 4});
  std::vector<Tensor> views;
  for (auto permutation : std::vector<Shape>{{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {2, 1, 0}})
    views.push_back(transpose(x, permutation));
  views.push_back(slice(counted({4, 3, 4}), {0, 0, 0}, {4, 3, 4}, {2, 1, 1}));
  views.push_back(reverse(x, {0, 2}));
  views.push_back(broadcastTo(counted({2, 1, 4}), {2, 3, 4}));
  for (const Tensor &view : views)
    for (const Shape &shape : std::vector<Shape>{
             {24}, {2, 12}, {6, 4}, {3, 8}, {1, 2, 1, 3, 4, 1}, {2, 3, 2, 2}, {4, 3, 2}})
      EXPECT_TRUE(identical(reshape(view, shape), reshape(view.materialize(), shape)));
}

TEST(Transpose, MovesAxes) {
  Tensor x = counted({2, 3, 4}), y = transpose(x, {2, 0, 1});
  EXPECT_EQ(y.shape(), (Shape{4, 2, 3}));
  EXPECT_EQ(y.floatAt({3, 1, 2}), x.floatAt({1, 2, 3}));
  EXPECT_TRUE(identical(transpose(y, {1, 2, 0}), x));
  EXPECT_TRUE(failsWith("axis 0 occurs twice", [&] { transpose(x, {0, 0, 1}); }));
  EXPECT_TRUE(failsWith("f32[2x3x4] has no axis 3", [&] { transpose(x, {0, 1, 3}); }));
  EXPECT_TRUE(failsWith("one number for each axis", [&] { transpose(x, {0, 1}); }));
}

TEST(BroadcastTo, RepeatsLazily) {
  Tensor y = broadcastTo(vectorOf({1, 2}), {3, 2});
  EXPECT_EQ(y.toFloats(), (Floats{1, 2, 1, 2, 1, 2}));
  EXPECT_EQ(y.strides(), (Shape{0, 1}));
  EXPECT_TRUE(failsWith("f32[2x3] does not broadcast to [2x1]", [] {
    broadcastTo(counted({2, 3}), {2, 1});
  }));
  EXPECT_TRUE(failsWith("do not broadcast", [] { broadcastTo(counted({2}), {3}); }));
}

TEST(Slice, ForwardAndBackward) {
  Tensor x = counted({6});
  EXPECT_EQ(slice(x, {1}, {5}, {1}).toFloats(), (Floats{1, 2, 3, 4}));
  EXPECT_EQ(slice(x, {1}, {6}, {2}).toFloats(), (Floats{1, 3, 5}));
  EXPECT_EQ(slice(x, {5}, {-1}, {-1}).toFloats(), (Floats{5, 4, 3, 2, 1, 0}));
  EXPECT_EQ(slice(x, {4}, {0}, {-2}).toFloats(), (Floats{4, 2}));
  EXPECT_EQ(slice(x, {3}, {3}, {1}).size(), 0);
  EXPECT_EQ(slice(x, {2}, {5}, {-1}).size(), 0);
  EXPECT_EQ(slice(x, {6}, {9}, {-1}).size(), 0);
  EXPECT_TRUE(failsWith("elements 4 to 6 on axis 0 are outside of f32[6]",
                        [&] { slice(x, {4}, {7}, {1}); }));
  EXPECT_TRUE(failsWith("step on axis 0 is 0", [&] { slice(x, {0}, {1}, {0}); }));
}

TEST(Slice, OfASlice) {
  Tensor x = counted({4, 5});
  Tensor y = slice(slice(x, {1, 4}, {4, -1}, {1, -2}), {0, 1}, {3, 3}, {2, 1});
  EXPECT_EQ(y.toFloats(), (Floats{7, 5, 17, 15}));
}

TEST(Reverse, IsItsOwnInverse) {
  Tensor x = counted({2, 3});
  EXPECT_EQ(reverse(x, {1}).toFloats(), (Floats{2, 1, 0, 5, 4, 3}));
  EXPECT_TRUE(identical(reverse(reverse(x, {0, 1}), {1, 0}), x));
}

TEST(Concat, JoinsAlongAnAxis) {
  Tensor a = counted({2, 2}), b = transpose(counted({1, 2}), {1, 0});
  EXPECT_EQ(concat({a, b}, 1).toFloats(), (Floats{0, 1, 0, 2, 3, 1}));
  EXPECT_EQ(concat({a, counted({0, 2}), a}, 0).toFloats(), (Floats{0, 1, 2, 3, 0, 1, 2, 3}));
  EXPECT_EQ(concat({integersOf({1}), integersOf({2, 3})}, 0).toIntegers(), (Integers{1, 2, 3}));
  EXPECT_TRUE(failsWith("f32[2x2] and f32[2x1] do not join along axis 0", [&] {
    concat({a, b}, 0);
  }));
  EXPECT_TRUE(failsWith("do not join", [&] { concat({a, integersOf({1})}, 0); }));
  EXPECT_TRUE(failsWith("at least one", [] { concat({}, 0); }));
}

TEST(Concat, UndoneBySlices) {
  Tensor x = randomTensor({3, 5, 2}, 3);
  Tensor left = slice(x, {0, 0, 0}, {3, 2, 2}, {1, 1, 1}),
         right = slice(x, {0, 2, 0}, {3, 5, 2}, {1, 1, 1});
  EXPECT_TRUE(identical(concat({left, right}, 1), x));
}

TEST(Pad, AddsAndDrops) {
  Tensor x = counted({2, 2});
  EXPECT_EQ(pad(x, {1, 0}, {0, 1}, 9).toFloats(), (Floats{9, 9, 9, 0, 1, 9, 2, 3, 9}));
  EXPECT_EQ(pad(x, {0, -1}, {0, 2}, 9).toFloats(), (Floats{1, 9, 9, 3, 9, 9}));
  EXPECT_EQ(pad(x, {0, 0}, {-1, 0}, 9).toFloats(), (Floats{0, 1}));
  EXPECT_EQ(pad(integersOf({5}), {0}, {1}, -100).toIntegers(), (Integers{5, -100}));
  EXPECT_TRUE(failsWith("fewer elements than are dropped", [&] { pad(x, {-3, 0}, {0, 0}, 0); }));
}
