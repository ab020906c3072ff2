//===- Strided.h - loops over strided memory ------------------------------===//
#pragma once

#include "colrow/KernelsTensor.h"

namespace colrow {

/// N operands walked together: a shape, and a stride for each operand and dimension.
template <int N> struct StridedLoops {
  Shape shape;
  Strides strides[N];

  /// Drops dimensions of one element and joins neighbours that compose in every operand, so that
  /// the innermost loop is as long as it can be. Always leaves at least one dimension.
  StridedLoops merged() const {
    StridedLoops result;
    for (int i = 0; i < shape.rank(); ++i) {
      if (shape[i] == 1)
        continue;
      int last = result.shape.rank() - 1;
      bool composes = last >= 0;
      for (int n = 0; composes && n < N; ++n)
        composes = result.strides[n][last] == strides[n][i] * shape[i];
      if (composes)
        result.shape[last] *= shape[i];
      else
        result.shape.append(shape[i]);
      for (int n = 0; n < N; ++n) {
        if (composes)
          result.strides[n][last] = strides[n][i];
        else
          result.strides[n].append(strides[n][i]);
      }
    }
    if (result.shape.rank() == 0) {
      result.shape.append(1);
      for (Strides &s : result.strides)
        s.append(1);
    }
    return result;
  }

  /// Calls row(offsets) for every index of all but the last `inner` dimensions, in row-major order.
  template <typename Row> void forEach(int inner, const Row &row) const {
    if (shape.numel() == 0)
      return;
    std::array<int64_t, N> offsets{};
    std::array<int64_t, Dims::maxRank> index{};
    int level;
    do {
      row(offsets);
      for (level = shape.rank() - inner - 1; level >= 0; --level) {
        for (int n = 0; n < N; ++n)
          offsets[n] += strides[n][level];
        if (++index[level] < shape[level])
          break;
        for (int n = 0; n < N; ++n)
          offsets[n] -= strides[n][level] * shape[level];
        index[level] = 0;
      }
    } while (level >= 0);
  }
};

/// out[index] = in[index] for two strided views of one shape.
template <typename T>
void copyStrided(const Shape &shape, const T *in, const Strides &inStrides, T *out,
                 const Strides &outStrides) {
  StridedLoops<2> loops = StridedLoops<2>{shape, {inStrides, outStrides}}.merged();
  int last = loops.shape.rank() - 1;
  int64_t count = loops.shape[last], from = loops.strides[0][last], to = loops.strides[1][last];

  // A transpose reads along one dimension and writes along another: go in tiles, so that a cache
  // line is used whole while it is there.
  if (last > 0 && to == 1 && from != 1 && loops.strides[0][last - 1] == 1) {
    constexpr int64_t tile = 16;
    int64_t rows = loops.shape[last - 1], rowTo = loops.strides[1][last - 1];
    loops.forEach(2, [&](const std::array<int64_t, 2> &offsets) {
      const T *p = in + offsets[0];
      T *q = out + offsets[1];
      for (int64_t r0 = 0; r0 < rows; r0 += tile)
        for (int64_t c0 = 0; c0 < count; c0 += tile)
          for (int64_t r = r0; r < rows && r < r0 + tile; ++r)
            for (int64_t c = c0; c < count && c < c0 + tile; ++c)
              q[r * rowTo + c] = p[r + c * from];
    });
    return;
  }
  loops.forEach(1, [&](const std::array<int64_t, 2> &offsets) {
    const T *p = in + offsets[0];
    T *q = out + offsets[1];
    if (from == 1 && to == 1)
      for (int64_t i = 0; i < count; ++i)
        q[i] = p[i];
    else if (from == 0 && to == 1)
      for (int64_t i = 0; i < count; ++i)
        q[i] = *p;
    else
      for (int64_t i = 0; i < count; ++i)
        q[i * to] = p[i * from];
  });
}

/// Strides with which a tensor is read at every index of `target`: numpy's rule, repeated
/// dimensions have stride 0.
inline Strides broadcastStrides(const char *kernel, const Shape &shape, const Strides &strides,
                                const Shape &target) {
  int missing = target.rank() - shape.rank();
  require(missing >= 0, kernel, "expects an operand that broadcasts to the result");
  Strides result = Dims::filled(target.rank(), 0);
  for (int i = 0; i < shape.rank(); ++i) {
    require(shape[i] == 1 || shape[i] == target[missing + i], kernel,
            "expects an operand that broadcasts to the result");
    if (shape[i] == target[missing + i])
      result[missing + i] = strides[i];
  }
  return result;
}

/// A tensor around one axis: `outer` blocks of `size` rows of `inner` elements.
struct AxisView {
  int64_t outer = 1, size = 1, inner = 1;

  AxisView(const Shape &shape, int axis, const char *kernel) {
    require(axis >= 0 && axis < shape.rank(), kernel, "expects an axis of its operand");
    for (int i = 0; i < shape.rank(); ++i)
      (i < axis ? outer : i == axis ? size : inner) *= shape[i];
  }
};

/// Throws unless all views are contiguous.
template <typename... Views> void requireContiguous(const char *kernel, const Views &...views) {
  require((views.isContiguous() && ...), kernel, "expects contiguous operands");
}

} // namespace colrow
