//===- Optimizer.cpp - gradient norm, AdamW, vector sums ------------------===//
#include "colrow/KernelsOptimizer.h"

#include "Rows.h"
#include "Strided.h"
#include "colrow/Profile.h"

#include <cmath>

namespace colrow {

double sumOfSquares(KernelContext &, const ConstTensor &x) {
  ProfileScope scope("sumOfSquares", x);
  requireContiguous("sumOfSquares", x);
  return dotProduct(x.data, x.data, x.numel());
}

float clipCoefficient(double norm, double clipNorm) {
  if (clipNorm == 0)
    return 1.0f;
  // Not std::min: a norm of NaN must reach the parameters rather than hide.
  double coefficient = clipNorm / (norm + 1e-6);
  return float(coefficient > 1 ? 1.0 : coefficient);
}

void axpy(KernelContext &, float alpha, const ConstTensor &x, const Tensor &y) {
  ProfileScope scope("axpy", x, y, y);
  requireContiguous("axpy", x, y);
  require(x.numel() == y.numel(), "axpy", "expects operands of one size");
  for (int64_t i = 0, count = x.numel(); i < count; ++i)
    y.data[i] += alpha * x.data[i];
}

AdamWScalars::AdamWScalars(const StepScalars &scalars)
    : learningRate(scalars.learningRate), beta1(scalars.beta1), beta2(scalars.beta2),
      epsilon(scalars.epsilon), weightDecay(scalars.weightDecay),
      correction1(1 - std::pow(scalars.beta1, double(scalars.step) + 1)),
      correction2(1 - std::pow(scalars.beta2, double(scalars.step) + 1)) {}

AdamWScalars::AdamWScalars(const ConstTensor &scalars) {
  require(scalars.numel() == 7, "adamW", "expects seven scalars");
  double *const members[] = {&learningRate, &beta1,       &beta2,      &epsilon,
                             &weightDecay,  &correction1, &correction2};
  for (int i = 0; i < 7; ++i)
    *members[i] = double(scalars.data[i]);
}

void adamW(KernelContext &, const Tensor &parameter, const ConstTensor &gradient,
           const Tensor &firstMoment, const Tensor &secondMoment, const AdamWScalars &scalars,
           bool decay, float clip) {
  ProfileScope scope("adamW", parameter, parameter, gradient, firstMoment, firstMoment,
                     secondMoment, secondMoment);
  requireContiguous("adamW", parameter, gradient, firstMoment, secondMoment);
  int64_t count = parameter.numel();
  require(gradient.numel() == count && firstMoment.numel() == count &&
              secondMoment.numel() == count,
          "adamW", "expects operands of one size");
  float keep = float(decay ? 1 - scalars.learningRate * scalars.weightDecay : 1.0);
  float rate = float(scalars.learningRate / scalars.correction1);
  float toFirst = float(1 - scalars.beta1);
  float stay = float(scalars.beta2), toSecond = float(1 - scalars.beta2);
  float root = float(std::sqrt(scalars.correction2)), epsilon = float(scalars.epsilon);
  float *p = parameter.data, *m = firstMoment.data, *v = secondMoment.data;
  for (int64_t i = 0; i < count; ++i) {
    float g = gradient.data[i] * clip;
    m[i] += toFirst * (g - m[i]);
    v[i] = v[i] * stay + toSecond * g * g;
    p[i] = p[i] * keep - rate * (m[i] / (std::sqrt(v[i]) / root + epsilon));
  }
}

} // namespace colrow
