//===- KernelsOptimizer.h - gradient norm, AdamW, vector sums -------------===//
#pragma once

#include "colrow/KernelsContext.h"
#include "colrow/KernelsTensor.h"
#include "colrow/Program.h"

namespace colrow {

/// The sum of the squares of all elements, in double.
double sumOfSquares(KernelContext &ctx, const ConstTensor &x);

/// What gradients are multiplied with so that their norm is at most `clipNorm`, as in
/// torch.nn.utils.clip_grad_norm_: min(1, clipNorm / (norm + 1e-6)). 1 if clipNorm is 0.
float clipCoefficient(double norm, double clipNorm);

/// y = alpha * x + y
void axpy(KernelContext &ctx, float alpha, const ConstTensor &x, const Tensor &y);

/// What AdamW needs to know of one step.
struct AdamWScalars {
  double learningRate, beta1, beta2, epsilon, weightDecay;
  double correction1, correction2; ///< 1 - beta1^t and 1 - beta2^t, t counted from 1

  AdamWScalars(const StepScalars &scalars);
  /// From a tensor of these seven, in this order.
  AdamWScalars(const ConstTensor &scalars);
};

/// One step of torch.optim.AdamW (decoupled weight decay, no amsgrad), operation for operation in
/// float, with the gradient times `clip`. Without `decay` this parameter does not decay.
void adamW(KernelContext &ctx, const Tensor &parameter, const ConstTensor &gradient,
           const Tensor &firstMoment, const Tensor &secondMoment, const AdamWScalars &scalars,
           bool decay, float clip);

} // namespace colrow
