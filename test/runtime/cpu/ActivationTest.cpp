#include "colrow/KernelsActivation.h"

#include "KernelTest.h"
#include "colrow/Math.h"

using namespace colrow;

namespace {

/// Values across the range, around 0, and awkward counts.
std::vector<Owned<float>> operands() {
  std::vector<Owned<float>> list;
  for (int64_t count : {0, 1, 7, 64, 101}) {
    Owned<float> x({count});
    for (int64_t i = 0; i < count; ++i)
      x[i] = float(i - count / 2) * 0.13f;
    list.push_back(x);
  }
  return list;
}

double geluReference(double x) { return 0.5 * x * std::erfc(-x / std::sqrt(2.0)); }
double geluTanhReference(double x) {
  return 0.5 * x * (1 + std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x)));
}
double siluReference(double x) { return x / (1 + std::exp(-x)); }

template <typename Forward, typename Backward>
void check(const Forward &forward, const Backward &backward, double (*reference)(double)) {
  for (const Owned<float> &x : operands()) {
    Owned<float> y(x.shape, NAN), dx(x.shape, NAN), dy = randomTensor(x.shape, 3);
    forward(x, y);
    backward(dy, x, dx);
    std::vector<double> expected, slope;
    for (int64_t i = 0; i < x.numel(); ++i) {
      double at = double(x[i]), step = 1e-5;
      expected.push_back(reference(at));
      slope.push_back(double(dy[i]) * (reference(at + step) - reference(at - step)) / (2 * step));
    }
    expectNear(y.values, expected, 5e-7);
    expectNear(dx.values, slope, 2e-6);
    Owned<float> inPlace = x;
    forward(inPlace, inPlace);
    EXPECT_EQ(inPlace.values, y.values);
  }
}

TEST(Activation, Gelu) {
  KernelContext ctx;
  check([&](ConstTensor x, Tensor y) { gelu(ctx, x, Gelu::erf, y); },
        [&](ConstTensor dy, ConstTensor x, Tensor dx) { geluGrad(ctx, dy, x, Gelu::erf, dx); },
        geluReference);
}

TEST(Activation, GeluTanh) {
  KernelContext ctx;
  check([&](ConstTensor x, Tensor y) { gelu(ctx, x, Gelu::tanh, y); },
        [&](ConstTensor dy, ConstTensor x, Tensor dx) { geluGrad(ctx, dy, x, Gelu::tanh, dx); },
        geluTanhReference);
}

TEST(Activation, Silu) {
  KernelContext ctx;
  check([&](ConstTensor x, Tensor y) { silu(ctx, x, y); },
        [&](ConstTensor dy, ConstTensor x, Tensor dx) { siluGrad(ctx, dy, x, dx); }, siluReference);
}

TEST(Math, EqualsDoubleAcrossTheRange) {
  double worstExp = 0, worstTanh = 0, worstErf = 0;
  for (double x = -88; x <= 88.7; x += 0.00137) {
    float f = float(x);
    double exact = double(f);
    if (x > -87.3)
      worstExp = std::max(worstExp, std::abs(double(math::exp(f)) / std::exp(exact) - 1));
    worstTanh = std::max(worstTanh, std::abs(double(math::tanh(f)) - std::tanh(exact)));
    worstErf = std::max(worstErf, std::abs(double(math::erf(f)) - std::erf(exact)));
  }
  EXPECT_LT(worstExp, 2e-7);
  EXPECT_LT(worstTanh, 2e-7);
  EXPECT_LT(worstErf, 2e-7);
  for (float x = 1e-30f; x < 1; x *= 1.37f) // small ones keep their relative precision
    for (float f : {x, -x}) {
      EXPECT_NEAR(math::tanh(f), std::tanh(double(f)), 3e-7 * double(x));
      EXPECT_NEAR(math::erf(f), std::erf(double(f)), 3e-7 * double(x));
      EXPECT_NEAR(math::exp(f) - 1, std::expm1(double(f)), 2e-7 * (1 + double(x)));
    }
  for (double x = -30; x <= 30; x += 0.0371) {
    float f = float(x);
    double exact = double(f);
    EXPECT_NEAR(math::sigmoid(f), 1 / (1 + std::exp(-exact)), 2e-7);
    EXPECT_NEAR(math::softplus(f), std::log1p(std::exp(exact)), 3e-7 * std::max(1.0, exact));
    if (x > 0) {
      EXPECT_NEAR(math::rsqrt(f), 1 / std::sqrt(exact), 3e-7 / std::sqrt(exact));
    }
  }
}

TEST(Math, InfinitiesAndNaN) {
  float inf = INFINITY, nan = NAN;
  EXPECT_EQ(math::exp(-inf), 0.0f);
  EXPECT_EQ(math::exp(inf), inf);
  EXPECT_EQ(math::exp(0.0f), 1.0f);
  EXPECT_EQ(math::exp(-200.0f), 0.0f);
  EXPECT_NEAR(math::exp(88.7f), std::exp(double(88.7f)), 1e32);
  EXPECT_EQ(math::exp(200.0f), inf);
  EXPECT_TRUE(std::isnan(math::exp(nan)));
  EXPECT_EQ(math::tanh(inf), 1.0f);
  EXPECT_EQ(math::tanh(-inf), -1.0f);
  EXPECT_TRUE(std::isnan(math::tanh(nan)));
  EXPECT_EQ(math::erf(inf), 1.0f);
  EXPECT_EQ(math::erf(-inf), -1.0f);
  EXPECT_TRUE(std::isnan(math::erf(nan)));
  EXPECT_EQ(math::sigmoid(-inf), 0.0f);
  EXPECT_EQ(math::sigmoid(inf), 1.0f);
  EXPECT_EQ(math::softplus(200.0f), 200.0f);
  EXPECT_EQ(math::softplus(-200.0f), 0.0f);
  for (auto [x, y] : {std::pair{nan, 1.0f}, std::pair{1.0f, nan}}) {
    EXPECT_TRUE(std::isnan(math::maximum(x, y)));
    EXPECT_TRUE(std::isnan(math::minimum(x, y)));
  }
  EXPECT_TRUE(std::isnan(math::relu(nan)));
  EXPECT_EQ(math::relu(-2.0f), 0.0f);
  EXPECT_EQ(math::sign(-3.0f), -1.0f);
  EXPECT_EQ(math::sign(0.0f), 0.0f);
  EXPECT_EQ(math::round(2.5f), 2.0f);
  EXPECT_EQ(math::round(-3.5f), -4.0f);
}

} // namespace
