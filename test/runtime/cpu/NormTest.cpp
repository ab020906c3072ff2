#include "colrow/KernelsNorm.h"

#include "KernelTest.h"

using namespace colrow;

namespace {

constexpr double epsilon = 1e-3; // large enough to matter

/// Layer norm, or RMS norm if not `centred`, in double. Empty w and b are absent.
std::vector<double> reference(const std::vector<double> &x, const std::vector<double> &w,
                              const std::vector<double> &b, size_t columns, bool centred) {
  std::vector<double> y(x.size());
  for (size_t row = 0; row < x.size(); row += columns) {
    double mean = 0, variance = 0;
    for (size_t j = 0; centred && j < columns; ++j)
      mean += x[row + j] / double(columns);
    for (size_t j = 0; j < columns; ++j)
      variance += (x[row + j] - mean) * (x[row + j] - mean) / double(columns);
    for (size_t j = 0; j < columns; ++j) {
      double value = (x[row + j] - mean) / std::sqrt(variance + epsilon);
      y[row + j] = value * (w.empty() ? 1 : w[j]) + (b.empty() ? 0 : b[j]);
    }
  }
  return y;
}

struct Case {
  Shape x, statistics;
  int64_t columns;
};
const Case cases[] = {{{3, 5}, {3}, 5}, {{2, 3, 16}, {2, 3}, 16}, {{1, 37}, {1, 1}, 37},
                      {{7, 1}, {7}, 1}, {{0, 8}, {0}, 8},         {{4, 3, 5}, {4}, 15}};

TEST(LayerNorm, EqualsNaiveAndItsGradientTheSlope) {
  KernelContext ctx;
  for (const Case &c : cases)
    for (int present = 0; present < 4; ++present) {
      Owned<float> x = randomTensor(c.x, 1), dy = randomTensor(c.x, 2), y(c.x, NAN), dx(c.x, NAN);
      Owned<float> mean(c.statistics), rstd(c.statistics);
      Owned<float> w, b, dw, db;
      if (present & 1)
        w = randomTensor({c.columns}, 3), dw = Owned<float>({c.columns}, NAN);
      if (present & 2)
        b = randomTensor({c.columns}, 4), db = Owned<float>({c.columns}, NAN);
      auto given = [](Owned<float> &tensor) {
        return tensor.values.empty() ? Tensor() : tensor.view();
      };
      layerNorm(ctx, x, given(w), given(b), epsilon, y, mean, rstd);
      layerNormGrad(ctx, dy, x, given(w), mean, rstd, dx, given(dw), given(db));

      std::vector<double> xs = toDouble(x.values), ws = toDouble(w.values);
      std::vector<double> bs = toDouble(b.values), dys = toDouble(dy.values);
      size_t columns = size_t(c.columns);
      expectNear(y.values, reference(xs, ws, bs, columns, true), 2e-6);
      auto ofX = [&](const std::vector<double> &at) {
        return dot(dys, reference(at, ws, bs, columns, true));
      };
      auto ofW = [&](const std::vector<double> &at) {
        return dot(dys, reference(xs, at, bs, columns, true));
      };
      auto ofB = [&](const std::vector<double> &at) {
        return dot(dys, reference(xs, ws, at, columns, true));
      };
      expectNear(dx.values, numericGradient(ofX, xs), 1e-5, "dx");
      expectNear(dw.values, numericGradient(ofW, ws), 5e-6, "dw");
      expectNear(db.values, numericGradient(ofB, bs), 5e-6, "db");
    }
}

TEST(LayerNorm, FarFromZeroStaysExact) {
  KernelContext ctx;
  Owned<float> x = randomTensor({2, 64}), y(x.shape), mean({2}), rstd({2});
  for (float &value : x.values)
    value += 1000;
  layerNorm(ctx, x, {}, {}, 1e-5, y, mean, rstd);
  double sum = 0, squares = 0;
  for (int64_t i = 0; i < 64; ++i)
    sum += double(y[i]), squares += double(y[i]) * double(y[i]);
  EXPECT_NEAR(sum / 64, 0, 1e-4);
  EXPECT_NEAR(squares / 64, 1, 1e-4);
}

TEST(RmsNorm, EqualsNaiveAndItsGradientTheSlope) {
  KernelContext ctx;
  for (const Case &c : cases)
    for (bool weighted : {false, true}) {
      Owned<float> x = randomTensor(c.x, 1), dy = randomTensor(c.x, 2), y(c.x, NAN), dx(c.x, NAN);
      Owned<float> rstd(c.statistics), w, dw;
      if (weighted)
        w = randomTensor({c.columns}, 3), dw = Owned<float>({c.columns}, NAN);
      Tensor weight = weighted ? w.view() : Tensor(), dWeight = weighted ? dw.view() : Tensor();
      rmsNorm(ctx, x, weight, epsilon, y, rstd);
      rmsNormGrad(ctx, dy, x, weight, rstd, dx, dWeight);

      std::vector<double> xs = toDouble(x.values), ws = toDouble(w.values);
      std::vector<double> dys = toDouble(dy.values);
      size_t columns = size_t(c.columns);
      expectNear(y.values, reference(xs, ws, {}, columns, false), 2e-6);
      auto ofX = [&](const std::vector<double> &at) {
        return dot(dys, reference(at, ws, {}, columns, false));
      };
      auto ofW = [&](const std::vector<double> &at) {
        return dot(dys, reference(xs, at, {}, columns, false));
      };
      expectNear(dx.values, numericGradient(ofX, xs), 1e-5, "dx");
      expectNear(dw.values, numericGradient(ofW, ws), 5e-6, "dw");
    }
}

TEST(Norm, RefusesWhatDoesNotFit) {
  KernelContext ctx;
  Owned<float> x({3, 5}), y({3, 5}), three({3}), four({4}), five({5});
  EXPECT_THROW(layerNorm(ctx, x, {}, {}, 1e-5, y, four, four), std::invalid_argument);
  EXPECT_THROW(layerNorm(ctx, x, four, {}, 1e-5, y, three, three), std::invalid_argument);
  EXPECT_THROW(layerNormGrad(ctx, y, x, {}, three, three, y, five, {}), std::invalid_argument);
  EXPECT_THROW(rmsNorm(ctx, x, four, 1e-5, y, three), std::invalid_argument);
}

} // namespace
