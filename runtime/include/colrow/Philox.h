//===- Philox.h - random numbers that are a function of where they are used ===//
//
// Dropout masks and initial weights must be the same on every grid of ranks. So a random number
// is no draw from a sequence but a function of
//
//   seed    of the run,
//   step    of training (for dropout; 0 for initial weights),
//   id      of the place: stableId() of the parameter or of the dropout site,
//   index   of the element in the GLOBAL tensor, row-major, padding not counted.
//
// A rank that holds a slice evaluates it at the global indices of its slice. Under accumulation
// the index of a dropout site counts on over the microbatches: microbatch * numel + linear index.
//
// The generator is Philox 4x32-10 (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3",
// SC 2011; checked with the known answers of the authors' Random123). The compiler's interpreter,
// the kernels and the initialisation all call the functions below and get the same bits.
//
//===----------------------------------------------------------------------===//
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <string_view>

namespace colrow {

/// FNV-1a, 64 bits: the id of a name that never changes.
constexpr uint64_t stableId(std::string_view name) {
  uint64_t hash = 0xcbf29ce484222325u;
  for (char c : name)
    hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  return hash;
}

using PhiloxCounter = std::array<uint32_t, 4>;
using PhiloxKey = std::array<uint32_t, 2>;

/// The bare generator: ten rounds on a 128-bit counter with a 64-bit key.
inline PhiloxCounter philox4x32(PhiloxCounter counter, PhiloxKey key) {
  for (int round = 0; round < 10; ++round) {
    uint64_t product0 = uint64_t(0xD2511F53u) * counter[0];
    uint64_t product1 = uint64_t(0xCD9E8D57u) * counter[2];
    counter = {uint32_t(product1 >> 32) ^ counter[1] ^ key[0], uint32_t(product1),
               uint32_t(product0 >> 32) ^ counter[3] ^ key[1], uint32_t(product0)};
    key[0] += 0x9E3779B9u;
    key[1] += 0xBB67AE85u;
  }
  return counter;
}

/// The finaliser of SplitMix64: spreads every input bit over all output bits.
constexpr uint64_t mixBits(uint64_t x) {
  x += 0x9E3779B97F4A7C15u;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
  return x ^ (x >> 31);
}

/// The key of one stream. Loops over elements compute it once.
inline PhiloxKey philoxKey(uint64_t seed, uint64_t id) {
  uint64_t key = mixBits(mixBits(seed) ^ id);
  return {uint32_t(key), uint32_t(key >> 32)};
}

/// The four random words of elements 4 * block ... 4 * block + 3.
inline PhiloxCounter philoxBlock(PhiloxKey key, uint64_t step, uint64_t block) {
  return philox4x32(
      {uint32_t(block), uint32_t(block >> 32), uint32_t(step), uint32_t(step >> 32)}, key);
}

/// The random word of element `index`.
inline uint32_t philoxWord(uint64_t seed, uint64_t step, uint64_t id, uint64_t index) {
  return philoxBlock(philoxKey(seed, id), step, index / 4)[index % 4];
}

/// A word as a number in [0, 1): a multiple of 2^-24, exact in float and double.
inline float philoxToUniform(uint32_t word) { return float(word >> 8) * 0x1p-24f; }

/// Uniform in [0, 1) for element `index`.
inline float philoxUniform(uint64_t seed, uint64_t step, uint64_t id, uint64_t index) {
  return philoxToUniform(philoxWord(seed, step, id, index));
}

/// Standard normal for element `index`: Box-Muller on the pair of words it shares with its
/// neighbour, in double, rounded to float once.
inline float philoxNormal(uint64_t seed, uint64_t step, uint64_t id, uint64_t index) {
  PhiloxCounter words = philoxBlock(philoxKey(seed, id), step, index / 4);
  size_t pair = index % 4 / 2 * 2;
  double u = (double(words[pair]) + 1) * 0x1p-32; // in (0, 1]: its logarithm is finite
  double angle = double(words[pair + 1]) * (0x1p-32 * 6.283185307179586476925);
  double radius = std::sqrt(-2 * std::log(u));
  return float(radius * (index % 2 ? std::sin(angle) : std::cos(angle)));
}

/// An element with this word is kept by dropout iff `word >> 8 >= dropoutThreshold(ratio)`.
/// Integers, so that kernels in float and the interpreter in double never disagree.
/// `ratio` is the probability of dropping, in [0, 1].
inline uint32_t dropoutThreshold(double ratio) { return uint32_t(std::ceil(ratio * 0x1p24)); }

inline bool dropoutKeeps(uint32_t word, uint32_t threshold) { return (word >> 8) >= threshold; }

/// Whether dropout keeps element `index` (see the top of this file for how it counts).
inline bool dropoutKeeps(uint64_t seed, uint64_t step, uint64_t id, uint64_t index,
                         double ratio) {
  return dropoutKeeps(philoxWord(seed, step, id, index), dropoutThreshold(ratio));
}

} // namespace colrow
