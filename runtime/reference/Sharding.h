//===- Sharding.h - whole tensors to rank-local ones and back -------------===//
//
// Executed tests hold every sharded program against the unsharded one: operands are cut and
// split into summands for the ranks, results are put together again. On the way back every copy
// that a layout promises to be equal is compared bit by bit (L12).
//
//===----------------------------------------------------------------------===//
#pragma once

#include "runtime/reference/Tensor.h"

#include "colrow/Layout.h"

#include <random>

namespace colrow::reference {

/// How a tensor is held on a grid. An axis that cuts a dimension is in state shard, one listed as
/// partial holds summands, every other holds equal copies (invariant and replicated alike: they
/// differ in their gradients only).
struct Placement {
  std::vector<DimSlice> dims;
  std::vector<std::string> partialAxes;
  bool maximum = false; ///< the value is the maximum over the partial axes, not the sum
};

/// The part of `whole` that a rank with this shape holds.
Tensor sliceOf(const Tensor &whole, const LocalShape &shape);

/// What each rank of the grid holds, in the order of ranks. The summands of a partial value are
/// random, and the last makes up the value (exactly for integers, up to rounding for floats); for
/// a maximum a random rank has each element and the others have less.
std::vector<Tensor> distribute(const Tensor &whole, const Placement &placement,
                               const std::vector<GridAxis> &grid, std::mt19937_64 &random,
                               Precision precision);

/// The whole tensor from what each rank holds; partial ones are added in rank order. Throws Error
/// where a rank's tensor has another shape or type, or copies differ in a bit, with the ranks and
/// the element.
Tensor collect(const std::vector<Tensor> &locals, const Placement &placement,
               const std::vector<GridAxis> &grid, Precision precision);

} // namespace colrow::reference
