//===- Softmax.cpp - softmax over the last dimension ----------------------===//
#include "colrow/KernelsSoftmax.h"

#include "Rows.h"
#include "Strided.h"

namespace colrow {

void softmax(KernelContext &, const ConstTensor &x, const Tensor &y) {
  requireContiguous("softmax", x, y);
  AxisView rows(x.shape, x.rank() - 1, "softmax");
  require(x.shape == y.shape, "softmax", "expects operand and result of one shape");
  for (int64_t row = 0; row < rows.outer; ++row) {
    const float *in = x.data + row * rows.size;
    float *out = y.data + row * rows.size;
    float most = maxOf(in, rows.size);
    for (int64_t i = 0; i < rows.size; ++i)
      out[i] = in[i];
    float factor = float(1 / expOfDifference(out, rows.size, most));
    for (int64_t i = 0; i < rows.size; ++i)
      out[i] *= factor;
  }
}

void softmaxGrad(KernelContext &, const ConstTensor &dy, const ConstTensor &y, const Tensor &dx) {
  requireContiguous("softmaxGrad", dy, y, dx);
  AxisView rows(y.shape, y.rank() - 1, "softmaxGrad");
  require(dy.shape == y.shape && dx.shape == y.shape, "softmaxGrad",
          "expects operands and result of one shape");
  for (int64_t row = 0; row < rows.outer; ++row) {
    int64_t at = row * rows.size;
    float mean = float(dotProduct(dy.data + at, y.data + at, rows.size));
    for (int64_t i = at; i < at + rows.size; ++i)
      dx.data[i] = y.data[i] * (dy.data[i] - mean);
  }
}

} // namespace colrow
