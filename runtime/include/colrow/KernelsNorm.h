//===- KernelsNorm.h - layer norm and RMS norm ----------------------------===//
//
// Tensors are seen as rows: `mean` and `rstd` have one element for each row, which fixes how long
// a row is. Means are taken in double. `w` and `b` have one element for each column, or are absent
// (a default-made view): then 1 and 0, and dw and db must be absent too.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "colrow/KernelsContext.h"
#include "colrow/KernelsTensor.h"

namespace colrow {

/// y = (x - mean) * rstd * w + b, with rstd = 1 / sqrt(variance + epsilon). Leaves the row's mean
/// and rstd for the gradient.
void layerNorm(KernelContext &ctx, const ConstTensor &x, const ConstTensor &w, const ConstTensor &b,
               double epsilon, const Tensor &y, const Tensor &mean, const Tensor &rstd);
/// dx, dw and db are overwritten; dw and db may be absent. `dx` may be `dy`.
void layerNormGrad(KernelContext &ctx, const ConstTensor &dy, const ConstTensor &x,
                   const ConstTensor &w, const ConstTensor &mean, const ConstTensor &rstd,
                   const Tensor &dx, const Tensor &dw, const Tensor &db);

/// y = x * rstd * w, with rstd = 1 / sqrt(mean of squares + epsilon). Leaves rstd for the gradient.
void rmsNorm(KernelContext &ctx, const ConstTensor &x, const ConstTensor &w, double epsilon,
             const Tensor &y, const Tensor &rstd);
/// dx and dw are overwritten; dw may be absent. `dx` may be `dy`.
void rmsNormGrad(KernelContext &ctx, const ConstTensor &dy, const ConstTensor &x,
                 const ConstTensor &w, const ConstTensor &rstd, const Tensor &dx, const Tensor &dw);

} // namespace colrow
