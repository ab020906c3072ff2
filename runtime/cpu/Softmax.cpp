//===- Softmax.cpp - softmax along an axis --------------------------------===//
#include "colrow/KernelsSoftmax.h"

#include "ContextImpl.h"
#include "Rows.h"
#include "Strided.h"
#include "colrow/Profile.h"

namespace colrow {

void softmax(KernelContext &ctx, const ConstTensor &x, int axis, const Tensor &y) {
  ProfileScope scope("softmax", x, y);
  requireContiguous("softmax", x, y);
  AxisView view(x.shape, axis, "softmax");
  require(x.shape == y.shape, "softmax", "expects operand and result of one shape");
  Scratch scratch(ctx);
  float *row = scratch.get<float>(view.size);
  for (int64_t o = 0; o < view.outer; ++o)
    for (int64_t j = 0; j < view.inner; ++j) {
      int64_t first = o * view.size * view.inner + j;
      for (int64_t i = 0; i < view.size; ++i)
        row[i] = x.data[first + i * view.inner];
      float factor = float(1 / expOfDifference(row, view.size, maxOf(row, view.size)));
      for (int64_t i = 0; i < view.size; ++i)
        y.data[first + i * view.inner] = row[i] * factor;
    }
}

void softmaxGrad(KernelContext &, const ConstTensor &dy, const ConstTensor &y, int axis,
                 const Tensor &dx) {
  ProfileScope scope("softmaxGrad", dy, y, dx);
  requireContiguous("softmaxGrad", dy, y, dx);
  AxisView view(y.shape, axis, "softmaxGrad");
  require(dy.shape == y.shape && dx.shape == y.shape, "softmaxGrad",
          "expects operands and result of one shape");
  for (int64_t o = 0; o < view.outer; ++o)
    for (int64_t j = 0; j < view.inner; ++j) {
      int64_t first = o * view.size * view.inner + j;
      const float *p = y.data + first, *dp = dy.data + first;
      float mean = float(sumOf(view.size, [=](int64_t i) {
        return double(dp[i * view.inner]) * double(p[i * view.inner]);
      }));
      for (int64_t i = 0; i < view.size; ++i)
        dx.data[first + i * view.inner] = p[i * view.inner] * (dp[i * view.inner] - mean);
    }
}

} // namespace colrow
