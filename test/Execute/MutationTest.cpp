//===- MutationTest.cpp - wrong sharded programs are rejected --------------===//
//
// The promise of the type system: whoever forgets a conversion, makes one too many or takes the
// wrong one gets an error that quotes a rule, forward, backward and in the optimizer.
//
//===----------------------------------------------------------------------===//

#include "test/Execute/Block.h"
#include "test/Execute/Mutants.h"
#include "test/Execute/SingleOp.h"

#include "passes/Pipelines.h"
#include "passes/differentiate/Passes.h"
#include "passes/localize/Passes.h"
#include "passes/optimizer/Passes.h"
#include "passes/raise/Passes.h"
#include "runtime/reference/Interpreter.h"
#include "runtime/reference/InterpreterTypes.h"

#include "mlir/IR/Verifier.h"

#include <gtest/gtest.h>
#include <random>

using namespace mlir;

namespace colrow::test {
namespace {

using reference::Tensor;
using Tensors = std::map<std::string, Tensor>;

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

/// Random whole tensors for all arguments of a function, the same for every grid.
Tensors argumentsOf(func::FuncOp function) {
  Tensors arguments;
  std::mt19937_64 random(3);
  for (auto [i, type] : llvm::enumerate(function.getArgumentTypes())) {
    auto tensor = cast<RankedTensorType>(type);
    std::string key = tensorKey(getRole(function, i), getName(function, i), "arg", i);
    reference::Shape shape(tensor.getShape());
    if (key == "colrow.scalars") {
      arguments[key] = Tensor::floats(shape, {1e-2, 0.9, 0.99, 1e-8, 0.1, 0.1, 0.01, 0.5});
    } else if (key == "colrow.count") {
      arguments[key] = Tensor::full(reference::ElementType::f32, shape, 24);
    } else if (isa<FloatType>(tensor.getElementType())) {
      std::normal_distribution<double> normal;
      std::vector<double> values(tensor.getNumElements());
      for (double &value : values)
        value = getRole(function, i) == "state" ? std::abs(normal(random)) : normal(random);
      arguments[key] = Tensor::floats(shape, std::move(values));
    } else {
      std::uniform_int_distribution<int64_t> uniform(0, 31);
      std::vector<int64_t> values(tensor.getNumElements());
      for (int64_t &value : values)
        value = uniform(random);
      arguments[key] = Tensor::integers(shape, std::move(values));
    }
  }
  return arguments;
}

/// The results of every function of the module, by function and key.
Tensors runAll(ModuleOp original) {
  OwningOpRef<ModuleOp> module(original.clone());
  std::map<std::string, Tensors> arguments;
  for (func::FuncOp function : module->getOps<func::FuncOp>())
    arguments[function.getName().str()] = argumentsOf(function);
  PassManager passes(&testContext());
  passes.addPass(createDecompose());
  passes.addPass(createLocalize());
  if (failed(passes.run(*module)))
    throw std::runtime_error("cannot be localized");
  Tensors results;
  for (auto &[name, inputs] : arguments) {
    InterpreterOptions options;
    options.deadlockLimit = 20;
    for (NamedTensor &output : interpret(*module, name, inputs, options).outputs)
      results[name + " " + output.key] = output.value;
  }
  return results;
}

double worstDifference(const Tensors &a, const Tensors &b) {
  double worst = a.size() == b.size() ? 0 : INFINITY;
  for (auto &[key, value] : a)
    worst = std::max(worst, b.count(key) ? maxDifference(value, b.at(key)) : INFINITY);
  return worst;
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

void expectAllRejected(ModuleOp module, StringRef name) {
  ASSERT_TRUE(succeeded(verify(module)));
  // A mutant that the verifier accepts is right only if it computes the same.
  Tensors expected = runAll(module);
  auto isRight = [&](ModuleOp mutant) {
    try {
      return worstDifference(expected, runAll(mutant)) <= 1e-11;
    } catch (const std::exception &) {
      return false;
    }
  };
  MutantCount count = countMutants(module, isRight);
  count.print(name);
  EXPECT_GE(count.mutants, 300);
  for (const std::string &survivor : count.survivors)
    ADD_FAILURE() << survivor;
}

TEST_P(Mutation, EveryMutantIsRejectedByANumberedRule) {
  auto [name, dp, tp, decomposed] = GetParam();
  expectAllRejected(*trainable(makeGrid({{"dp", dp}, {"tp", tp}}), decomposed), name);
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
  expectAllRejected(*module, std::string("chosen, raise=") + GetParam());
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
