#include "runtime/reference/Elementwise.h"

#include "runtime/reference/Walk.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace colrow::reference {

namespace {

[[noreturn]] void fail(const char *op, const std::string &message) {
  throw Error(std::string(op) + ": " + message);
}

void checkSameType(const char *op, const Tensor &a, const Tensor &b) {
  if (a.type() != b.type())
    fail(op, "expects operands of one element type, got " + a.describe() + " and " + b.describe());
}

void checkFloat(const char *op, const Tensor &x) {
  if (!x.isFloat())
    fail(op, "expects a floating tensor, got " + x.describe());
}

void checkNumber(const char *op, const Tensor &x) {
  if (x.type() == ElementType::b1)
    fail(op, "expects numbers, got " + x.describe());
}

void checkBoolean(const char *op, const Tensor &x) {
  if (x.type() != ElementType::b1)
    fail(op, "expects booleans, got " + x.describe());
}

/// fn of every element, in row-major order.
template <typename In, typename Out, typename Fn> std::vector<Out> map(const Tensor &x, Fn fn) {
  std::vector<Out> values;
  values.reserve(x.size());
  const In *from = x.data<In>();
  walk<1>(x.shape(), {x.strides()}, {x.offset()},
          [&](const Positions<1> &at) { values.push_back(fn(from[at[0]])); });
  return values;
}

/// fn of every pair of elements of two tensors broadcast to `shape`, in row-major order.
template <typename A, typename B, typename Out, typename Fn>
std::vector<Out> zip(const Shape &shape, const Tensor &a, const Tensor &b, Fn fn) {
  std::vector<Out> values;
  values.reserve(elementCount(shape));
  const A *left = a.data<A>();
  const B *right = b.data<B>();
  walk<2>(shape, {broadcastStrides(a, shape), broadcastStrides(b, shape)}, {a.offset(), b.offset()},
          [&](const Positions<2> &at) { values.push_back(fn(left[at[0]], right[at[1]])); });
  return values;
}

template <typename Fn>
Tensor floatUnary(const char *op, const Tensor &x, Precision precision, Fn fn) {
  checkFloat(op, x);
  auto kept = [&](double v) { return roundTo(x.type(), precision, fn(v)); };
  return Tensor::floats(x.shape(), map<double, double>(x, kept), x.type());
}

template <typename FloatFn, typename IntegerFn>
Tensor numberUnary(const char *op, const Tensor &x, Precision precision, FloatFn floatFn,
                   IntegerFn integerFn) {
  if (x.isFloat())
    return floatUnary(op, x, precision, floatFn);
  checkNumber(op, x);
  return Tensor::integers(x.shape(), map<int64_t, int64_t>(x, integerFn), x.type());
}

template <typename FloatFn, typename IntegerFn>
Tensor arithmetic(const char *op, const Tensor &a, const Tensor &b, Precision precision,
                  FloatFn floatFn, IntegerFn integerFn) {
  checkSameType(op, a, b);
  checkNumber(op, a);
  Shape shape = broadcastShapes(op, a.shape(), b.shape());
  if (a.isFloat()) {
    auto kept = [&](double x, double y) { return roundTo(a.type(), precision, floatFn(x, y)); };
    return Tensor::floats(shape, zip<double, double, double>(shape, a, b, kept), a.type());
  }
  return Tensor::integers(shape, zip<int64_t, int64_t, int64_t>(shape, a, b, integerFn), a.type());
}

template <typename Fn> Tensor logic(const char *op, const Tensor &a, const Tensor &b, Fn fn) {
  checkBoolean(op, a);
  checkBoolean(op, b);
  Shape shape = broadcastShapes(op, a.shape(), b.shape());
  return Tensor::integers(shape, zip<int64_t, int64_t, int64_t>(shape, a, b, fn), ElementType::b1);
}

// Two's complement arithmetic: signed overflow is undefined in C++, so it is done unsigned.
int64_t wrapAdd(int64_t a, int64_t b) { return int64_t(uint64_t(a) + uint64_t(b)); }
int64_t wrapSub(int64_t a, int64_t b) { return int64_t(uint64_t(a) - uint64_t(b)); }
int64_t wrapMul(int64_t a, int64_t b) { return int64_t(uint64_t(a) * uint64_t(b)); }

int64_t divide(const char *op, int64_t a, int64_t b) {
  if (b == 0)
    fail(op, "an integer is divided by zero");
  return b == -1 ? wrapSub(0, a) : a / b; // the smallest integer / -1 overflows
}

int64_t remainder(const char *op, int64_t a, int64_t b) {
  return wrapSub(a, wrapMul(divide(op, a, b), b));
}

int64_t power(int64_t base, int64_t exponent) {
  if (exponent < 0) {
    if (base == 0)
      fail("pow", "zero to a negative power");
    if (base != 1 && base != -1)
      return 0;
    exponent = -(exponent % 2); // 1 and -1 depend on its parity only
  }
  int64_t result = 1;
  for (; exponent > 0; exponent /= 2, base = wrapMul(base, base))
    if (exponent % 2 == 1)
      result = wrapMul(result, base);
  return result;
}

template <typename T> bool holds(Predicate predicate, T a, T b) {
  switch (predicate) {
  case Predicate::eq:
    return a == b;
  case Predicate::ne:
    return a != b;
  case Predicate::lt:
    return a < b;
  case Predicate::le:
    return a <= b;
  case Predicate::gt:
    return a > b;
  case Predicate::ge:
    return a >= b;
  }
  return false;
}

template <typename T>
std::vector<T> choose(const Shape &shape, const Tensor &condition, const Tensor &a,
                      const Tensor &b) {
  std::vector<T> values;
  values.reserve(elementCount(shape));
  const int64_t *chosen = condition.data<int64_t>();
  const T *left = a.data<T>(), *right = b.data<T>();
  walk<3>(
      shape,
      {broadcastStrides(condition, shape), broadcastStrides(a, shape), broadcastStrides(b, shape)},
      {condition.offset(), a.offset(), b.offset()}, [&](const Positions<3> &at) {
        values.push_back(chosen[at[0]] ? left[at[1]] : right[at[2]]);
      });
  return values;
}

} // namespace

