#include "colrow/KernelsShape.h"

#include "KernelTest.h"

#include <algorithm>
#include <numeric>

using namespace colrow;

namespace {

/// 0, 1, 2, ...: every element tells where it came from.
Owned<float> counted(const Shape &shape) {
  Owned<float> tensor(shape);
  std::iota(tensor.values.begin(), tensor.values.end(), 0.0f);
  return tensor;
}

TEST(Transpose, EveryPermutation) {
  KernelContext ctx;
  for (const Shape &shape :
       {Shape{2, 3, 5, 7}, Shape{1, 20, 33, 2}, Shape{19, 1, 1, 40}, Shape{3, 0, 2, 2}}) {
    Owned<float> in = counted(shape);
    std::vector<int64_t> order{0, 1, 2, 3};
    do {
      Dims permutation{order[0], order[1], order[2], order[3]};
      Owned<float> out(in.view().permuted(permutation).shape, -1);
      transpose(ctx, in, permutation, out.view());
      for (const auto &to : allIndices(out.shape)) {
        std::vector<int64_t> from(4);
        for (size_t i = 0; i < 4; ++i)
          from[size_t(order[i])] = to[i];
        ASSERT_EQ(out[positionOf(to, out.shape)], in[positionOf(from, shape)]);
      }
    } while (std::next_permutation(order.begin(), order.end()));
  }
  Owned<float> in({2, 3}), out({3, 2});
  EXPECT_THROW(transpose(ctx, in, {0, 0}, out.view()), std::invalid_argument);
  EXPECT_THROW(transpose(ctx, in, {0, 1}, out.view()), std::invalid_argument);
}

TEST(BroadcastTo, NumpyRule) {
  KernelContext ctx;
  const std::pair<Shape, Shape> cases[] = {{{}, {3, 4}},           {{1}, {5}},
                                           {{7}, {3, 7}},          {{3, 1}, {3, 19}},
                                           {{2, 1, 5}, {2, 3, 5}}, {{1, 3, 1}, {2, 3, 4}},
                                           {{1, 1}, {0, 3}}};
  for (auto &[from, to] : cases) {
    Owned<float> in = counted(from), out(to, -1);
    broadcastTo(ctx, in, out.view());
    for (const auto &index : allIndices(to)) {
      std::vector<int64_t> source(index.end() - from.rank(), index.end());
      for (int i = 0; i < from.rank(); ++i)
        if (from[i] == 1)
          source[size_t(i)] = 0;
      ASSERT_EQ(out[positionOf(index, to)], in[positionOf(source, from)]);
    }
  }
  Owned<float> in({3}), out({4});
  EXPECT_THROW(broadcastTo(ctx, in, out.view()), std::invalid_argument);
}

TEST(Slice, StartsLimitsAndSteps) {
  KernelContext ctx;
  struct Case {
    Shape shape;
    Dims starts, limits, steps;
    Shape part;
  };
  const Case cases[] = {
      {{10}, {2}, {7}, {1}, {5}},
      {{10}, {1}, {10}, {3}, {3}},
      {{10}, {9}, {-1}, {-1}, {10}},
      {{10}, {8}, {1}, {-3}, {3}},
      {{10}, {4}, {4}, {1}, {0}},
      {{4, 9}, {1, 2}, {3, 9}, {1, 2}, {2, 4}},
      {{3, 4, 5}, {2, 0, 4}, {-1, 4, -1}, {-1, 3, -2}, {3, 2, 3}},
      {{2, 1, 3}, {0, 0, 1}, {2, 1, 2}, {1, 1, 1}, {2, 1, 1}},
  };
  for (const Case &c : cases) {
    Owned<float> in = counted(c.shape), out(c.part, -1);
    slice(ctx, in, c.starts, c.limits, c.steps, out.view());
    for (const auto &index : allIndices(c.part)) {
      std::vector<int64_t> source = index;
      for (int i = 0; i < c.part.rank(); ++i)
        source[size_t(i)] = c.starts[i] + index[size_t(i)] * c.steps[i];
      ASSERT_EQ(out[positionOf(index, c.part)], in[positionOf(source, c.shape)]);
    }
  }
  Owned<float> in({10}), out({5});
  EXPECT_THROW(slice(ctx, in, {2}, {8}, {1}, out.view()), std::invalid_argument);
  EXPECT_THROW(slice(ctx, in, {6}, {11}, {1}, out.view()), std::invalid_argument);
  EXPECT_THROW(slice(ctx, in, {2}, {7}, {0}, out.view()), std::invalid_argument);
  EXPECT_THROW(slice(ctx, in, {-1}, {4}, {1}, out.view()), std::invalid_argument);
}

TEST(Pad, AroundAndBetween) {
  KernelContext ctx;
  struct Case {
    Shape shape;
    Dims low, high, steps;
    Shape padded;
  };
  const Case cases[] = {
      {{2, 3}, {1, 0}, {1, 3}, {1, 1}, {4, 6}},
      {{4}, {2}, {1}, {3}, {13}},
      {{2, 1, 3}, {0, 2, 1}, {0, 0, 2}, {4, 5, 2}, {5, 3, 8}},
      {{0, 2}, {1, 0}, {1, 0}, {3, 1}, {2, 2}},
      {{3, 2}, {0, 0}, {0, 0}, {1, 1}, {3, 2}},
  };
  for (const Case &c : cases) {
    Owned<float> in = counted(c.shape), out(c.padded, NAN), back(c.shape, NAN);
    pad(ctx, in, c.low, c.high, c.steps, 9.0f, out.view());
    std::vector<float> expected(out.values.size(), 9.0f);
    Dims limits = c.low;
    for (int i = 0; i < c.shape.rank(); ++i)
      limits[i] += c.shape[i] == 0 ? 0 : (c.shape[i] - 1) * c.steps[i] + 1;
    for (const auto &index : allIndices(c.shape)) {
      std::vector<int64_t> to = index;
      for (int i = 0; i < c.shape.rank(); ++i)
        to[size_t(i)] = c.low[i] + index[size_t(i)] * c.steps[i];
      expected[size_t(positionOf(to, c.padded))] = in[positionOf(index, c.shape)];
    }
    EXPECT_EQ(out.values, expected);
    slice(ctx, out, c.low, limits, c.steps, back.view());
    EXPECT_EQ(back.values, in.values);
  }
  Owned<int64_t> ids({0}), padded({2});
  pad(ctx, ids, {0}, {2}, {1}, -100, padded.view());
  EXPECT_EQ(padded.values, (std::vector<int64_t>{-100, -100}));
  Owned<float> in({2}), out({3});
  EXPECT_THROW(pad(ctx, in, {1}, {1}, {1}, 0.0f, out.view()), std::invalid_argument);
  EXPECT_THROW(pad(ctx, in, {2}, {-1}, {1}, 0.0f, out.view()), std::invalid_argument);
}

TEST(Concat, AlongEveryAxis) {
  KernelContext ctx;
  for (int axis = 0; axis < 3; ++axis) {
    Shape shapes[3] = {{2, 3, 5}, {2, 3, 5}, {2, 3, 5}}, whole{2, 3, 5};
    shapes[1][axis] = 0;
    shapes[2][axis] = 4;
    whole[axis] += 4;
    Owned<float> a = randomTensor(shapes[0], 1), b(shapes[1]), c = randomTensor(shapes[2], 2);
    Owned<float> out(whole, NAN), first(shapes[0]), second(shapes[2]);
    concat(ctx, {a, b, c}, axis, out.view());
    Dims starts{0, 0, 0}, steps{1, 1, 1};
    slice(ctx, out, starts, shapes[0], steps, first.view());
    starts[axis] = shapes[0][axis];
    slice(ctx, out, starts, whole, steps, second.view());
    EXPECT_EQ(first.values, a.values);
    EXPECT_EQ(second.values, c.values);
    EXPECT_THROW(concat(ctx, {a, a, c}, axis, out.view()), std::invalid_argument);
    EXPECT_THROW(concat(ctx, {a}, axis, out.view()), std::invalid_argument);
  }
}

TEST(Iota, CountsGlobally) {
  KernelContext ctx;
  IndexMap map(LocalDim{{12, {{"tp", 2, 3, 1}}}, {1}}); // 2 3 6 7 10 11
  Owned<int64_t> out({2, 6, 2});
  iota(ctx, 1, map, 100, 10, out.view());
  const int64_t global[] = {2, 3, 6, 7, 10, 11};
  for (int64_t i = 0; i < 24; ++i)
    EXPECT_EQ(out[i], 100 + 10 * global[i / 2 % 6]);
  Owned<float> plain({4});
  iota(ctx, 0, 4, 0.5f, -1.0f, plain.view());
  EXPECT_EQ(plain.values, (std::vector<float>{0.5f, -0.5f, -1.5f, -2.5f}));
  EXPECT_THROW(iota(ctx, 0, 5, 0.0f, 1.0f, plain.view()), std::invalid_argument);
}

TEST(Cast, BetweenAllElementTypes) {
  KernelContext ctx;
  Owned<float> x({5}, std::vector<float>{0, -0.0f, 1.7f, -1.7f, NAN}), back({5});
  Owned<uint8_t> truth({5});
  Owned<int64_t> whole({4});
  cast(ctx, x.view(), truth.view());
  EXPECT_EQ(truth.values, (std::vector<uint8_t>{0, 0, 1, 1, 1}));
  cast(ctx, ConstTensor(x.values.data(), {4}), whole.view());
  EXPECT_EQ(whole.values, (std::vector<int64_t>{0, 0, 1, -1}));
  cast(ctx, truth.view(), back.view());
  EXPECT_EQ(back.values, (std::vector<float>{0, 0, 1, 1, 1}));
}

TEST(MaskPadding, ByGlobalIndex) {
  KernelContext ctx;
  IndexMap map(LocalDim{{12, {{"tp", 2, 3, 1}}}, {1}}); // 2 3 6 7 10 11
  Owned<float> in = counted({2, 6, 3}), out({2, 6, 3}, NAN);
  for (int64_t valid : {0, 3, 7, 11, 12}) {
    maskPadding(ctx, in, 1, map, valid, -1.0f, out.view());
    for (const auto &i : allIndices(in.shape)) {
      int64_t at = positionOf(i, in.shape);
      EXPECT_EQ(out[at], map.globalIndex(i[1]) < valid ? in[at] : -1.0f);
    }
  }
  Owned<float> inPlace = in;
  maskPadding(ctx, inPlace, 1, map, 12, -1.0f, inPlace.view());
  EXPECT_EQ(inPlace.values, in.values);
}

TEST(FillAndCopy, LeaveWhatIsBetween) {
  KernelContext ctx;
  Owned<float> out({3, 5}, 1.0f), in = counted({3, 2});
  View<float> part(out.values.data() + 1, {3, 2}, {5, 1});
  fill(ctx, 7, part);
  EXPECT_EQ(std::count(out.values.begin(), out.values.end(), 7.0f), 6);
  EXPECT_EQ(out[1], 7.0f);
  EXPECT_EQ(out[12], 7.0f);
  copy(ctx, in, part);
  EXPECT_EQ(out[12], 5.0f);
  EXPECT_EQ(out[0], 1.0f);
}

} // namespace
