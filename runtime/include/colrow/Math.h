//===- Math.h - scalar functions of elementwise loops ---------------------===//
//
// What generated elementwise loops call. Inline, without branches that keep a loop from being
// vectorised, and with IEEE behaviour for infinities and NaN (a mask of -infinity must survive).
//
//===----------------------------------------------------------------------===//
#pragma once

#include <cmath>

namespace colrow::math {

inline float abs(float x) { return std::fabs(x); }
inline float ceil(float x) { return std::ceil(x); }
inline float cos(float x) { return std::cos(x); }
inline float erf(float x) { return std::erf(x); }
inline float exp(float x) { return std::exp(x); }
inline float floor(float x) { return std::floor(x); }
inline float log(float x) { return std::log(x); }
inline float pow(float x, float y) { return std::pow(x, y); }
/// To the nearest integer, halves to the even one.
inline float round(float x) { return std::nearbyint(x); }
inline float rsqrt(float x) { return 1.0f / std::sqrt(x); }
inline float sin(float x) { return std::sin(x); }
inline float sqrt(float x) { return std::sqrt(x); }
inline float tanh(float x) { return std::tanh(x); }

/// NaN if either is.
inline float maximum(float x, float y) { return ((x > y) | (x != x)) ? x : y; }
inline float minimum(float x, float y) { return ((x < y) | (x != x)) ? x : y; }
/// -1, 0 or 1; NaN for NaN.
inline float sign(float x) { return x > 0 ? 1.0f : x < 0 ? -1.0f : x; }

inline float relu(float x) { return maximum(x, 0.0f); }
inline float sigmoid(float x) { return 1.0f / (1.0f + exp(-x)); }
/// log(1 + exp(x)), without overflow.
inline float softplus(float x) { return maximum(x, 0.0f) + std::log1p(exp(-abs(x))); }

/// x times the normal distribution's probability of less than x.
inline float gelu(float x) { return 0.5f * x * (1.0f + erf(x * 0.70710678118654752f)); }
/// d gelu(x) / dx
inline float geluDerivative(float x) {
  float probability = 0.5f * (1.0f + erf(x * 0.70710678118654752f));
  return probability + x * 0.39894228040143268f * exp(-0.5f * x * x);
}

/// gelu with the probability approximated by a tanh, as GPT-2 has it.
inline float geluTanh(float x) {
  float u = 0.79788456080286536f * (x + 0.044715f * x * x * x);
  return 0.5f * x * (1.0f + tanh(u));
}
/// d geluTanh(x) / dx
inline float geluTanhDerivative(float x) {
  float square = x * x;
  float t = tanh(0.79788456080286536f * (x + 0.044715f * x * square));
  float du = 0.79788456080286536f * (1.0f + 3.0f * 0.044715f * square);
  return 0.5f * (1.0f + t) + 0.5f * x * (1.0f - t * t) * du;
}

inline float silu(float x) { return x * sigmoid(x); }
/// d silu(x) / dx
inline float siluDerivative(float x) {
  float s = sigmoid(x);
  return s + x * s * (1.0f - s);
}

} // namespace colrow::math
