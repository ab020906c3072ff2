//===- Reduce.h - reference kernels that combine along axes ---------------===//
//
// Floats are accumulated in double and rounded once, in row-major order. A reduction over no
// elements gives its neutral element: 0, 1, the least or the greatest value of the type
// (infinities for floats). No axes is no reduction.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "runtime/reference/Tensor.h"

namespace colrow::reference {

// `axes` are distinct; with keepDims they stay as axes of size 1. sum and prod take numbers; max
// and min booleans too (any and all). A NaN makes the maximum and minimum NaN.
Tensor reduceSum(const Tensor &x, const std::vector<int64_t> &axes, bool keepDims,
                 Precision precision);
Tensor reduceProd(const Tensor &x, const std::vector<int64_t> &axes, bool keepDims,
                  Precision precision);
Tensor reduceMax(const Tensor &x, const std::vector<int64_t> &axes, bool keepDims);
Tensor reduceMin(const Tensor &x, const std::vector<int64_t> &axes, bool keepDims);

/// Sums of the elements up to each one along `axis`; exclusive leaves the element itself out,
/// reverse sums from the end.
Tensor cumsum(const Tensor &x, int64_t axis, bool exclusive, bool reverse, Precision precision);

} // namespace colrow::reference
