//===- Activation.cpp - activations and their gradients -------------------===//
#include "colrow/KernelsActivation.h"

#include "Strided.h"
#include "colrow/Math.h"
#include "colrow/Profile.h"

namespace colrow {
namespace {

template <typename Function>
void apply(const char *kernel, const ConstTensor &x, const Tensor &y, const Function &function) {
  requireContiguous(kernel, x, y);
  require(x.numel() == y.numel(), kernel, "expects operand and result of one size");
  for (int64_t i = 0, count = x.numel(); i < count; ++i)
    y.data[i] = function(x.data[i]);
}

template <typename Derivative>
void applyGrad(const char *kernel, const ConstTensor &dy, const ConstTensor &x, const Tensor &dx,
               const Derivative &derivative) {
  requireContiguous(kernel, dy, x, dx);
  require(x.numel() == dy.numel() && x.numel() == dx.numel(), kernel,
          "expects operands and result of one size");
  for (int64_t i = 0, count = x.numel(); i < count; ++i)
    dx.data[i] = dy.data[i] * derivative(x.data[i]);
}

} // namespace

void gelu(KernelContext &, const ConstTensor &x, Gelu kind, const Tensor &y) {
  ProfileScope scope("gelu", x, y);
  if (kind == Gelu::erf)
    apply("gelu", x, y, [](float value) { return math::gelu(value); });
  else
    apply("gelu", x, y, [](float value) { return math::geluTanh(value); });
}

void geluGrad(KernelContext &, const ConstTensor &dy, const ConstTensor &x, Gelu kind,
              const Tensor &dx) {
  ProfileScope scope("geluGrad", dy, x, dx);
  if (kind == Gelu::erf)
    applyGrad("geluGrad", dy, x, dx, [](float value) { return math::geluDerivative(value); });
  else
    applyGrad("geluGrad", dy, x, dx, [](float value) { return math::geluTanhDerivative(value); });
}

void silu(KernelContext &, const ConstTensor &x, const Tensor &y) {
  ProfileScope scope("silu", x, y);
  apply("silu", x, y, [](float value) { return math::silu(value); });
}

void siluGrad(KernelContext &, const ConstTensor &dy, const ConstTensor &x, const Tensor &dx) {
  ProfileScope scope("siluGrad", dy, x, dx);
  applyGrad("siluGrad", dy, x, dx, [](float value) { return math::siluDerivative(value); });
}

} // namespace colrow
