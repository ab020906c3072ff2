//===- Products.cpp - matrix products, by oneDNN itself and by the kernel ---===//
//
// threads:2 is two ranks at once, each with a core; cores:2 is one product on two cores.
//
//===----------------------------------------------------------------------===//

#include "colrow/KernelsEinsum.h"

#include <benchmark/benchmark.h>
#include <oneapi/dnnl/dnnl.h>

#include <vector>

// See runtime/cpu/Einsum.cpp.
extern "C" void omp_set_num_threads(int threads);

namespace {

/// Arguments of a benchmark: rows, columns, summed dimension, cores of one product.
struct Product {
  int64_t rows, columns, sum;
  int cores;
  std::vector<float> a, b, out;

  explicit Product(const benchmark::State &state)
      : rows(state.range(0)), columns(state.range(1)), sum(state.range(2)),
        cores(int(state.range(3))), a(size_t(rows * sum), 0.5f), b(size_t(sum * columns), 0.25f),
        out(size_t(rows * columns)) {}

  void report(benchmark::State &state) const {
    state.counters["flops"] = benchmark::Counter(
        2.0 * double(rows) * double(columns) * double(sum) * double(state.iterations()),
        benchmark::Counter::kIsRate);
  }
};

void oneDnn(benchmark::State &state) {
  Product p(state);
  omp_set_num_threads(p.cores);
  for (auto unused : state) {
    (void)unused;
    if (dnnl_sgemm('N', 'N', p.rows, p.columns, p.sum, 1, p.a.data(), p.sum, p.b.data(), p.columns,
                   0, p.out.data(), p.columns) != dnnl_success)
      state.SkipWithError("dnnl_sgemm failed");
  }
  p.report(state);
}

void einsum(benchmark::State &state) {
  Product p(state);
  colrow::KernelContext ctx(p.cores);
  for (auto unused : state) {
    (void)unused;
    colrow::einsum(ctx, "ti,io->to", {p.a.data(), {p.rows, p.sum}},
                   {p.b.data(), {p.sum, p.columns}}, {p.out.data(), {p.rows, p.columns}});
  }
  p.report(state);
}

/// A square, and products of the MLP of GPT-2 124M at 1024 tokens on one of two ranks and on one.
void shapes(benchmark::internal::Benchmark *benchmark) {
  benchmark->ArgNames({"m", "n", "k", "cores"})->UseRealTime();
  for (int cores : {1, 2})
    for (auto [m, n, k] : {std::array<int64_t, 3>{2048, 2048, 2048}, {1024, 1536, 768},
                           {1024, 3072, 768}, {1024, 768, 3072}})
      benchmark->Args({m, n, k, cores});
}
BENCHMARK(oneDnn)->Apply(shapes);
BENCHMARK(einsum)->Apply(shapes);

/// Two ranks at once.
void twoRanks(benchmark::internal::Benchmark *benchmark) {
  benchmark->ArgNames({"m", "n", "k", "cores"})->UseRealTime()->Threads(2);
  for (auto [m, n, k] :
       {std::array<int64_t, 3>{2048, 2048, 2048}, {1024, 1536, 768}, {1024, 768, 1536}})
    benchmark->Args({m, n, k, 1});
}
BENCHMARK(oneDnn)->Apply(twoRanks);
BENCHMARK(einsum)->Apply(twoRanks);

} // namespace