Tensor neg(const Tensor &x, Precision precision) {
  return numberUnary(
      "neg", x, precision, [](double v) { return -v; }, [](int64_t v) { return wrapSub(0, v); });
}

Tensor abs(const Tensor &x, Precision precision) {
  return numberUnary(
      "abs", x, precision, [](double v) { return std::fabs(v); },
      [](int64_t v) { return v < 0 ? wrapSub(0, v) : v; });
}

Tensor sign(const Tensor &x, Precision precision) {
  return numberUnary(
      "sign", x, precision, [](double v) { return std::isnan(v) ? v : double((v > 0) - (v < 0)); },
      [](int64_t v) { return int64_t((v > 0) - (v < 0)); });
}

Tensor exp(const Tensor &x, Precision precision) {
  return floatUnary("exp", x, precision, [](double v) { return std::exp(v); });
}

Tensor log(const Tensor &x, Precision precision) {
  return floatUnary("log", x, precision, [](double v) { return std::log(v); });
}

Tensor sqrt(const Tensor &x, Precision precision) {
  return floatUnary("sqrt", x, precision, [](double v) { return std::sqrt(v); });
}

Tensor rsqrt(const Tensor &x, Precision precision) {
  return floatUnary("rsqrt", x, precision, [](double v) { return 1 / std::sqrt(v); });
}

Tensor reciprocal(const Tensor &x, Precision precision) {
  return floatUnary("reciprocal", x, precision, [](double v) { return 1 / v; });
}

Tensor tanh(const Tensor &x, Precision precision) {
  return floatUnary("tanh", x, precision, [](double v) { return std::tanh(v); });
}

Tensor erf(const Tensor &x, Precision precision) {
  return floatUnary("erf", x, precision, [](double v) { return std::erf(v); });
}

Tensor sin(const Tensor &x, Precision precision) {
  return floatUnary("sin", x, precision, [](double v) { return std::sin(v); });
}

Tensor cos(const Tensor &x, Precision precision) {
  return floatUnary("cos", x, precision, [](double v) { return std::cos(v); });
}

Tensor sigmoid(const Tensor &x, Precision precision) {
  return floatUnary("sigmoid", x, precision, [](double v) { return 1 / (1 + std::exp(-v)); });
}

Tensor floor(const Tensor &x, Precision precision) {
  return floatUnary("floor", x, precision, [](double v) { return std::floor(v); });
}

Tensor ceil(const Tensor &x, Precision precision) {
  return floatUnary("ceil", x, precision, [](double v) { return std::ceil(v); });
}

Tensor round(const Tensor &x, Precision precision) {
  return floatUnary("round", x, precision, [](double v) { return std::nearbyint(v); });
}

Tensor isNaN(const Tensor &x) {
  checkFloat("isnan", x);
  auto test = [](double v) { return int64_t(std::isnan(v)); };
  return Tensor::integers(x.shape(), map<double, int64_t>(x, test), ElementType::b1);
}

Tensor cast(const Tensor &x, ElementType type, Precision precision) {
  if (x.type() == type)
    return x;
  if (isFloat(type)) {
    auto kept = [&](auto v) { return roundTo(type, precision, static_cast<double>(v)); };
    return Tensor::floats(
        x.shape(), x.isFloat() ? map<double, double>(x, kept) : map<int64_t, double>(x, kept),
        type);
  }
  if (!x.isFloat())
    return Tensor::integers(x.shape(), x.toIntegers(), type);
  int64_t low = std::numeric_limits<int64_t>::min(), high = std::numeric_limits<int64_t>::max();
  if (type == ElementType::i32) {
    low = std::numeric_limits<int32_t>::min();
    high = std::numeric_limits<int32_t>::max();
  } else if (type == ElementType::u8) {
    low = 0;
    high = 255;
  }
  auto convert = [&](double v) {
    return type == ElementType::b1 ? int64_t(v != 0) : std::clamp(truncate(v), low, high);
  };
  return Tensor::integers(x.shape(), map<double, int64_t>(x, convert), type);
}

