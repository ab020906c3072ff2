//===- Rows.h - reductions of runs of memory ------------------------------===//
//
// Sums are in double and in lanes side by side: they vectorise, their order is fixed, and long rows
// lose nothing.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "colrow/Math.h"

#include <cstdint>
#include <limits>

namespace colrow {

/// The sum of term(0) ... term(count - 1), in double.
template <typename Term> double sumOf(int64_t count, const Term &term) {
  constexpr int lanes = 8;
  double sums[lanes] = {};
  int64_t i = 0;
  for (; i + lanes <= count; i += lanes)
    for (int lane = 0; lane < lanes; ++lane)
      sums[lane] += double(term(i + lane));
  for (int lane = 0; i < count; ++i, ++lane)
    sums[lane] += double(term(i));
  for (int width = lanes / 2; width > 0; width /= 2)
    for (int lane = 0; lane < width; ++lane)
      sums[lane] += sums[lane + width];
  return sums[0];
}

inline double dotProduct(const float *x, const float *y, int64_t count) {
  return sumOf(count, [=](int64_t i) { return double(x[i]) * double(y[i]); });
}

/// The largest element; -infinity if there is none, NaN if one is.
inline float maxOf(const float *x, int64_t count) {
  constexpr int lanes = 16;
  float most[lanes];
  for (float &lane : most)
    lane = -std::numeric_limits<float>::infinity();
  int64_t i = 0;
  for (; i + lanes <= count; i += lanes)
    for (int lane = 0; lane < lanes; ++lane)
      most[lane] = math::maximum(x[i + lane], most[lane]);
  for (int lane = 0; i < count; ++i, ++lane)
    most[lane] = math::maximum(x[i], most[lane]);
  for (int lane = 1; lane < lanes; ++lane)
    most[0] = math::maximum(most[lane], most[0]);
  return most[0];
}

/// x[i] = exp(x[i] - most); returns the sum of the results.
inline double expOfDifference(float *x, int64_t count, float most) {
  for (int64_t i = 0; i < count; ++i)
    x[i] = math::exp(x[i] - most);
  return sumOf(count, [=](int64_t i) { return x[i]; });
}

} // namespace colrow
