//===- Shape.h - reference kernels that only move elements ----------------===//
#pragma once

#include "runtime/reference/Tensor.h"

namespace colrow::reference {

/// The same elements in row-major order under another shape of equal size; a view where the
/// strides allow it (a lazy broadcast stays lazy).
Tensor reshape(const Tensor &x, const Shape &shape);

/// Result axis i is axis permutation[i] of x. A view.
Tensor transpose(const Tensor &x, const std::vector<int64_t> &permutation);

/// x repeated along axes of size 1 and new leading axes, numpy's rules. A view.
Tensor broadcastTo(const Tensor &x, const Shape &shape);

/// On each axis the elements starts, starts + steps, ... before limits; a negative step walks
/// down, and a limit of -1 then takes element 0 too. Indices are not counted from the end, and
/// those taken must lie inside x. A view.
Tensor slice(const Tensor &x, const std::vector<int64_t> &starts,
             const std::vector<int64_t> &limits, const std::vector<int64_t> &steps);

/// x with the order along these axes reversed. A view.
Tensor reverse(const Tensor &x, const std::vector<int64_t> &axes);

/// One after the other along `axis`: one element type, and equal shapes but for that axis.
Tensor concat(const std::vector<Tensor> &parts, int64_t axis);

/// low[i] elements of `value` before and high[i] after x on axis i; negative counts drop
/// elements of x instead.
Tensor pad(const Tensor &x, const std::vector<int64_t> &low, const std::vector<int64_t> &high,
           double value);

} // namespace colrow::reference
