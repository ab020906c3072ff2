#include "runtime/reference/Reduce.h"

#include "runtime/reference/Shape.h"
#include "runtime/reference/Walk.h"

#include <cmath>
#include <limits>

namespace colrow::reference {

namespace {

/// Folds x over `axes` into a tensor that keeps them with size 1, before any rounding.
template <typename T, typename Fn>
std::vector<T> fold(const Tensor &x, const Shape &kept, T neutral, Fn combine) {
  std::vector<T> values(elementCount(kept), neutral);
  Shape strides = rowMajorStrides(kept);
  for (size_t i = 0; i < kept.size(); ++i)
    if (kept[i] == 1)
      strides[i] = 0; // all elements along a reduced axis meet in one
  const T *from = x.data<T>();
  walk<2>(x.shape(), {x.strides(), strides}, {x.offset(), 0},
          [&](const Positions<2> &at) { values[at[1]] = combine(values[at[1]], from[at[0]]); });
  return values;
}

template <typename FloatFn, typename IntegerFn>
Tensor reduce(const char *op, const Tensor &x, const std::vector<int64_t> &axes, bool keepDims,
              Precision precision, double floatNeutral, int64_t integerNeutral, FloatFn floatFn,
              IntegerFn integerFn) {
  Shape kept = x.shape();
  std::vector<bool> reduced(x.rank(), false);
  for (int64_t axis : axes) {
    checkedAxis(op, x, axis);
    if (reduced[axis])
      throw Error(std::string(op) + ": axis " + std::to_string(axis) + " occurs twice");
    reduced[axis] = true;
    kept[axis] = 1;
  }
  Tensor result;
  if (x.isFloat()) {
    std::vector<double> values = fold(x, kept, floatNeutral, floatFn);
    for (double &value : values)
      value = roundTo(x.type(), precision, value);
    result = Tensor::floats(kept, std::move(values), x.type());
  } else {
    result = Tensor::integers(kept, fold(x, kept, integerNeutral, integerFn), x.type());
  }
  if (keepDims)
    return result;
  Shape shape;
  for (int64_t i = 0; i < x.rank(); ++i)
    if (!reduced[i])
      shape.push_back(x.dim(i));
  return reshape(result, shape);
}

void checkNumber(const char *op, const Tensor &x) {
  if (x.type() == ElementType::b1)
    throw Error(std::string(op) + ": expects numbers, got " + x.describe());
}

int64_t lowest(ElementType type) {
  switch (type) {
  case ElementType::i32:
    return std::numeric_limits<int32_t>::min();
  case ElementType::u8:
  case ElementType::b1:
    return 0;
  default:
    return std::numeric_limits<int64_t>::min();
  }
}

int64_t highest(ElementType type) {
  switch (type) {
  case ElementType::i32:
    return std::numeric_limits<int32_t>::max();
  case ElementType::u8:
    return 255;
  case ElementType::b1:
    return 1;
  default:
    return std::numeric_limits<int64_t>::max();
  }
}

// Unsigned, since signed overflow is undefined.
int64_t wrapAdd(int64_t a, int64_t b) { return int64_t(uint64_t(a) + uint64_t(b)); }
int64_t wrapMul(int64_t a, int64_t b) { return int64_t(uint64_t(a) * uint64_t(b)); }

template <typename T, typename Fn>
std::vector<T> scan(const Tensor &x, int64_t axis, bool exclusive, bool reverse, Fn combine) {
  std::vector<T> values(x.size());
  Shape to = rowMajorStrides(x.shape()), lines = x.shape();
  lines[axis] = 1;
  int64_t count = x.dim(axis), first = reverse ? count - 1 : 0, step = reverse ? -1 : 1;
  const T *from = x.data<T>();
  walk<2>(lines, {x.strides(), to}, {x.offset(), 0}, [&](const Positions<2> &at) {
    T sum = 0;
    for (int64_t n = 0, i = first; n < count; ++n, i += step) {
      T with = combine(sum, from[at[0] + i * x.strides()[axis]]);
      values[at[1] + i * to[axis]] = exclusive ? sum : with;
      sum = with;
    }
  });
  return values;
}

} // namespace

Tensor reduceSum(const Tensor &x, const std::vector<int64_t> &axes, bool keepDims,
                 Precision precision) {
  checkNumber("reduce_sum", x);
  return reduce(
      "reduce_sum", x, axes, keepDims, precision, 0, 0, [](double a, double b) { return a + b; },
      wrapAdd);
}

Tensor reduceProd(const Tensor &x, const std::vector<int64_t> &axes, bool keepDims,
                  Precision precision) {
  checkNumber("reduce_prod", x);
  return reduce(
      "reduce_prod", x, axes, keepDims, precision, 1, 1, [](double a, double b) { return a * b; },
      wrapMul);
}

Tensor reduceMax(const Tensor &x, const std::vector<int64_t> &axes, bool keepDims) {
  return reduce(
      "reduce_max", x, axes, keepDims, Precision::f64, -std::numeric_limits<double>::infinity(),
      lowest(x.type()), [](double a, double b) { return std::isnan(a) || a > b ? a : b; },
      [](int64_t a, int64_t b) { return std::max(a, b); });
}

Tensor reduceMin(const Tensor &x, const std::vector<int64_t> &axes, bool keepDims) {
  return reduce(
      "reduce_min", x, axes, keepDims, Precision::f64, std::numeric_limits<double>::infinity(),
      highest(x.type()), [](double a, double b) { return std::isnan(a) || a < b ? a : b; },
      [](int64_t a, int64_t b) { return std::min(a, b); });
}

Tensor cumsum(const Tensor &x, int64_t axis, bool exclusive, bool reverse, Precision precision) {
  checkNumber("cumsum", x);
  checkedAxis("cumsum", x, axis);
  if (!x.isFloat())
    return Tensor::integers(x.shape(), scan<int64_t>(x, axis, exclusive, reverse, wrapAdd),
                            x.type());
  auto plus = [](double a, double b) { return a + b; };
  std::vector<double> values = scan<double>(x, axis, exclusive, reverse, plus);
  for (double &value : values)
    value = roundTo(x.type(), precision, value);
  return Tensor::floats(x.shape(), std::move(values), x.type());
}

} // namespace colrow::reference
