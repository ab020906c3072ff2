//===- Dropout.cpp - dropout ----------------------------------------------===//
#include "colrow/KernelsDropout.h"

#include "DropoutRuns.h"
#include "Strided.h"
#include "colrow/Profile.h"

namespace colrow {
namespace {

/// Calls run(local element, global element, count) for every run of elements that are consecutive
/// in both. `local` and `global` are the numbers of the block that the outer dimensions chose.
template <typename Run>
void forEachRun(const Slices &slices, int dim, int64_t local, int64_t global, const Run &run) {
  if (dim == slices.rank())
    return run(local, global, 1);
  const IndexMap &map = slices.dims[size_t(dim)];
  local *= map.localSize();
  global *= map.globalSize();
  for (const IndexMap::Run &piece : map.runs()) {
    if (dim + 1 == slices.rank()) {
      run(local + piece.local, global + piece.global, piece.length);
      continue;
    }
    for (int64_t i = 0; i < piece.length; ++i)
      forEachRun(slices, dim + 1, local + piece.local + i, global + piece.global + i, run);
  }
}

} // namespace

void dropout(KernelContext &, const ConstTensor &x, const Slices &slices, const DropoutSite &site,
             const Tensor &y) {
  ProfileScope scope("dropout", x, y);
  requireContiguous("dropout", x, y);
  require(x.shape == y.shape, "dropout", "expects operand and result of one shape");
  require(slices.localShape() == x.shape, "dropout", "expects slices of its operand");
  require(site.rate >= 0 && site.rate <= 1, "dropout", "expects a rate between 0 and 1");
  if (site.rate == 0) {
    copyStrided(x.shape, x.data, x.strides, y.data, y.strides);
    return;
  }
  DropoutRuns runs(site, slices.globalShape().numel());
  forEachRun(slices, 0, 0, 0, [&](int64_t local, int64_t global, int64_t count) {
    runs.apply(x.data + local, y.data + local, global, count);
  });
}

} // namespace colrow
