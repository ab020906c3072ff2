//===- Shape.cpp - moving and making elements -----------------------------===//
//
// Nearly everything here is one strided copy: a permutation, a broadcast, a slice and a padding
// differ only in strides and in where they begin.
//
//===----------------------------------------------------------------------===//
#include "colrow/KernelsShape.h"

#include "Strided.h"
#include "colrow/Profile.h"

#include <cmath>

namespace colrow {
namespace {

/// Where a slice begins in a tensor with these strides, and its strides there.
struct SlicePlace {
  int64_t offset = 0;
  Strides strides;

  SlicePlace(const char *kernel, const Shape &whole, const Strides &wholeStrides, const Shape &part,
             const Dims &starts, const Dims &limits, const Dims &steps) {
    int rank = whole.rank();
    require(part.rank() == rank && starts.rank() == rank && limits.rank() == rank &&
                steps.rank() == rank,
            kernel, "expects a start, a limit and a step for each dimension");
    for (int i = 0; i < rank; ++i) {
      require(steps[i] != 0, kernel, "expects steps other than 0");
      int64_t away = steps[i] > 0 ? 1 : -1;
      int64_t count = (limits[i] - starts[i] + steps[i] - away) / steps[i];
      require(part[i] == (count > 0 ? count : 0), kernel,
              "expects starts, limits and steps that give the shape of the slice");
      int64_t final = starts[i] + (part[i] - 1) * steps[i];
      require(part[i] == 0 ||
                  (starts[i] >= 0 && starts[i] < whole[i] && final >= 0 && final < whole[i]),
              kernel, "expects a slice inside its operand");
      offset += starts[i] * wholeStrides[i];
      strides.append(steps[i] * wholeStrides[i]);
    }
  }
};

} // namespace

template <typename T> void copy(KernelContext &, const ConstView<T> &in, const View<T> &out) {
  ProfileScope scope("copy", in, out);
  require(in.shape == out.shape, "copy", "expects operand and result of one shape");
  copyStrided(out.shape, in.data, in.strides, out.data, out.strides);
}

template <typename T>
void fill(KernelContext &, typename ConstViewOf<T>::Value value, const View<T> &out) {
  ProfileScope scope("fill", out);
  copyStrided<T>(out.shape, &value, Dims::filled(out.rank(), 0), out.data, out.strides);
}

template <typename T>
void transpose(KernelContext &, const ConstView<T> &in, const Dims &permutation,
               const View<T> &out) {
  ProfileScope scope("transpose", in, out);
  require(permutation.rank() == in.rank(), "transpose", "expects a permutation of its dimensions");
  bool seen[Dims::maxRank] = {};
  for (int64_t i : permutation) {
    require(i >= 0 && i < in.rank() && !seen[i], "transpose",
            "expects a permutation of its dimensions");
    seen[i] = true;
  }
  View<const T> from = in.permuted(permutation);
  require(from.shape == out.shape, "transpose", "expects the result to have the permuted shape");
  copyStrided(out.shape, from.data, from.strides, out.data, out.strides);
}

template <typename T>
void broadcastTo(KernelContext &, const ConstView<T> &in, const View<T> &out) {
  ProfileScope scope("broadcastTo", in, out);
  copyStrided(out.shape, in.data, broadcastStrides("broadcastTo", in.shape, in.strides, out.shape),
              out.data, out.strides);
}

template <typename T>
void slice(KernelContext &, const ConstView<T> &in, const Dims &starts, const Dims &limits,
           const Dims &steps, const View<T> &out) {
  ProfileScope scope("slice", out, out);
  SlicePlace place("slice", in.shape, in.strides, out.shape, starts, limits, steps);
  copyStrided(out.shape, in.data + place.offset, place.strides, out.data, out.strides);
}

template <typename T>
void pad(KernelContext &ctx, const ConstView<T> &in, const Dims &low, const Dims &high,
         const Dims &steps, typename ConstViewOf<T>::Value value, const View<T> &out) {
  ProfileScope scope("pad", in, out);
  int rank = in.rank();
  require(low.rank() == rank && high.rank() == rank && steps.rank() == rank && out.rank() == rank,
          "pad", "expects two amounts and a step for each dimension");
  int64_t offset = 0;
  Strides strides = out.strides;
  for (int i = 0; i < rank; ++i) {
    require(low[i] >= 0 && high[i] >= 0 && steps[i] > 0, "pad",
            "expects amounts that are not negative, and positive steps");
    int64_t spread = in.shape[i] == 0 ? 0 : (in.shape[i] - 1) * steps[i] + 1;
    require(out.shape[i] == low[i] + spread + high[i], "pad",
            "expects the result to have the padded shape");
    offset += low[i] * out.strides[i];
    strides[i] *= steps[i];
  }
  fill<T>(ctx, value, out);
  copyStrided(in.shape, in.data, in.strides, out.data + offset, strides);
}

template <typename T>
void concat(KernelContext &, std::initializer_list<ConstView<T>> parts, int axis,
            const View<T> &out) {
  ProfileScope scope("concat", out, out);
  require(axis >= 0 && axis < out.rank(), "concat", "expects an axis of its result");
  int64_t at = 0;
  for (const View<const T> &part : parts) {
    require(part.rank() == out.rank(), "concat", "expects parts of one rank");
    for (int i = 0; i < out.rank(); ++i)
      require(i == axis || part.shape[i] == out.shape[i], "concat",
              "expects parts that differ only along the axis");
    require(at + part.shape[axis] <= out.shape[axis], "concat",
            "expects parts that fill the result");
    copyStrided(part.shape, part.data, part.strides, out.data + at * out.strides[axis],
                out.strides);
    at += part.shape[axis];
  }
  require(at == out.shape[axis], "concat", "expects parts that fill the result");
}

template <typename T>
void iota(KernelContext &, int axis, const IndexMap &map, typename ConstViewOf<T>::Value start,
          typename ConstViewOf<T>::Value step, const View<T> &out) {
  ProfileScope scope("iota", out);
  requireContiguous("iota", out);
  AxisView view(out.shape, axis, "iota");
  require(map.localSize() == view.size, "iota", "expects the slice to have the axis' size");
  for (int64_t o = 0; o < view.outer; ++o)
    for (int64_t i = 0; i < view.size; ++i) {
      T value = T(start + step * T(map.globalIndex(i)));
      T *row = out.data + (o * view.size + i) * view.inner;
      for (int64_t j = 0; j < view.inner; ++j)
        row[j] = value;
    }
}

template <typename From, typename To>
void cast(KernelContext &, const View<From> &in, const View<To> &out) {
  ProfileScope scope("cast", in, out);
  requireContiguous("cast", in, out);
  require(in.shape == out.shape, "cast", "expects operand and result of one shape");
  for (int64_t i = 0, count = in.numel(); i < count; ++i) {
    if constexpr (std::is_same_v<To, uint8_t>)
      out.data[i] = in.data[i] != 0;
    else
      out.data[i] = To(in.data[i]);
  }
}

template <typename T>
void maskPadding(KernelContext &, const ConstView<T> &in, int axis, const IndexMap &map,
                 int64_t valid, typename ConstViewOf<T>::Value value, const View<T> &out) {
  ProfileScope scope("maskPadding", in, out);
  requireContiguous("maskPadding", in, out);
  require(in.shape == out.shape, "maskPadding", "expects operand and result of one shape");
  AxisView view(in.shape, axis, "maskPadding");
  require(map.localSize() == view.size, "maskPadding", "expects the slice to have the axis' size");
  int64_t block = view.size * view.inner, kept = map.countBelow(valid) * view.inner;
  for (int64_t o = 0; o < view.outer; ++o) {
    for (int64_t j = o * block; j < o * block + kept; ++j)
      out.data[j] = in.data[j];
    for (int64_t j = o * block + kept; j < (o + 1) * block; ++j)
      out.data[j] = value;
  }
}

#define COLROW_SHAPES(T)                                                                           \
  template void copy<T>(KernelContext &, const View<const T> &, const View<T> &);                  \
  template void fill<T>(KernelContext &, T, const View<T> &);                                      \
  template void transpose<T>(KernelContext &, const View<const T> &, const Dims &,                 \
                             const View<T> &);                                                     \
  template void broadcastTo<T>(KernelContext &, const View<const T> &, const View<T> &);           \
  template void slice<T>(KernelContext &, const View<const T> &, const Dims &, const Dims &,       \
                         const Dims &, const View<T> &);                                           \
  template void pad<T>(KernelContext &, const View<const T> &, const Dims &, const Dims &,         \
                       const Dims &, T, const View<T> &);                                          \
  template void concat<T>(KernelContext &, std::initializer_list<View<const T>>, int,              \
                          const View<T> &);                                                        \
  template void iota<T>(KernelContext &, int, const IndexMap &, T, T, const View<T> &);            \
  template void maskPadding<T>(KernelContext &, const View<const T> &, int, const IndexMap &,      \
                               int64_t, T, const View<T> &);                                       \
  template void cast<const T, float>(KernelContext &, const View<const T> &, const View<float> &); \
  template void cast<const T, int64_t>(KernelContext &, const View<const T> &,                     \
                                       const View<int64_t> &);                                     \
  template void cast<const T, uint8_t>(KernelContext &, const View<const T> &,                     \
                                       const View<uint8_t> &);                                     \
  template void cast<T, float>(KernelContext &, const View<T> &, const View<float> &);             \
  template void cast<T, int64_t>(KernelContext &, const View<T> &, const View<int64_t> &);         \
  template void cast<T, uint8_t>(KernelContext &, const View<T> &, const View<uint8_t> &)
COLROW_SHAPES(float);
COLROW_SHAPES(int64_t);
COLROW_SHAPES(uint8_t);

} // namespace colrow
