//===- Walk.h - iteration over strided operands ---------------------------===//
//
// Every kernel is a walk over the elements of one shape in row-major order, with one running
// position for each operand. Stride 0 repeats an operand, a negative one reverses it.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "runtime/reference/Tensor.h"

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
