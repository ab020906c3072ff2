#include "colrow/KernelsOptimizer.h"

#include "KernelTest.h"

using namespace colrow;

namespace {

TEST(SumOfSquares, InDouble) {
  KernelContext ctx;
  for (int64_t count : {0, 1, 7, 8, 1001}) {
    Owned<float> x = randomTensor({count});
    double expected = 0;
    for (float value : x.values)
      expected += double(value) * double(value);
    EXPECT_NEAR(sumOfSquares(ctx, x), expected, 1e-12 * std::max(1.0, expected));
  }
  Owned<float> large({2}, 3e30f);
  EXPECT_GT(sumOfSquares(ctx, large), 1e60); // overflows in float
}

TEST(ClipCoefficient, AsInTorch) {
  EXPECT_EQ(clipCoefficient(0.5, 1), 1.0f);
  EXPECT_FLOAT_EQ(clipCoefficient(4, 1), float(1 / (4 + 1e-6)));
  EXPECT_EQ(clipCoefficient(1e9, 0), 1.0f);
  EXPECT_TRUE(std::isnan(clipCoefficient(NAN, 1)));
}

TEST(Axpy, Adds) {
  KernelContext ctx;
  Owned<float> x = randomTensor({19}, 1), y = randomTensor({19}, 2), before = y;
  axpy(ctx, -0.5f, x, y);
  for (int64_t i = 0; i < 19; ++i)
    EXPECT_FLOAT_EQ(y[i], before[i] - 0.5f * x[i]);
}

TEST(AdamW, FollowsTheFormulaInDouble) {
  KernelContext ctx;
  for (bool decay : {false, true}) {
    StepScalars scalars;
    scalars.weightDecay = 0.1;
    scalars.epsilon = 1e-4; // large enough to matter
    Owned<float> p = randomTensor({37}, 1), m({37}), v({37});
    std::vector<double> P = toDouble(p.values), M(37), V(37);
    for (int step = 0; step < 7; ++step) {
      scalars.step = step;
      scalars.learningRate = 1e-2 / (step + 1);
      Owned<float> g = randomTensor({37}, unsigned(10 + step));
      float clip = 0.25f;
      adamW(ctx, p, g, m, v, scalars, decay, clip);
      for (size_t i = 0; i < 37; ++i) {
        double gradient = double(g.values[i]) * 0.25;
        if (decay)
          P[i] -= scalars.learningRate * scalars.weightDecay * P[i];
        M[i] = scalars.beta1 * M[i] + (1 - scalars.beta1) * gradient;
        V[i] = scalars.beta2 * V[i] + (1 - scalars.beta2) * gradient * gradient;
        double first = M[i] / (1 - std::pow(scalars.beta1, step + 1));
        double second = V[i] / (1 - std::pow(scalars.beta2, step + 1));
        P[i] -= scalars.learningRate * first / (std::sqrt(second) + scalars.epsilon);
      }
      expectNear(p.values, P, 1e-6, "parameter");
      expectNear(m.values, M, 1e-6, "first moment");
      expectNear(v.values, V, 1e-6, "second moment");
    }
  }
}

TEST(AdamW, ScalarsFromATensor) {
  StepScalars scalars;
  scalars.step = 3;
  AdamWScalars given(scalars);
  Owned<float> seven(
      {7}, std::vector<float>{1e-3f, 0.9f, 0.95f, 1e-8f, 0.01f, 1 - 0.6561f, 1 - 0.81450625f});
  AdamWScalars read{ConstTensor(seven)};
  EXPECT_FLOAT_EQ(float(read.learningRate), float(given.learningRate));
  EXPECT_FLOAT_EQ(float(read.beta1), float(given.beta1));
  EXPECT_FLOAT_EQ(float(read.beta2), float(given.beta2));
  EXPECT_FLOAT_EQ(float(read.epsilon), float(given.epsilon));
  EXPECT_FLOAT_EQ(float(read.weightDecay), float(given.weightDecay));
  EXPECT_FLOAT_EQ(float(read.correction1), float(given.correction1));
  EXPECT_FLOAT_EQ(float(read.correction2), float(given.correction2));
}

TEST(AdamW, PaddingStaysZero) {
  KernelContext ctx;
  StepScalars scalars;
  Owned<float> p({5}), g({5}), m({5}), v({5});
  adamW(ctx, p, g, m, v, scalars, true, 1.0f);
  EXPECT_EQ(p.values, std::vector<float>(5, 0.0f));
}

} // namespace
