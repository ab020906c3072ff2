//===- MutationTest.cpp - wrong sharded programs are rejected --------------===//
//
// The promise of the type system: whoever forgets a conversion, makes one too many or takes the
// wrong one gets an error that quotes a rule, forward, backward and in the optimizer.
//
//===----------------------------------------------------------------------===//

#include "test/Execute/Block.h"
#include "test/Execute/Mutants.h"
#include "test/Execute/Programs.h"
#include "test/Execute/SingleOp.h"

#include "passes/Pipelines.h"
#include "passes/differentiate/Passes.h"
#include "passes/optimizer/Passes.h"
#include "passes/raise/Passes.h"

#include "mlir/Pass/PassManager.h"

#include <gtest/gtest.h>

using namespace mlir;

namespace colrow::test {
namespace {

OwningOpRef<ModuleOp> trainable(GridAttr grid, bool decomposed) {
  OwningOpRef<ModuleOp> module = buildBlock(grid);
  PassManager passes(&testContext());
  if (decomposed)
    passes.addPass(createDecompose());
  passes.addPass(createDifferentiate());
  passes.addPass(createOptimizer());
  if (failed(passes.run(*module)))
    throw std::runtime_error("the block does not differentiate");
  return module;
}

struct Case {
  const char *name;
  int64_t dp, tp;
  bool decomposed;
};

class Mutation : public testing::TestWithParam<Case> {};

TEST_P(Mutation, ShardedEqualsWhole) {
  auto [name, dp, tp, decomposed] = GetParam();
  Tensors expected = runAll(*trainable({}, decomposed));
  Tensors got = runAll(*trainable(makeGrid({{"dp", dp}, {"tp", tp}}), decomposed));
  EXPECT_LE(worstDifference(expected, got), 1e-11);
  EXPECT_GT(expected.size(), 60u);
}

TEST_P(Mutation, EveryMutantIsRejectedByANumberedRule) {
  auto [name, dp, tp, decomposed] = GetParam();
  expectAllMutantsRejected(*trainable(makeGrid({{"dp", dp}, {"tp", tp}}), decomposed), name, 500);
}

// The same model with the layouts that the compiler chooses.
class ChosenLayouts : public testing::TestWithParam<const char *> {};

TEST_P(ChosenLayouts, EveryMutantIsRejectedByANumberedRule) {
  OwningOpRef<ModuleOp> module = buildBlock({});
  PipelineOptions options;
  options.axes = SmallVector<std::string>{"tp=2"};
  options.raise = std::string(GetParam());
  PassManager passes(&testContext());
  buildShardedPipeline(passes, options);
  ASSERT_TRUE(succeeded(passes.run(*module)));
  expectAllMutantsRejected(*module, std::string("chosen, raise=") + GetParam(), 300);
}

INSTANTIATE_TEST_SUITE_P(Raise, ChosenLayouts, testing::Values("all", "none"),
                         [](const auto &info) { return std::string(info.param); });

INSTANTIATE_TEST_SUITE_P(Blocks, Mutation,
                         testing::Values(Case{"fused", 2, 2, false},
                                         Case{"primitive", 2, 2, true},
                                         Case{"tp4", 1, 4, false}),
                         [](const auto &info) { return std::string(info.param.name); });

} // namespace
} // namespace colrow::test
