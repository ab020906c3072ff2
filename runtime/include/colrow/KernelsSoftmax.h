//===- KernelsSoftmax.h - softmax over the last dimension -----------------===//
#pragma once

#include "colrow/KernelsContext.h"
#include "colrow/KernelsTensor.h"

namespace colrow {

/// Softmax over the last dimension; sums in double. A row that is all -infinity gives NaN, as in
/// PyTorch. `y` may be `x`.
void softmax(KernelContext &ctx, const ConstTensor &x, const Tensor &y);
/// dx = y * (dy - the row's sum of dy * y), with the result of the forward pass. `dx` may be `dy`.
void softmaxGrad(KernelContext &ctx, const ConstTensor &dy, const ConstTensor &y,
                 const Tensor &dx);

} // namespace colrow
