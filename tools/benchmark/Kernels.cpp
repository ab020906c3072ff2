//===- Kernels.cpp - kernels at the shapes of GPT-2 124M on one of two ranks -===//
//
// 1024 tokens; with threads:2 both ranks are at work. Rates are FLOPs of whole products (a causal
// mask halves nothing), or bytes of operands and results, each counted once.
//
//===----------------------------------------------------------------------===//

#include "colrow/Kernels.h"

#include <benchmark/benchmark.h>

#include <vector>

namespace {

using namespace colrow;

constexpr int64_t tokens = 1024, hidden = 768, inner = 1536, heads = 6, depth = 64;
constexpr int64_t vocabulary = 25216;

/// Memory for a tensor, filled with small numbers.
struct Filled {
  std::vector<float> values;
  Shape shape;

  explicit Filled(const Shape &shape) : values(size_t(shape.numel())), shape(shape) {
    for (size_t i = 0; i < values.size(); ++i)
      values[i] = 0.01f * float(i % 17) - 0.05f;
  }
  operator Tensor() { return {values.data(), shape}; }
  operator ConstTensor() { return {values.data(), shape}; }
};

void reportBytes(benchmark::State &state, double bytes) {
  state.counters["bytes"] =
      benchmark::Counter(bytes * double(state.iterations()), benchmark::Counter::kIsRate);
}
void reportFlops(benchmark::State &state, double flops) {
  state.counters["flops"] =
      benchmark::Counter(flops * double(state.iterations()), benchmark::Counter::kIsRate);
}

void kernelLayerNorm(benchmark::State &state) {
  KernelContext ctx;
  Filled x({tokens, hidden}), w({hidden}), b({hidden}), y({tokens, hidden}), mean({tokens}),
      rstd({tokens});
  for (auto unused : state) {
    (void)unused;
    layerNorm(ctx, x, w, b, 1e-5, y, mean, rstd);
  }
  reportBytes(state, 4.0 * (2 * tokens * hidden + 2 * hidden + 2 * tokens));
}

void kernelLayerNormGrad(benchmark::State &state) {
  KernelContext ctx;
  Filled x({tokens, hidden}), w({hidden}), dy({tokens, hidden}), mean({tokens}), rstd({tokens}),
      dx({tokens, hidden}), dw({hidden}), db({hidden});
  for (auto unused : state) {
    (void)unused;
    layerNormGrad(ctx, dy, x, w, mean, rstd, dx, dw, db);
  }
  reportBytes(state, 4.0 * (3 * tokens * hidden + 3 * hidden + 2 * tokens));
}

void kernelGelu(benchmark::State &state) {
  KernelContext ctx;
  Filled x({tokens, inner}), y({tokens, inner});
  for (auto unused : state) {
    (void)unused;
    gelu(ctx, x, Gelu::tanh, y);
  }
  reportBytes(state, 4.0 * 2 * tokens * inner);
}

void kernelAdamW(benchmark::State &state) {
  KernelContext ctx;
  constexpr int64_t count = 8 << 20;
  Filled p({count}), g({count}), m({count}), v({count});
  AdamWScalars scalars{StepScalars()};
  for (auto unused : state) {
    (void)unused;
    adamW(ctx, p, g, m, v, scalars, true, 1.0f);
  }
  reportBytes(state, 4.0 * 7 * count);
}

struct AttentionOperands {
  Filled q{{1, heads, tokens, depth}}, k{{1, heads, tokens, depth}}, v{{1, heads, tokens, depth}},
      out{{1, heads, tokens, depth}}, sums{{1, heads, tokens}};
  AttentionForm form{0.125f, true, 0, {}, {}, {}};
  static constexpr double productFlops = 2.0 * heads * tokens * tokens * depth;
};

void kernelAttention(benchmark::State &state) {
  KernelContext ctx;
  AttentionOperands o;
  for (auto unused : state) {
    (void)unused;
    attention(ctx, o.q, o.k, o.v, o.form, o.out, o.sums);
  }
  reportFlops(state, 2 * AttentionOperands::productFlops);
}

void kernelAttentionGrad(benchmark::State &state) {
  KernelContext ctx;
  AttentionOperands o;
  Filled dout(o.out.shape), dq(o.q.shape), dk(o.k.shape), dv(o.v.shape);
  attention(ctx, o.q, o.k, o.v, o.form, o.out, o.sums);
  for (auto unused : state) {
    (void)unused;
    attentionGrad(ctx, dout, o.q, o.k, o.v, o.sums, o.form, dq, dk, dv);
  }
  reportFlops(state, 4 * AttentionOperands::productFlops); // gradients; recomputing is not counted
}

void kernelLinearCrossEntropyGrad(benchmark::State &state) {
  KernelContext ctx;
  Filled x({tokens, hidden}), w({vocabulary, hidden}), dx({tokens, hidden}),
      dw({vocabulary, hidden}), workspace(logitWorkspace(tokens, vocabulary));
  std::vector<int64_t> labels(tokens);
  for (int64_t i = 0; i < tokens; ++i)
    labels[size_t(i)] = i * 23 % vocabulary;
  VocabularySlice slice{IndexMap(vocabulary), vocabulary};
  for (auto unused : state) {
    (void)unused;
    linearCrossEntropyGrad(ctx, x, w, {labels.data(), {tokens}}, slice, tokens, dx, dw, 1,
                           workspace);
  }
  reportFlops(state, 3 * 2.0 * tokens * hidden * vocabulary);
}

void oneAndTwo(benchmark::internal::Benchmark *benchmark) {
  benchmark->Threads(1)->Threads(2)->UseRealTime();
}
BENCHMARK(kernelLayerNorm)->Apply(oneAndTwo);
BENCHMARK(kernelLayerNormGrad)->Apply(oneAndTwo);
BENCHMARK(kernelGelu)->Apply(oneAndTwo);
BENCHMARK(kernelAdamW)->Apply(oneAndTwo);
BENCHMARK(kernelAttention)->Apply(oneAndTwo);
BENCHMARK(kernelAttentionGrad)->Apply(oneAndTwo);
BENCHMARK(kernelLinearCrossEntropyGrad)->Apply(oneAndTwo);

} // namespace
