//===- Einsum.h - reference kernel of all matrix products -----------------===//
#pragma once

#include "runtime/reference/Tensor.h"

namespace colrow::reference {

/// The product of two floating tensors of one type under an equation such as "bij,bjk->bik":
/// each letter names an axis, letters that the result lacks are summed over. A letter occurs in
/// at least two of (a, b, result), once in each, with one size. Products are accumulated in
/// double and the sum is rounded once.
Tensor einsum(const std::string &equation, const Tensor &a, const Tensor &b, Precision precision);

} // namespace colrow::reference
