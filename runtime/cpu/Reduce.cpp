//===- Reduce.cpp - reductions over axes ----------------------------------===//
//
// One loop nest for all: walk the operand in memory order; reduced dimensions have stride 0 in the
// result. The innermost loop either adds up a run of memory (eight sums side by side, so that it
// vectorises and long rows stay exact) or adds one run of memory to another.
//
//===----------------------------------------------------------------------===//
#include "colrow/KernelsReduce.h"

#include "ContextImpl.h"
#include "Strided.h"
#include "colrow/Profile.h"

#include <limits>

namespace colrow {
namespace {

template <typename T> using Wide = std::conditional_t<std::is_same_v<T, float>, double, T>;

template <typename T> struct Sum {
  using Accumulator = Wide<T>;
  static constexpr Accumulator neutral = 0;
  static Accumulator combine(Accumulator x, Accumulator y) { return x + y; }
};

template <typename T> struct Product {
  using Accumulator = Wide<T>;
  static constexpr Accumulator neutral = 1;
  static Accumulator combine(Accumulator x, Accumulator y) { return x * y; }
};

template <typename T> struct Max {
  using Accumulator = T;
  static constexpr T neutral = std::numeric_limits<T>::has_infinity
                                   ? -std::numeric_limits<T>::infinity()
                                   : std::numeric_limits<T>::lowest();
  // y != y is true for NaN, which then stays: no comparison with it holds.
  static T combine(T x, T y) { return ((y > x) | (y != y)) ? y : x; }
};

template <typename T> struct Min {
  using Accumulator = T;
  static constexpr T neutral = std::numeric_limits<T>::has_infinity
                                   ? std::numeric_limits<T>::infinity()
                                   : std::numeric_limits<T>::max();
  static T combine(T x, T y) { return ((y < x) | (y != y)) ? y : x; }
};

template <typename Op, typename T> typename Op::Accumulator reduceRun(const T *in, int64_t count) {
  constexpr int lanes = 8;
  typename Op::Accumulator partial[lanes];
  for (auto &lane : partial)
    lane = Op::neutral;
  int64_t i = 0;
  for (; i + lanes <= count; i += lanes)
    for (int lane = 0; lane < lanes; ++lane)
      partial[lane] = Op::combine(partial[lane], in[i + lane]);
  for (int lane = 0; i < count; ++i, ++lane)
    partial[lane] = Op::combine(partial[lane], in[i]);
  for (int width = lanes / 2; width > 0; width /= 2)
    for (int lane = 0; lane < width; ++lane)
      partial[lane] = Op::combine(partial[lane], partial[lane + width]);
  return partial[0];
}

template <typename Op, typename T>
void reduce(KernelContext &ctx, const View<const T> &in, const Dims &axes, const View<T> &out,
            const char *kernel) {
  requireContiguous(kernel, in, out);
  bool reduced[Dims::maxRank] = {};
  for (int64_t axis : axes) {
    require(axis >= 0 && axis < in.rank() && !reduced[axis], kernel,
            "expects each axis once, and inside the operand");
    reduced[axis] = true;
  }
  // Strides of the result as the operand's dimensions see it.
  StridedLoops<2> loops{in.shape, {in.strides, Dims::filled(in.rank(), 0)}};
  int64_t stride = 1;
  for (int i = in.rank(); i-- > 0;)
    if (!reduced[i]) {
      loops.strides[1][i] = stride;
      stride *= in.shape[i];
    }
  require(stride == out.numel(), kernel, "expects the result to have the remaining dimensions");

  using Accumulator = typename Op::Accumulator;
  Scratch scratch(ctx);
  Accumulator *sums = scratch.get<Accumulator>(out.numel());
  for (int64_t i = 0; i < out.numel(); ++i)
    sums[i] = Op::neutral;
  loops = loops.merged();
  int last = loops.shape.rank() - 1;
  int64_t count = loops.shape[last];
  bool addsUp = loops.strides[1][last] == 0;
  loops.forEach(1, [&](const std::array<int64_t, 2> &offsets) {
    const T *p = in.data + offsets[0];
    Accumulator *q = sums + offsets[1];
    if (addsUp)
      *q = Op::combine(*q, reduceRun<Op>(p, count));
    else
      for (int64_t i = 0; i < count; ++i)
        q[i] = Op::combine(q[i], p[i]);
  });
  for (int64_t i = 0; i < out.numel(); ++i)
    out.data[i] = T(sums[i]);
}

} // namespace

template <typename T>
void reduceSum(KernelContext &ctx, const ConstView<T> &in, const Dims &axes, const View<T> &out) {
  ProfileScope scope("reduceSum", in, out);
  reduce<Sum<T>, T>(ctx, in, axes, out, "reduceSum");
}
template <typename T>
void reduceProd(KernelContext &ctx, const ConstView<T> &in, const Dims &axes, const View<T> &out) {
  ProfileScope scope("reduceProd", in, out);
  reduce<Product<T>, T>(ctx, in, axes, out, "reduceProd");
}
template <typename T>
void reduceMax(KernelContext &ctx, const ConstView<T> &in, const Dims &axes, const View<T> &out) {
  ProfileScope scope("reduceMax", in, out);
  reduce<Max<T>, T>(ctx, in, axes, out, "reduceMax");
}
template <typename T>
void reduceMin(KernelContext &ctx, const ConstView<T> &in, const Dims &axes, const View<T> &out) {
  ProfileScope scope("reduceMin", in, out);
  reduce<Min<T>, T>(ctx, in, axes, out, "reduceMin");
}

template <typename T>
void cumsum(KernelContext &ctx, const ConstView<T> &in, int axis, bool exclusive, bool reverse,
            const View<T> &out) {
  ProfileScope scope("cumsum", in, out);
  requireContiguous("cumsum", in, out);
  require(in.shape == out.shape, "cumsum", "expects operand and result of one shape");
  AxisView view(in.shape, axis, "cumsum");
  Scratch scratch(ctx);
  Wide<T> *sums = scratch.get<Wide<T>>(view.inner);
  for (int64_t o = 0; o < view.outer; ++o) {
    for (int64_t j = 0; j < view.inner; ++j)
      sums[j] = 0;
    for (int64_t i = 0; i < view.size; ++i) {
      int64_t at = (o * view.size + (reverse ? view.size - 1 - i : i)) * view.inner;
      const T *p = in.data + at;
      T *q = out.data + at;
      for (int64_t j = 0; j < view.inner; ++j) {
        Wide<T> with = sums[j] + p[j];
        q[j] = T(exclusive ? sums[j] : with);
        sums[j] = with;
      }
    }
  }
}

#define COLROW_REDUCTIONS(T)                                                                       \
  template void reduceSum<T>(KernelContext &, const View<const T> &, const Dims &,                 \
                             const View<T> &);                                                     \
  template void reduceProd<T>(KernelContext &, const View<const T> &, const Dims &,                \
                              const View<T> &);                                                    \
  template void reduceMax<T>(KernelContext &, const View<const T> &, const Dims &,                 \
                             const View<T> &);                                                     \
  template void reduceMin<T>(KernelContext &, const View<const T> &, const Dims &,                 \
                             const View<T> &);                                                     \
  template void cumsum<T>(KernelContext &, const View<const T> &, int, bool, bool, const View<T> &)
COLROW_REDUCTIONS(float);
COLROW_REDUCTIONS(int64_t);

} // namespace colrow
