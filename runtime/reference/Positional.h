//===- Positional.h - reference kernels that ask where an element is ------===//
//
// These depend on the global index of an element, so they take the LocalShape or LocalDim that
// tells which part of the whole tensor this rank holds: N ranks together make what one makes.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "runtime/reference/Tensor.h"

#include "colrow/Layout.h"

namespace colrow::reference {

/// The global index of each element on `axis`, of this type (not b1). Repeated lazily.
Tensor iota(ElementType type, const LocalShape &shape, int64_t axis);

/// x with `value` where the global index on `axis` is `valid` or more.
Tensor maskPadding(const Tensor &x, int64_t axis, int64_t valid, double value,
                   const LocalDim &held);

/// A place where random numbers are drawn (see colrow/Philox.h).
struct RandomSite {
  uint64_t seed = 0;
  uint64_t step = 0;
  uint64_t id = 0;           ///< stableId() of the site's name
  uint64_t firstElement = 0; ///< number of the tensor's first element: microbatch * elements
};

/// b1: whether dropout with this ratio (probability of dropping) keeps each element.
Tensor dropoutMask(const LocalShape &shape, double ratio, const RandomSite &site);

/// x / (1 - ratio) where kept, else 0 whatever x is. Its gradient is itself, applied to dy.
Tensor dropout(const Tensor &x, double ratio, const RandomSite &site, const LocalShape &shape,
               Precision precision);

} // namespace colrow::reference
