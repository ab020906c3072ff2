//===- KernelsSoftmax.h - softmax along an axis ---------------------------===//
#pragma once

#include "colrow/KernelsContext.h"
#include "colrow/KernelsTensor.h"

namespace colrow {

/// Softmax along an axis; sums in double. Where all elements are -infinity the result is NaN, as in
/// PyTorch. `y` may be `x`.
void softmax(KernelContext &ctx, const ConstTensor &x, int axis, const Tensor &y);
/// dx = y * (dy - the sum along the axis of dy * y), with the result y of the forward pass. `dx`
/// may be `dy`.
void softmaxGrad(KernelContext &ctx, const ConstTensor &dy, const ConstTensor &y, int axis,
                 const Tensor &dx);

} // namespace colrow
