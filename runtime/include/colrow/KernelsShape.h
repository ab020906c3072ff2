//===- KernelsShape.h - moving and making elements ------------------------===//
//
// T is float, int64_t or uint8_t (a boolean). Operands may be strided where it says so.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "colrow/KernelsContext.h"
#include "colrow/KernelsSlices.h"
#include "colrow/KernelsTensor.h"

#include <initializer_list>

namespace colrow {

/// Same shape; both may be strided.
template <typename T> void copy(KernelContext &ctx, const ConstView<T> &in, const View<T> &out);

/// Every element of `out` (may be strided) becomes `value`.
template <typename T>
void fill(KernelContext &ctx, typename ConstViewOf<T>::Value value, const View<T> &out);

/// Dimension i of `out` is dimension permutation[i] of `in`. Both may be strided.
template <typename T>
void transpose(KernelContext &ctx, const ConstView<T> &in, const Dims &permutation,
               const View<T> &out);

/// Repeats `in` along dimensions that it lacks in front or has with size 1 (numpy's rule). Both may
/// be strided.
template <typename T>
void broadcastTo(KernelContext &ctx, const ConstView<T> &in, const View<T> &out);

/// out[i, ...] = in[starts + i * steps]: elements from `starts` up to but without `limits`. A step
/// may be negative (a limit of -1 then reaches element 0), never 0.
template <typename T>
void slice(KernelContext &ctx, const ConstView<T> &in, const Dims &starts, const Dims &limits,
           const Dims &steps, const View<T> &out);

/// `steps[d] - 1` elements of `value` between neighbours, then `low[d]` before and `high[d]`
/// behind, none of them negative. With value 0 it is the transpose of slice with these steps.
template <typename T>
void pad(KernelContext &ctx, const ConstView<T> &in, const Dims &low, const Dims &high,
         const Dims &steps, typename ConstViewOf<T>::Value value, const View<T> &out);

/// Puts the parts one behind the other along `axis`. Parts may be strided.
template <typename T>
void concat(KernelContext &ctx, std::initializer_list<ConstView<T>> parts, int axis,
            const View<T> &out);

/// out[..., i, ...] = start + step * (global index of i along `axis`).
template <typename T>
void iota(KernelContext &ctx, int axis, const IndexMap &map, typename ConstViewOf<T>::Value start,
          typename ConstViewOf<T>::Value step, const View<T> &out);

/// Same shape, another element type. To boolean: whether it is not 0 (NaN is true); float to
/// integer: rounded towards 0.
template <typename From, typename To>
void cast(KernelContext &ctx, const View<From> &in, const View<To> &out);

/// `in` with elements whose global index along `axis` is `valid` or more replaced by `value`.
/// `out` may be `in`.
template <typename T>
void maskPadding(KernelContext &ctx, const ConstView<T> &in, int axis, const IndexMap &map,
                 int64_t valid, typename ConstViewOf<T>::Value value, const View<T> &out);

} // namespace colrow
