//===- KernelsActivation.h - activations and their gradients --------------===//
//
// All operands of one call have the same number of elements; results may be operands (in place).
// Scalar forms for generated loops are in Math.h.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "colrow/KernelsContext.h"
#include "colrow/KernelsTensor.h"

namespace colrow {

/// The exact one, through the error function, and the approximation through tanh.
enum class Gelu { erf, tanh };

void gelu(KernelContext &ctx, const ConstTensor &x, Gelu kind, const Tensor &y);
void geluGrad(KernelContext &ctx, const ConstTensor &dy, const ConstTensor &x, Gelu kind,
              const Tensor &dx);

/// y = x * sigmoid(x)
void silu(KernelContext &ctx, const ConstTensor &x, const Tensor &y);
void siluGrad(KernelContext &ctx, const ConstTensor &dy, const ConstTensor &x, const Tensor &dx);

} // namespace colrow
