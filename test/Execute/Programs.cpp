#include "test/Execute/Programs.h"

#include "passes/localize/Passes.h"
#include "passes/raise/Passes.h"
#include "runtime/reference/Interpreter.h"
#include "runtime/reference/InterpreterTypes.h"
#include "test/Execute/Mutants.h"
#include "test/Execute/SingleOp.h"

#include "mlir/IR/Verifier.h"
#include "mlir/Pass/PassManager.h"

#include <gtest/gtest.h>
#include <random>

using namespace mlir;

namespace colrow::test {

using reference::Tensor;

/// Random whole tensors for all arguments of a function, the same for every grid.
static Tensors argumentsOf(func::FuncOp function) {
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

void expectAllMutantsRejected(ModuleOp module, StringRef name, int atLeast) {
  ASSERT_TRUE(succeeded(verify(module)));
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
  EXPECT_GE(count.mutants, atLeast);
  for (const std::string &survivor : count.survivors)
    ADD_FAILURE() << survivor;
}

} // namespace colrow::test
