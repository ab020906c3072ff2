//===- KernelsDropout.h - dropout -----------------------------------------===//
#pragma once

#include "colrow/KernelsContext.h"
#include "colrow/KernelsSlices.h"
#include "colrow/KernelsTensor.h"

namespace colrow {

/// Which random numbers a dropout site uses (see Philox.h), and how much it drops.
struct DropoutSite {
  uint64_t seed = 0;      ///< of the run
  uint64_t step = 0;      ///< of training
  uint64_t id = 0;        ///< stableId() of the site's name
  int64_t microbatch = 0; ///< within the step
  double rate = 0;        ///< the probability of dropping, in [0, 1]; 0: dropout is off
};

/// The site with this id and rate, where `random` holds seed, step, microbatch and whether dropout
/// is active.
inline DropoutSite dropoutSite(const Integers &random, uint64_t id, double rate) {
  require(random.numel() == 4, "dropout", "expects seed, step, microbatch and active");
  return {uint64_t(random.data[0]), uint64_t(random.data[1]), id, random.data[2],
          random.data[3] != 0 ? rate : 0};
}

/// y = x / (1 - rate) where the element is kept, else 0. Whether it is kept depends on the site and
/// on the element's place in the global tensor only, so all grids drop the same elements. The
/// gradient is the same function of dy. `y` may be `x`.
void dropout(KernelContext &ctx, const ConstTensor &x, const Slices &slices,
             const DropoutSite &site, const Tensor &y);

} // namespace colrow
