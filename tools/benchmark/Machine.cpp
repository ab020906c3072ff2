//===- Machine.cpp - the rates that a machine can reach at most -------------===//
//
// With threads:N, N cores do the same at once: clocks and memory bandwidth are shared.
//
//===----------------------------------------------------------------------===//

#include <benchmark/benchmark.h>

#include <cstddef>
#include <vector>

namespace {

// As wide as this processor's registers, and as many independent chains as fit beside the operands:
// more than latency times throughput of any fused multiply-add so far.
#if defined(__AVX512F__)
constexpr size_t vectorBytes = 64;
constexpr int chains = 24;
#elif defined(__AVX__)
constexpr size_t vectorBytes = 32;
constexpr int chains = 12;
#else
constexpr size_t vectorBytes = 16;
constexpr int chains = 12;
#endif
using Vector = float __attribute__((vector_size(vectorBytes)));

/// Independent chains of x = x * factor + term. The peak that all percentages refer to.
void fma(benchmark::State &state) {
  constexpr int rounds = 1 << 14;
  Vector factor, term;
  for (size_t i = 0; i < vectorBytes / sizeof(float); ++i)
    factor[i] = 0.5f, term[i] = 1.0f;
  benchmark::DoNotOptimize(factor);
  benchmark::DoNotOptimize(term);
  Vector values[chains] = {};
  for (auto unused : state) {
    (void)unused;
    for (int round = 0; round < rounds; ++round)
#pragma clang loop unroll(full)
      for (int i = 0; i < chains; ++i)
        values[i] = values[i] * factor + term;
    benchmark::DoNotOptimize(values);
  }
  state.counters["flops"] = benchmark::Counter(
      2.0 * rounds * chains * (vectorBytes / sizeof(float)) * double(state.iterations()),
      benchmark::Counter::kIsRate);
}
BENCHMARK(fma)->Threads(1)->Threads(2)->UseRealTime();

/// STREAM's triad (McCalpin, 1995) on arrays far larger than caches; what a store reads beforehand
/// is not counted.
void triad(benchmark::State &state) {
  constexpr size_t count = size_t(1) << 24;
  std::vector<float> a(count), b(count, 1.0f), c(count, 2.0f);
  float factor = 3;
  benchmark::DoNotOptimize(factor);
  for (auto unused : state) {
    (void)unused;
    float *to = a.data();
    benchmark::DoNotOptimize(to);
    const float *x = b.data(), *y = c.data();
    for (size_t i = 0; i < count; ++i)
      to[i] = x[i] + factor * y[i];
    benchmark::ClobberMemory();
  }
  state.counters["bytes"] = benchmark::Counter(3.0 * sizeof(float) * count * state.iterations(),
                                               benchmark::Counter::kIsRate);
}
BENCHMARK(triad)->Threads(1)->Threads(2)->UseRealTime();

} // namespace
