//===- Walk.h - iteration over strided operands ---------------------------===//
//
// Every kernel is a walk over the elements of one shape in row-major order, with one running
// position for each operand. Stride 0 repeats an operand, a negative one reverses it.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "runtime/reference/Tensor.h"

#include "colrow/Layout.h"

#include <array>
#include <cassert>

namespace colrow::reference {

template <size_t N> using Positions = std::array<int64_t, N>;

/// Calls fn(positions) for each element of `shape`; strides[i] are those of operand i.
template <size_t N, typename Fn>
void walk(const Shape &shape, const std::array<Shape, N> &strides, Positions<N> at, Fn fn) {
  if (elementCount(shape) == 0)
    return;
  if (shape.empty()) {
    fn(at);
    return;
  }
  size_t last = shape.size() - 1;
  Shape index(shape.size(), 0);
  while (true) {
    Positions<N> inner = at;
    for (int64_t i = 0; i < shape[last]; ++i) {
      fn(inner);
      for (size_t n = 0; n < N; ++n)
        inner[n] += strides[n][last];
    }
    // Count up the outer dimensions, the innermost of them fastest.
    size_t dim = last;
    while (dim-- > 0) {
      for (size_t n = 0; n < N; ++n)
        at[n] += strides[n][dim];
      if (++index[dim] < shape[dim])
        break;
      for (size_t n = 0; n < N; ++n)
        at[n] -= strides[n][dim] * shape[dim];
      index[dim] = 0;
    }
    if (dim == static_cast<size_t>(-1))
      return;
  }
}

/// Calls fn(local, global) with the row-major numbers of each element that a rank holds, in its
/// tensor and in the whole one.
template <typename Fn> void forEachElement(const LocalShape &shape, Fn fn) {
  int64_t rank = static_cast<int64_t>(shape.rank()), local = 0;
  Shape sizes = shape.localSizes(), strides = rowMajorStrides(shape.globalSizes());
  // distances[d][i]: what local index i on axis d adds to the number in the whole tensor.
  std::vector<std::vector<int64_t>> distances(rank);
  for (int64_t d = 0; d < rank; ++d)
    for (int64_t i = 0; i < sizes[d]; ++i)
      distances[d].push_back(shape.dims[d].globalIndex(i) * strides[d]);
  auto visit = [&](auto &self, int64_t d, int64_t global) -> void {
    if (d == rank)
      fn(local++, global);
    else
      for (int64_t distance : distances[d])
        self(self, d + 1, global + distance);
  };
  visit(visit, 0, 0);
}

/// The strides with which `x` is read as the larger `shape` it broadcasts to.
inline Shape broadcastStrides(const Tensor &x, const Shape &shape) {
  Shape strides(shape.size(), 0);
  size_t missing = shape.size() - x.shape().size();
  for (size_t i = 0; i < x.shape().size(); ++i)
    if (x.shape()[i] != 1)
      strides[missing + i] = x.strides()[i];
  return strides;
}

/// The axis checked to be one of x; `op` names the kernel in the error.
inline int64_t checkedAxis(const char *op, const Tensor &x, int64_t axis) {
  if (axis < 0 || axis >= x.rank())
    throw Error(std::string(op) + ": " + x.describe() + " has no axis " + std::to_string(axis));
  return axis;
}

} // namespace colrow::reference
