#include "colrow/KernelsReduce.h"

#include "KernelTest.h"

#include <limits>

using namespace colrow;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

template <typename Combine>
std::vector<double> naive(const Owned<float> &in, const std::vector<int64_t> &axes, double neutral,
                          const Combine &combine, Shape &outShape) {
  outShape = in.shape;
  for (int64_t axis : axes)
    outShape[int(axis)] = 1;
  std::vector<double> out(size_t(outShape.numel()), neutral);
  int64_t at = 0;
  for (std::vector<int64_t> index : allIndices(in.shape)) {
    for (int64_t axis : axes)
      index[size_t(axis)] = 0;
    double &value = out[size_t(positionOf(index, outShape))];
    value = combine(value, double(in[at++]));
  }
  return out;
}

Dims dimsOf(const std::vector<int64_t> &values) {
  Dims dims;
  for (int64_t value : values)
    dims.append(value);
  return dims;
}

TEST(Reduce, EqualsNaiveLoops) {
  KernelContext ctx;
  const Shape shapes[] = {{7},        {1},          {3, 5},    {17, 9}, {2, 3, 4},
                          {5, 1, 13}, {2, 3, 5, 7}, {4, 0, 3}, {0},     {33, 65}};
  for (const Shape &shape : shapes) {
    Owned<float> in = randomTensor(shape);
    for (int subset = 0; subset < 1 << shape.rank(); ++subset) {
      std::vector<int64_t> axes;
      for (int i = shape.rank(); i-- > 0;) // order must not matter
        if (subset >> i & 1)
          axes.push_back(i);
      Shape kept;
      auto run = [&](auto kernel, double neutral, auto combine, const char *what) {
        std::vector<double> expected = naive(in, axes, neutral, combine, kept);
        Owned<float> out(kept, NAN);
        kernel(ctx, in.view(), dimsOf(axes), out.view());
        expectNear(out.values, expected, 1e-6, what);
      };
      run(
          reduceSum<float>, 0, [](double x, double y) { return x + y; }, "sum");
      run(
          reduceProd<float>, 1, [](double x, double y) { return x * y; }, "prod");
      run(
          reduceMax<float>, -infinity, [](double x, double y) { return std::max(x, y); }, "max");
      run(
          reduceMin<float>, infinity, [](double x, double y) { return std::min(x, y); }, "min");
    }
  }
}

TEST(Reduce, LongSumsStayExact) {
  KernelContext ctx;
  int64_t count = 3000017;
  Owned<float> in({count}, 0.1f), out(Shape{});
  reduceSum(ctx, in, {0}, out.view());
  EXPECT_FLOAT_EQ(out[0], float(double(0.1f) * double(count)));
  reduceSum(ctx, ConstTensor(in.values.data(), {count, 1}), {0}, out.view());
  EXPECT_FLOAT_EQ(out[0], float(double(0.1f) * double(count)));
}

TEST(Reduce, NaNAndInfinity) {
  KernelContext ctx;
  float nan = NAN, inf = INFINITY;
  for (int64_t at = 0; at < 19; ++at) {
    Owned<float> in = randomTensor({19}), out(Shape{});
    in[at] = nan;
    reduceMax(ctx, in, {0}, out.view());
    EXPECT_TRUE(std::isnan(out[0])) << at;
    reduceMin(ctx, in, {0}, out.view());
    EXPECT_TRUE(std::isnan(out[0])) << at;
    in[at] = inf;
    reduceMax(ctx, in, {0}, out.view());
    EXPECT_EQ(out[0], inf);
    reduceSum(ctx, in, {0}, out.view());
    EXPECT_EQ(out[0], inf);
  }
  Owned<float> hidden({2, 3}, -inf), most({2});
  reduceMax(ctx, hidden, {1}, most.view());
  EXPECT_EQ(most[0], -inf);
}

TEST(Reduce, Integers) {
  KernelContext ctx;
  Owned<int64_t> in({2, 3}, std::vector<int64_t>{1, -5, 3, (int64_t(1) << 60) + 1, 2, 0}), out({2});
  reduceSum(ctx, in, {1}, out.view());
  EXPECT_EQ(out.values, (std::vector<int64_t>{-1, (int64_t(1) << 60) + 3}));
  reduceMax(ctx, in, {1}, out.view());
  EXPECT_EQ(out.values, (std::vector<int64_t>{3, (int64_t(1) << 60) + 1}));
  reduceMin(ctx, in, {1}, out.view());
  EXPECT_EQ(out.values, (std::vector<int64_t>{-5, 0}));
  reduceProd(ctx, in, {1}, out.view());
  EXPECT_EQ(out.values, (std::vector<int64_t>{-15, 0}));
}

TEST(Reduce, RefusesWrongAxesAndResults) {
  KernelContext ctx;
  Owned<float> in({2, 3}), out({2}), wrong({3});
  EXPECT_THROW(reduceSum(ctx, in, {2}, out.view()), std::invalid_argument);
  EXPECT_THROW(reduceSum(ctx, in, {1, 1}, out.view()), std::invalid_argument);
  EXPECT_THROW(reduceSum(ctx, in, {1}, wrong.view()), std::invalid_argument);
}

TEST(Cumsum, EqualsNaiveLoopsAndItsTransposeIsReversed) {
  KernelContext ctx;
  for (const Shape &shape : {Shape{7}, Shape{3, 5, 4}, Shape{2, 0}, Shape{1, 17}})
    for (int axis = 0; axis < shape.rank(); ++axis)
      for (bool exclusive : {false, true})
        for (bool reverse : {false, true}) {
          Owned<float> in = randomTensor(shape, 1), out(shape), weight = randomTensor(shape, 2);
          cumsum(ctx, in, axis, exclusive, reverse, out.view());
          std::vector<double> expected(in.values.size());
          for (const auto &to : allIndices(shape))
            for (int64_t i = 0; i < shape[axis]; ++i) {
              auto from = to;
              from[size_t(axis)] = i;
              int64_t distance = reverse ? i - to[size_t(axis)] : to[size_t(axis)] - i;
              if (distance > 0 || (distance == 0 && !exclusive))
                expected[size_t(positionOf(to, shape))] += double(in[positionOf(from, shape)]);
            }
          expectNear(out.values, expected, 1e-6);
          // <w, C x> = <C' w, x>
          Owned<float> gradient(shape);
          cumsum(ctx, weight, axis, exclusive, !reverse, gradient.view());
          EXPECT_NEAR(dot(toDouble(weight.values), toDouble(out.values)),
                      dot(toDouble(gradient.values), toDouble(in.values)), 1e-5);
        }
}

} // namespace
