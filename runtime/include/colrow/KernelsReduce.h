//===- KernelsReduce.h - reductions over axes -----------------------------===//
#pragma once

#include "colrow/KernelsContext.h"
#include "colrow/KernelsTensor.h"

namespace colrow {

/// Reduces over `axes` (each at most once, in any order, none for a copy). `out` has the remaining
/// dimensions in their order; the reduced ones may be left out or kept with size 1. T is float or
/// int64_t. Float sums and products are accumulated in double, in a fixed order. Nothing to reduce
/// gives the neutral element: 0, 1, and for maximum and minimum the infinities (integers: the
/// smallest and the largest). Maximum and minimum are NaN where an element is.
template <typename T>
void reduceSum(KernelContext &ctx, const ConstView<T> &in, const Dims &axes, const View<T> &out);
template <typename T>
void reduceProd(KernelContext &ctx, const ConstView<T> &in, const Dims &axes, const View<T> &out);
template <typename T>
void reduceMax(KernelContext &ctx, const ConstView<T> &in, const Dims &axes, const View<T> &out);
template <typename T>
void reduceMin(KernelContext &ctx, const ConstView<T> &in, const Dims &axes, const View<T> &out);

/// out[..., i, ...] = the sum of in[..., 0..i, ...] along `axis`; exclusive: without in[i] itself;
/// reverse: from the end. The transpose of cumsum is cumsum with `reverse` flipped. T is float
/// (accumulated in double) or int64_t.
template <typename T>
void cumsum(KernelContext &ctx, const ConstView<T> &in, int axis, bool exclusive, bool reverse,
            const View<T> &out);

} // namespace colrow