Tensor add(const Tensor &a, const Tensor &b, Precision precision) {
  return arithmetic(
      "add", a, b, precision, [](double x, double y) { return x + y; }, wrapAdd);
}

Tensor sub(const Tensor &a, const Tensor &b, Precision precision) {
  return arithmetic(
      "sub", a, b, precision, [](double x, double y) { return x - y; }, wrapSub);
}

Tensor mul(const Tensor &a, const Tensor &b, Precision precision) {
  return arithmetic(
      "mul", a, b, precision, [](double x, double y) { return x * y; }, wrapMul);
}

Tensor div(const Tensor &a, const Tensor &b, Precision precision) {
  return arithmetic(
      "div", a, b, precision, [](double x, double y) { return x / y; },
      [](int64_t x, int64_t y) { return divide("div", x, y); });
}

Tensor mod(const Tensor &a, const Tensor &b, Precision precision) {
  return arithmetic(
      "mod", a, b, precision,
      [](double x, double y) {
        double rest = std::fmod(x, y);
        return rest != 0 && (rest < 0) != (y < 0) ? rest + y : rest;
      },
      [](int64_t x, int64_t y) {
        int64_t rest = remainder("mod", x, y);
        return rest != 0 && (rest < 0) != (y < 0) ? rest + y : rest;
      });
}

Tensor fmod(const Tensor &a, const Tensor &b, Precision precision) {
  return arithmetic(
      "fmod", a, b, precision, [](double x, double y) { return std::fmod(x, y); },
      [](int64_t x, int64_t y) { return remainder("fmod", x, y); });
}

Tensor max(const Tensor &a, const Tensor &b, Precision precision) {
  return arithmetic(
      "max", a, b, precision, [](double x, double y) { return std::isnan(x) || x > y ? x : y; },
      [](int64_t x, int64_t y) { return std::max(x, y); });
}

Tensor min(const Tensor &a, const Tensor &b, Precision precision) {
  return arithmetic(
      "min", a, b, precision, [](double x, double y) { return std::isnan(x) || x < y ? x : y; },
      [](int64_t x, int64_t y) { return std::min(x, y); });
}

Tensor pow(const Tensor &a, const Tensor &b, Precision precision) {
  checkNumber("pow", a);
  checkNumber("pow", b);
  Shape shape = broadcastShapes("pow", a.shape(), b.shape());
  if (!a.isFloat() && !b.isFloat())
    return Tensor::integers(shape, zip<int64_t, int64_t, int64_t>(shape, a, b, power), a.type());
  auto real = [&](auto x, auto y) {
    return roundTo(a.type(), precision, std::pow(double(x), double(y)));
  };
  if (!a.isFloat()) {
    auto whole = [&](int64_t x, double y) { return truncate(real(x, y)); };
    return Tensor::integers(shape, zip<int64_t, double, int64_t>(shape, a, b, whole), a.type());
  }
  return Tensor::floats(shape,
                        b.isFloat() ? zip<double, double, double>(shape, a, b, real)
                                    : zip<double, int64_t, double>(shape, a, b, real),
                        a.type());
}

Tensor logicalNot(const Tensor &x) {
  checkBoolean("logical_not", x);
  auto flip = [](int64_t v) { return int64_t(!v); };
  return Tensor::integers(x.shape(), map<int64_t, int64_t>(x, flip), ElementType::b1);
}

Tensor logicalAnd(const Tensor &a, const Tensor &b) {
  return logic("and", a, b, [](int64_t x, int64_t y) { return x & y; });
}

Tensor logicalOr(const Tensor &a, const Tensor &b) {
  return logic("or", a, b, [](int64_t x, int64_t y) { return x | y; });
}

Tensor logicalXor(const Tensor &a, const Tensor &b) {
  return logic("xor", a, b, [](int64_t x, int64_t y) { return x ^ y; });
}

Tensor compare(const Tensor &a, const Tensor &b, Predicate predicate) {
  checkSameType("compare", a, b);
  Shape shape = broadcastShapes("compare", a.shape(), b.shape());
  auto test = [&](auto x, auto y) { return int64_t(holds(predicate, x, y)); };
  return Tensor::integers(shape,
                          a.isFloat() ? zip<double, double, int64_t>(shape, a, b, test)
                                      : zip<int64_t, int64_t, int64_t>(shape, a, b, test),
                          ElementType::b1);
}

Tensor select(const Tensor &condition, const Tensor &a, const Tensor &b) {
  checkBoolean("select", condition);
  checkSameType("select", a, b);
  Shape shape =
      broadcastShapes("select", condition.shape(), broadcastShapes("select", a.shape(), b.shape()));
  if (a.isFloat())
    return Tensor::floats(shape, choose<double>(shape, condition, a, b), a.type());
  return Tensor::integers(shape, choose<int64_t>(shape, condition, a, b), a.type());
}

} // namespace colrow::reference
