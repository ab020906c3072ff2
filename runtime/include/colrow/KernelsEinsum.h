//===- KernelsEinsum.h - matrix products ----------------------------------===//
#pragma once

#include "colrow/KernelsContext.h"
#include "colrow/KernelsTensor.h"

namespace colrow {

/// out = beta * out + the product of a and b that `equation` names, such as "ti,io->to" for a
/// linear layer or "bshd,bthd->bhst" for attention scores. A letter is a dimension:
///
///   in a, b, out   batch            in a, out   row of the product
///   in a, b        summed over      in b, out   column of the product
///
/// Any strides are accepted, for all three; beta is 0 (out need not be initialised) or 1. The
/// product is oneDNN's; what is prepared for an equation and its shapes is kept in the context.
///
/// Throws std::invalid_argument, quoting the equation, if a letter is in one place only, occurs
/// twice in one operand, or has two sizes.
void einsum(KernelContext &ctx, const char *equation, const ConstTensor &a, const ConstTensor &b,
            const Tensor &out, int beta = 0);

} // namespace colrow
