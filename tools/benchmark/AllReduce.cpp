//===- AllReduce.cpp - all-reduce between two ranks that are threads --------===//
//
// MpiAllReduce.cpp does the same with Open MPI.
//
//===----------------------------------------------------------------------===//

#include "colrow/ThreadRanks.h"

#include <benchmark/benchmark.h>

#include <chrono>
#include <vector>

namespace {

/// Arguments: bytes, and calls in a round.
void allReduce(benchmark::State &state) {
  int64_t count = state.range(0) / int64_t(sizeof(float)), calls = state.range(1);
  double seconds = 0;
  for (auto unused : state) {
    (void)unused;
    colrow::runRanks({{"tp", 2}}, [&](colrow::Rank &rank) {
      colrow::Communicator &tp = rank.over({"tp"});
      std::vector<float> data(size_t(count), 1.0f);
      tp.allReduce(data.data(), count);
      tp.barrier();
      auto begin = std::chrono::steady_clock::now();
      for (int64_t call = 0; call < calls; ++call)
        tp.allReduce(data.data(), count);
      tp.barrier();
      auto end = std::chrono::steady_clock::now();
      if (rank.index() == 0)
        seconds = std::chrono::duration<double>(end - begin).count();
    });
    state.SetIterationTime(seconds / double(calls));
  }
}
BENCHMARK(allReduce)
    ->ArgNames({"bytes", "calls"})
    ->Args({4 << 10, 2000})
    ->Args({64 << 10, 1000})
    ->Args({1 << 20, 100})
    ->Args({3 << 20, 50})
    ->Args({16 << 20, 10})
    ->UseManualTime()
    ->Iterations(10);

} // namespace
