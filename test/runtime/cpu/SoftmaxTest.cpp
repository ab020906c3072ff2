#include "colrow/KernelsSoftmax.h"

#include "KernelTest.h"

using namespace colrow;

namespace {

/// Along one axis of a tensor seen as [outer, size, inner].
std::vector<double> reference(const std::vector<double> &x, const Shape &shape, int axis) {
  std::vector<double> y(x.size());
  for (const auto &index : allIndices(shape)) {
    auto at = [&](int64_t i) {
      auto other = index;
      other[size_t(axis)] = i;
      return x[size_t(positionOf(other, shape))];
    };
    double most = -INFINITY, sum = 0;
    for (int64_t i = 0; i < shape[axis]; ++i)
      most = std::max(most, at(i));
    for (int64_t i = 0; i < shape[axis]; ++i)
      sum += std::exp(at(i) - most);
    y[size_t(positionOf(index, shape))] = std::exp(at(index[size_t(axis)]) - most) / sum;
  }
  return y;
}

TEST(Softmax, EqualsNaiveAndItsGradientTheSlope) {
  KernelContext ctx;
  for (const Shape &shape :
       {Shape{1}, Shape{17}, Shape{2, 3, 5}, Shape{5, 1}, Shape{3, 33}, Shape{0, 4}, Shape{4, 0}})
    for (int axis = 0; axis < shape.rank(); ++axis) {
      Owned<float> x = randomTensor(shape, 1), dy = randomTensor(shape, 2);
      for (float &value : x.values)
        value *= 5;
      Owned<float> y(shape, NAN), dx(shape, NAN);
      softmax(ctx, x, axis, y);
      expectNear(y.values, reference(toDouble(x.values), shape, axis), 5e-7);
      softmaxGrad(ctx, dy, y, axis, dx);
      auto loss = [&](const std::vector<double> &at) {
        return dot(toDouble(dy.values), reference(at, shape, axis));
      };
      expectNear(dx.values, numericGradient(loss, toDouble(x.values)), 1e-6);
      softmax(ctx, x, axis, x);
      EXPECT_EQ(x.values, y.values);
    }
}

TEST(Softmax, LargeAndHiddenElements) {
  KernelContext ctx;
  float inf = INFINITY;
  Owned<float> x({3, 3}, std::vector<float>{1000, 1000, -inf, -inf, 5, -inf, -inf, -inf, -inf});
  Owned<float> y({3, 3});
  softmax(ctx, x, 1, y);
  EXPECT_FLOAT_EQ(y[0], 0.5f);
  EXPECT_EQ(y[2], 0.0f);
  EXPECT_EQ(y[3], 0.0f);
  EXPECT_EQ(y[4], 1.0f);
  for (int i = 6; i < 9; ++i)
    EXPECT_TRUE(std::isnan(y[i])); // nothing to choose from
}

} // namespace
