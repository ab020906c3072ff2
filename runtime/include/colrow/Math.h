//===- Math.h - scalar functions of elementwise loops ---------------------===//
//
// What generated elementwise loops call. exp, tanh and erf are polynomials and selects, without
// calls or branches, so that compilers vectorise loops of them without -ffast-math: infinities and
// NaN keep their meaning (a mask of -infinity must survive). They are within 2e-7 of the exact
// value, relative for exp and absolute for the others, which is what the C library's float versions
// give too. All are always inlined: a call costs a loop its vectors. GCC wants -O3 -fno-math-errno
// -fno-trapping-math for it, which change no result.
//
//===----------------------------------------------------------------------===//
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

namespace colrow::math {

[[gnu::always_inline]] inline float abs(float x) { return std::fabs(x); }
[[gnu::always_inline]] inline float ceil(float x) { return std::ceil(x); }
[[gnu::always_inline]] inline float cos(float x) { return std::cos(x); }
[[gnu::always_inline]] inline float floor(float x) { return std::floor(x); }
[[gnu::always_inline]] inline float log(float x) { return std::log(x); }
[[gnu::always_inline]] inline float pow(float x, float y) { return std::pow(x, y); }
/// To the nearest integer, halves to the even one.
[[gnu::always_inline]] inline float round(float x) { return std::nearbyint(x); }
[[gnu::always_inline]] inline float rsqrt(float x) { return 1.0f / std::sqrt(x); }
[[gnu::always_inline]] inline float sin(float x) { return std::sin(x); }
[[gnu::always_inline]] inline float sqrt(float x) { return std::sqrt(x); }

/// e to the x. Results below the smallest normal number are 0.
[[gnu::always_inline]] inline float exp(float x) {
  // x = n log(2) + r with |r| <= log(2) / 2: adding and subtracting 1.5 * 2^23 rounds to an
  // integer.
  float clamped = x > 88.8f ? 88.8f : x;
  clamped = clamped < -87.4f ? -87.4f : clamped;
  float n = (clamped * 1.44269504088896341f + 12582912.0f) - 12582912.0f;
  float r = clamped - n * 0.693359375f; // log(2) in two parts, the first exact in its product
  r = r + n * 2.12194440e-4f;
  // Cephes' expf.
  float p = 1.9875691500e-4f;
  p = p * r + 1.3981999507e-3f;
  p = p * r + 8.3334519073e-3f;
  p = p * r + 4.1665795894e-2f;
  p = p * r + 1.6666665459e-1f;
  p = p * r + 5.0000001201e-1f;
  p = p * r * r + r + 1.0f;
  // 2^n in two factors, since n reaches 128. `clamped` is NaN only if x is, which the last select
  // puts right, so here it must only not be undefined.
  int32_t whole = int32_t(n == n ? n : 0.0f), half = whole >> 1;
  int32_t bits[2] = {(half + 127) << 23, (whole - half + 127) << 23};
  float low, high;
  std::memcpy(&low, &bits[0], sizeof(low));
  std::memcpy(&high, &bits[1], sizeof(high));
  float result = p * low * high;
  result = x < -87.33654f ? 0.0f : result;
  result = x > 88.72283f ? std::numeric_limits<float>::infinity() : result;
  return x != x ? x : result;
}

[[gnu::always_inline]] inline float tanh(float x) {
  float size = std::fabs(x), square = x * x;
  // Cephes' tanhf: near 0 a polynomial, else from the exponential.
  float p = -5.70498872745e-3f;
  p = p * square + 2.06390887954e-2f;
  p = p * square - 5.37397155531e-2f;
  p = p * square + 1.33314422036e-1f;
  p = p * square - 3.33332819422e-1f;
  float near = p * square * x + x;
  float far = std::copysign(1.0f - 2.0f / (exp(2.0f * size) + 1.0f), x);
  return size < 0.625f ? near : far;
}

[[gnu::always_inline]] inline float erf(float x) {
  float size = std::fabs(x), square = x * x;
  // Two minimax polynomials: x (1 + square p(square)) near 0, and 1 - exp(q(size)) beyond.
  float p = -5.96761703e-4f;
  p = p * square + 4.99119423e-3f;
  p = p * square - 2.67681349e-2f;
  p = p * square + 1.12819925e-1f;
  p = p * square - 3.76125336e-1f;
  p = p * square + 1.28379166e-1f;
  float near = p * x + x;
  float bounded = size > 4.5f ? 4.5f : size; // there erf is 1 in float
  float q = -1.72853470e-5f;
  q = q * bounded + 3.83197126e-4f;
  q = q * bounded - 3.88396438e-3f;
  q = q * bounded + 2.42546219e-2f;
  q = q * bounded - 1.06777877e-1f;
  q = q * bounded - 6.34846687e-1f;
  q = q * bounded - 1.28717512e-1f;
  q = q * bounded - bounded;
  float far = std::copysign(1.0f - exp(q), x);
  far = x != x ? x : far;
  return size < 0.927734375f ? near : far;
}

/// NaN if either is.
[[gnu::always_inline]] inline float maximum(float x, float y) {
  return ((x > y) | (x != x)) ? x : y;
}
[[gnu::always_inline]] inline float minimum(float x, float y) {
  return ((x < y) | (x != x)) ? x : y;
}
/// -1, 0 or 1; NaN for NaN.
[[gnu::always_inline]] inline float sign(float x) { return x > 0 ? 1.0f : x < 0 ? -1.0f : x; }

[[gnu::always_inline]] inline float relu(float x) { return maximum(x, 0.0f); }
[[gnu::always_inline]] inline float sigmoid(float x) { return 1.0f / (1.0f + exp(-x)); }
/// log(1 + exp(x)), without overflow.
[[gnu::always_inline]] inline float softplus(float x) {
  return maximum(x, 0.0f) + std::log1p(exp(-abs(x)));
}

/// x times the normal distribution's probability of less than x.
[[gnu::always_inline]] inline float gelu(float x) {
  return 0.5f * x * (1.0f + erf(x * 0.70710678118654752f));
}
/// d gelu(x) / dx
[[gnu::always_inline]] inline float geluDerivative(float x) {
  float probability = 0.5f * (1.0f + erf(x * 0.70710678118654752f));
  return probability + x * 0.39894228040143268f * exp(-0.5f * x * x);
}

/// gelu with the probability approximated by a tanh, as GPT-2 has it.
[[gnu::always_inline]] inline float geluTanh(float x) {
  float u = 0.79788456080286536f * (x + 0.044715f * x * x * x);
  return 0.5f * x * (1.0f + tanh(u));
}
/// d geluTanh(x) / dx
[[gnu::always_inline]] inline float geluTanhDerivative(float x) {
  float square = x * x;
  float t = tanh(0.79788456080286536f * (x + 0.044715f * x * square));
  float du = 0.79788456080286536f * (1.0f + 3.0f * 0.044715f * square);
  return 0.5f * (1.0f + t) + 0.5f * x * (1.0f - t * t) * du;
}

[[gnu::always_inline]] inline float silu(float x) { return x * sigmoid(x); }
/// d silu(x) / dx
[[gnu::always_inline]] inline float siluDerivative(float x) {
  float s = sigmoid(x);
  return s + x * s * (1.0f - s);
}

} // namespace colrow::math
