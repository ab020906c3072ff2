#include "colrow/KernelsSoftmax.h"

#include "KernelTest.h"

using namespace colrow;

namespace {

std::vector<double> reference(const std::vector<double> &x, int64_t columns) {
  std::vector<double> y(x.size());
  for (size_t row = 0; row < x.size(); row += size_t(columns)) {
    double most = -INFINITY, sum = 0;
    for (size_t i = row; i < row + size_t(columns); ++i)
      most = std::max(most, x[i]);
    for (size_t i = row; i < row + size_t(columns); ++i)
      sum += y[i] = std::exp(x[i] - most);
    for (size_t i = row; i < row + size_t(columns); ++i)
      y[i] /= sum;
  }
  return y;
}

TEST(Softmax, EqualsNaiveAndItsGradientTheSlope) {
  KernelContext ctx;
  for (const Shape &shape : {Shape{1}, Shape{17}, Shape{2, 3, 5}, Shape{5, 1}, Shape{3, 33},
                             Shape{0, 4}, Shape{4, 0}}) {
    Owned<float> x = randomTensor(shape, 1), dy = randomTensor(shape, 2);
    for (float &value : x.values)
      value *= 5;
    Owned<float> y(shape, NAN), dx(shape, NAN);
    softmax(ctx, x, y);
    int64_t columns = std::max<int64_t>(shape.back(), 1);
    expectNear(y.values, reference(toDouble(x.values), columns), 5e-7);
    softmaxGrad(ctx, dy, y, dx);
    auto loss = [&](const std::vector<double> &at) {
      return dot(toDouble(dy.values), reference(at, columns));
    };
    expectNear(dx.values, numericGradient(loss, toDouble(x.values)), 1e-6);
    softmax(ctx, x, x);
    EXPECT_EQ(x.values, y.values);
  }
}

TEST(Softmax, LargeAndHiddenElements) {
  KernelContext ctx;
  float inf = INFINITY;
  Owned<float> x({3, 3}, std::vector<float>{1000, 1000, -inf, -inf, 5, -inf, -inf, -inf, -inf});
  Owned<float> y({3, 3});
  softmax(ctx, x, y);
  EXPECT_FLOAT_EQ(y[0], 0.5f);
  EXPECT_EQ(y[2], 0.0f);
  EXPECT_EQ(y[3], 0.0f);
  EXPECT_EQ(y[4], 1.0f);
  for (int i = 6; i < 9; ++i)
    EXPECT_TRUE(std::isnan(y[i])); // nothing to choose from
}

} // namespace
