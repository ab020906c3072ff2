//===- KernelTest.h - what the tests of the kernels share -----------------===//
#pragma once

#include "colrow/KernelsContext.h"
#include "colrow/KernelsTensor.h"

#include <cmath>
#include <functional>
#include <gtest/gtest.h>
#include <random>
#include <vector>

namespace colrow {

/// A tensor that owns its memory.
template <typename T> struct Owned {
  Shape shape;
  std::vector<T> values;

  Owned() = default;
  explicit Owned(const Shape &shape, T value = T(0))
      : shape(shape), values(size_t(shape.numel()), value) {}
  Owned(const Shape &shape, std::vector<T> given) : shape(shape), values(std::move(given)) {}

  View<T> view() { return {values.data(), shape}; }
  View<const T> view() const { return {values.data(), shape}; }
  operator View<T>() { return view(); }
  operator View<const T>() const { return view(); }
  T &operator[](int64_t i) { return values[size_t(i)]; }
  const T &operator[](int64_t i) const { return values[size_t(i)]; }
  int64_t numel() const { return int64_t(values.size()); }
};

/// Numbers in [-1, 1], always the same for one seed.
inline Owned<float> randomTensor(const Shape &shape, unsigned seed = 1) {
  Owned<float> tensor(shape);
  std::mt19937 bits(seed);
  for (float &value : tensor.values)
    value = float(double(bits()) / 2147483648.0 - 1.0);
  return tensor;
}

/// Integers in [low, high).
inline Owned<int64_t> randomIntegers(const Shape &shape, int64_t low, int64_t high,
                                     unsigned seed = 1) {
  Owned<int64_t> tensor(shape);
  std::mt19937 bits(seed);
  for (int64_t &value : tensor.values)
    value = low + int64_t(bits() % uint64_t(high - low));
  return tensor;
}

inline std::vector<double> toDouble(const std::vector<float> &values) {
  return {values.begin(), values.end()};
}

/// The index after `index` in row-major order; false at the end.
inline bool nextIndex(std::vector<int64_t> &index, const Shape &shape) {
  for (int i = shape.rank(); i-- > 0;) {
    if (++index[size_t(i)] < shape[i])
      return true;
    index[size_t(i)] = 0;
  }
  return false;
}

/// Row-major position of an index.
inline int64_t positionOf(const std::vector<int64_t> &index, const Shape &shape) {
  int64_t position = 0;
  for (int i = 0; i < shape.rank(); ++i)
    position = position * shape[i] + index[size_t(i)];
  return position;
}

/// All indices of a shape in row-major order; none if it is empty.
inline std::vector<std::vector<int64_t>> allIndices(const Shape &shape) {
  std::vector<std::vector<int64_t>> result;
  if (shape.numel() == 0)
    return result;
  std::vector<int64_t> index(size_t(shape.rank()), 0);
  do
    result.push_back(index);
  while (nextIndex(index, shape));
  return result;
}

/// Every element within `tolerance` of the reference, relative to max(1, |reference|). NaN equals
/// NaN only.
inline void expectNear(const std::vector<float> &got, const std::vector<double> &reference,
                       double tolerance, const std::string &what = "") {
  ASSERT_EQ(got.size(), reference.size()) << what;
  for (size_t i = 0; i < got.size(); ++i) {
    if (std::isnan(reference[i]) || std::isinf(reference[i])) {
      ASSERT_EQ(std::isnan(got[i]), std::isnan(reference[i])) << what << " at " << i;
      if (std::isinf(reference[i])) {
        ASSERT_EQ(double(got[i]), reference[i]) << what << " at " << i;
      }
      continue;
    }
    ASSERT_NEAR(got[i], reference[i], tolerance * std::max(1.0, std::abs(reference[i])))
        << what << " at " << i;
  }
}

/// The derivative of f at x by central differences in double, for every element of x.
inline std::vector<double>
numericGradient(const std::function<double(const std::vector<double> &)> &f, std::vector<double> x,
                double step = 1e-5) {
  std::vector<double> gradient(x.size());
  for (size_t i = 0; i < x.size(); ++i) {
    double at = x[i];
    x[i] = at + step;
    double above = f(x);
    x[i] = at - step;
    double below = f(x);
    x[i] = at;
    gradient[i] = (above - below) / (2 * step);
  }
  return gradient;
}

inline double dot(const std::vector<double> &x, const std::vector<double> &y) {
  double sum = 0;
  for (size_t i = 0; i < x.size(); ++i)
    sum += x[i] * y[i];
  return sum;
}

} // namespace colrow
