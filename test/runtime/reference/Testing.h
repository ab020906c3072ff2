//===- Testing.h - what the tests of the reference kernels share ----------===//
#pragma once

#include "runtime/reference/Tensor.h"

#include <gtest/gtest.h>

#include <limits>
#include <random>

namespace colrow::reference {

using Floats = std::vector<double>;
using Integers = std::vector<int64_t>;

constexpr Precision f64 = Precision::f64, f32 = Precision::f32;
constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double notANumber = std::numeric_limits<double>::quiet_NaN();

inline Tensor vectorOf(Floats values) {
  Shape shape{static_cast<int64_t>(values.size())};
  return Tensor::floats(shape, std::move(values));
}

inline Tensor integersOf(Integers values, ElementType type = ElementType::i64) {
  Shape shape{static_cast<int64_t>(values.size())};
  return Tensor::integers(shape, std::move(values), type);
}

inline Tensor booleansOf(Integers values) { return integersOf(std::move(values), ElementType::b1); }

inline Tensor randomTensor(const Shape &shape, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal;
  Floats values(elementCount(shape));
  for (double &value : values)
    value = normal(random);
  return Tensor::floats(shape, std::move(values));
}

/// 0, 1, 2, ... in row-major order.
inline Tensor counted(const Shape &shape) {
  Floats values(elementCount(shape));
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = static_cast<double>(i);
  return Tensor::floats(shape, std::move(values));
}

/// Whether running `fn` throws Error, and with this text in its message.
template <typename Fn> testing::AssertionResult failsWith(const std::string &text, Fn fn) {
  try {
    fn();
  } catch (const Error &error) {
    if (std::string(error.what()).find(text) != std::string::npos)
      return testing::AssertionSuccess();
    return testing::AssertionFailure() << "the message is: " << error.what();
  }
  return testing::AssertionFailure() << "nothing was thrown";
}

} // namespace colrow::reference
