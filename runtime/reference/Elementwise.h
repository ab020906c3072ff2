//===- Elementwise.h - reference kernels, one result for one element ------===//
//
// Operands broadcast under numpy's rules. Both operands of an arithmetic kernel have one element
// type, which is that of the result; the compiler writes casts where it wants others. Integers
// wrap around. Booleans take part in logic, comparison, select and cast only.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "runtime/reference/Tensor.h"

namespace colrow::reference {

// Of floats and integers.
Tensor neg(const Tensor &x, Precision precision);
Tensor abs(const Tensor &x, Precision precision);
Tensor sign(const Tensor &x, Precision precision); ///< -1, 0, 1; NaN stays

// Of floats.
Tensor exp(const Tensor &x, Precision precision);
Tensor log(const Tensor &x, Precision precision);
Tensor sqrt(const Tensor &x, Precision precision);
Tensor rsqrt(const Tensor &x, Precision precision);
Tensor reciprocal(const Tensor &x, Precision precision);
Tensor tanh(const Tensor &x, Precision precision);
Tensor erf(const Tensor &x, Precision precision);
Tensor sin(const Tensor &x, Precision precision);
Tensor cos(const Tensor &x, Precision precision);
Tensor sigmoid(const Tensor &x, Precision precision);
Tensor floor(const Tensor &x, Precision precision);
Tensor ceil(const Tensor &x, Precision precision);
Tensor round(const Tensor &x, Precision precision); ///< halves to even
Tensor isNaN(const Tensor &x);                      ///< b1

/// To another element type. Floats to integers drop the fraction and saturate at the type's
/// limits, NaN gives 0; integers to integers wrap; to b1 is "not 0" (NaN is not 0).
Tensor cast(const Tensor &x, ElementType type, Precision precision);

// Of two of one type, floats or integers.
Tensor add(const Tensor &a, const Tensor &b, Precision precision);
Tensor sub(const Tensor &a, const Tensor &b, Precision precision);
Tensor mul(const Tensor &a, const Tensor &b, Precision precision);
/// Integers truncate toward zero; an integer divided by zero is an error.
Tensor div(const Tensor &a, const Tensor &b, Precision precision);
/// The remainder with the sign of the divisor (Python's %). An integer zero divisor is an error.
Tensor mod(const Tensor &a, const Tensor &b, Precision precision);
/// The remainder with the sign of the dividend (C's fmod). An integer zero divisor is an error.
Tensor fmod(const Tensor &a, const Tensor &b, Precision precision);
Tensor max(const Tensor &a, const Tensor &b, Precision precision); ///< NaN if either is
Tensor min(const Tensor &a, const Tensor &b, Precision precision); ///< NaN if either is
/// a to the power of b, of a's type; b may have another type. An integer to a negative power is
/// the truncated quotient, an error for 0.
Tensor pow(const Tensor &a, const Tensor &b, Precision precision);

// Of booleans.
Tensor logicalNot(const Tensor &x);
Tensor logicalAnd(const Tensor &a, const Tensor &b);
Tensor logicalOr(const Tensor &a, const Tensor &b);
Tensor logicalXor(const Tensor &a, const Tensor &b);

enum class Predicate { eq, ne, lt, le, gt, ge };

/// b1; of two of one type. With a NaN only ne holds.
Tensor compare(const Tensor &a, const Tensor &b, Predicate predicate);

/// a where condition holds, else b: the element itself, so a NaN not chosen does no harm.
/// All three broadcast; a and b have one type.
Tensor select(const Tensor &condition, const Tensor &a, const Tensor &b);

} // namespace colrow::reference
