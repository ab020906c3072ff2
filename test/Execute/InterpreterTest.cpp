//===- InterpreterTest.cpp - the interpreter itself ------------------------===//

#include "passes/localize/Passes.h"
#include "runtime/reference/Interpreter.h"
#include "runtime/reference/InterpreterTypes.h"
#include "test/Execute/SingleOp.h"

#include "colrow/Error.h"

#include "mlir/Parser/Parser.h"

#include <gtest/gtest.h>

using namespace mlir;

namespace colrow::test {
namespace {

using reference::ElementType;
using reference::Tensor;
using Tensors = std::map<std::string, Tensor>;

OwningOpRef<ModuleOp> parsed(const std::string &text) {
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(text, &testContext());
  if (!module)
    throw std::runtime_error("does not parse");
  PassManager passes(&testContext());
  passes.addPass(createLocalize());
  if (failed(passes.run(*module)))
    throw std::runtime_error("cannot be localized");
  return module;
}

std::string errorOf(const std::function<void()> &run) {
  try {
    run();
  } catch (const std::exception &error) {
    return error.what();
  }
  return "no error";
}

const char *const doubled = R"(
func.func private @twice(%x: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>) {
  %0 = colrow.add %x, %x : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  return %0, %x : tensor<2xf32>, tensor<2xf32>
}
func.func @main(%x: tensor<2xf32> {colrow.name = "x", colrow.role = "input"})
    -> (tensor<2xf32> {colrow.name = "y", colrow.role = "output"}, tensor<2xf32>) {
  %0:2 = call @twice(%x) : (tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>)
  %1:2 = call @twice(%0#0) : (tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>)
  return %1#0, %0#1 : tensor<2xf32>, tensor<2xf32>
})";

TEST(Interpreter, RunsFunctionsThatCallOthers) {
  InterpreterResult result =
      interpret(*parsed(doubled), "main", {{"x", Tensor::floats({2}, {1, 3})}});
  EXPECT_EQ(result.get("y").toFloats(), (std::vector<double>{4, 12}));
  EXPECT_EQ(result.get("result1").toFloats(), (std::vector<double>{1, 3}));
  EXPECT_EQ(result.outputs[0].role, "output");
}

TEST(Interpreter, NamesWhatIsMissingOrDoesNotFit) {
  OwningOpRef<ModuleOp> module = parsed(doubled);
  EXPECT_EQ(errorOf([&] { interpret(*module, "main", {}); }),
            "function 'main' needs a tensor 'x' of shape [2]");
  EXPECT_EQ(errorOf([&] { interpret(*module, "main", {{"x", Tensor::floats({3}, {1, 2, 3})}}); }),
            "tensor 'x' must be f32[2], got: f32[3]");
  EXPECT_EQ(errorOf([&] { interpret(*module, "main", {{"x", Tensor::integers({2}, {1, 2})}}); }),
            "tensor 'x' must be f32[2], got: i64[2]");
  EXPECT_EQ(errorOf([&] { interpret(*module, "step", {}); }),
            "there is no function 'step' among: 'main', 'twice'");
  InterpreterResult result = interpret(*module, "main", {{"x", Tensor::floats({2}, {1, 3})}});
  EXPECT_EQ(errorOf([&] { result.get("loss"); }),
            "there is no result 'loss' among: y, result1");
}

TEST(Interpreter, NamesTheUsersNodeInAnError) {
  OwningOpRef<ModuleOp> module = parsed(R"(
    func.func @main(%t: tensor<4xf32>, %i: tensor<1xi64>) -> tensor<1xf32> {
      %0 = colrow.take %t at %i along 0
          : (tensor<4xf32>, tensor<1xi64>) -> tensor<1xf32> loc("wte/Gather")
      return %0 : tensor<1xf32>
    })");
  std::string error = errorOf([&] {
    interpret(*module, "main", {{"arg0", Tensor::floats({4}, {1, 2, 3, 4})},
                                {"arg1", Tensor::integers({1}, {4})}});
  });
  EXPECT_NE(error.find("'wte/Gather' (colrow.take): take: "), std::string::npos) << error;
}

TEST(Interpreter, AsksForDecomposition) {
  OwningOpRef<ModuleOp> module = parsed(R"(
    func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
      %0 = colrow.silu %x : (tensor<4xf32>) -> tensor<4xf32>
      return %0 : tensor<4xf32>
    })");
  EXPECT_EQ(errorOf([&] {
              interpret(*module, "main", {{"arg0", Tensor::floats({4}, {1, 2, 3, 4})}});
            }),
            "the interpreter has no kernel for colrow.silu: run colrow-decompose before "
            "colrow-localize");
}

TEST(Interpreter, RefusesTypesWithLayouts) {
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(R"(
    module attributes {colrow.grid = #colrow.grid<tp = 2>} {
      func.func @main(%x: tensor<4xf32, #colrow.layout<tp = partial>>) { return }
    })", &testContext());
  EXPECT_EQ(errorOf([&] { interpret(*module, "main", {}); }),
            "function 'main' has types with layouts: run colrow-localize first");
}

// What is said to be whole must have the same bits on every rank.
TEST(Interpreter, FindsRanksThatDisagree) {
  OwningOpRef<ModuleOp> module = parsed(R"(
    module attributes {colrow.grid = #colrow.grid<tp = 2>} {
      func.func @main(%x: tensor<4xf32, #colrow.layout<tp = shard<0>>>)
          -> tensor<4xf32, #colrow.layout<tp = shard<0>>> {
        return %x : tensor<4xf32, #colrow.layout<tp = shard<0>>>
      }
    })");
  auto function = module->lookupSymbol<func::FuncOp>("main");
  function.removeResultAttr(0, StringAttr::get(&testContext(), "colrow.global"));
  std::string error = errorOf([&] {
    interpret(*module, "main", {{"arg0", Tensor::floats({4}, {1, 2, 3, 4})}});
  });
  EXPECT_NE(error.find("result 'result0': ranks 0 and 1 should hold the same bits"),
            std::string::npos)
      << error;
}

// Partial arguments are taken apart and partial results put together.
TEST(Interpreter, TakesAndGivesPartialTensors) {
  OwningOpRef<ModuleOp> module = parsed(R"(
    module attributes {colrow.grid = #colrow.grid<dp = 2, tp = 2>} {
      func.func @main(%x: tensor<3xf32, #colrow.layout<dp = partial>> {colrow.name = "w",
                                                                      colrow.role = "gradient"})
          -> (tensor<3xf32, #colrow.layout<dp = partial>>, tensor<3xf32>) {
        %0 = colrow.add %x, %x
            : (tensor<3xf32, #colrow.layout<dp = partial>>,
               tensor<3xf32, #colrow.layout<dp = partial>>)
            -> tensor<3xf32, #colrow.layout<dp = partial>>
        %1 = colrow.g %x on ["dp"]
            : (tensor<3xf32, #colrow.layout<dp = partial>>) -> tensor<3xf32>
        return %0, %1 : tensor<3xf32, #colrow.layout<dp = partial>>, tensor<3xf32>
      }
    })");
  InterpreterResult result =
      interpret(*module, "main", {{"w.gradient", Tensor::floats({3}, {1, 2, 3})}});
  EXPECT_LE(maxDifference(result.get("result0"), Tensor::floats({3}, {2, 4, 6})), 1e-14);
  EXPECT_LE(maxDifference(result.get("result1"), Tensor::floats({3}, {1, 2, 3})), 1e-14);
}

// Under fp32 every operation rounds; under fp64 none does.
TEST(Interpreter, RoundsAsThePrecisionSays) {
  OwningOpRef<ModuleOp> module = parsed(R"(
    func.func @main(%x: tensor<f32>) -> tensor<f32> {
      %0 = colrow.constant dense<1.0e-9> : tensor<f32>
      %1 = colrow.add %x, %0 : (tensor<f32>, tensor<f32>) -> tensor<f32>
      %2 = colrow.sub %1, %x : (tensor<f32>, tensor<f32>) -> tensor<f32>
      return %2 : tensor<f32>
    })");
  Tensors inputs = {{"arg0", Tensor::scalar(ElementType::f32, 1)}};
  InterpreterOptions options;
  EXPECT_NEAR(interpret(*module, "main", inputs, options).get("result0").item(), 1e-9, 1e-15);
  options.precision = reference::Precision::f32;
  EXPECT_EQ(interpret(*module, "main", inputs, options).get("result0").item(), 0);
}

// Where one rank fails the others do not wait for it for ever.
TEST(Interpreter, EndsWhereARankFails) {
  OwningOpRef<ModuleOp> module = parsed(R"(
    module attributes {colrow.grid = #colrow.grid<tp = 2>} {
      func.func @main(%x: tensor<2xf32, #colrow.layout<tp = shard<0>>>,
                      %ids: tensor<2xi64, #colrow.layout<tp = shard<0>>>) -> tensor<2xf32> {
        %0 = colrow.constant dense<[1.0, 2.0]> : tensor<2xf32>
            as tensor<2xf32, #colrow.layout<tp = replicated>>
        %1 = colrow.take %0 at %ids along 0
            : (tensor<2xf32, #colrow.layout<tp = replicated>>,
               tensor<2xi64, #colrow.layout<tp = shard<0>>>)
            -> tensor<2xf32, #colrow.layout<tp = shard<0>>>
        %2 = colrow.gather %1 on ["tp"]
            : (tensor<2xf32, #colrow.layout<tp = shard<0>>>) -> tensor<2xf32>
        return %2 : tensor<2xf32>
      }
    })");
  // Rank 1 fails in the lookup, so rank 0 waits in vain; what is reported is why rank 1 failed.
  std::string error = errorOf([&] {
    interpret(*module, "main", {{"arg0", Tensor::floats({2}, {1, 2})},
                                {"arg1", Tensor::integers({2}, {0, 9})}});
  });
  EXPECT_NE(error.find("colrow.take: take: "), std::string::npos) << error;
}

//===----------------------------------------------------------------------===//
// One operation
//===----------------------------------------------------------------------===//

TEST(Evaluate, RunsOneOperation) {
  SingleOp concat(testContext(),
                  {"colrow.concat %0, %1 along 0 : (tensor<1xi64>, tensor<2xi64>) -> tensor<3xi64>"},
                  GridAttr());
  Tensor got = evaluate(concat.op(), {Tensor::integers({1}, {7}), Tensor::integers({2}, {8, 9})})[0];
  EXPECT_EQ(got.toIntegers(), (std::vector<int64_t>{7, 8, 9}));
}

TEST(Evaluate, DecomposesBigOperations) {
  SingleOp softmax(testContext(),
                   {"colrow.softmax %0 along 0 : (tensor<2xf32>) -> tensor<2xf32>"}, GridAttr());
  Tensor got = evaluate(softmax.op(), {Tensor::floats({2}, {0, std::log(3.0)})})[0];
  EXPECT_LE(maxDifference(got, Tensor::floats({2}, {0.25, 0.75})), 1e-15);
}

// As its kernel does (test/runtime/cpu/AttentionTest.cpp).
TEST(Evaluate, AttentionOfAQueryThatSeesNothingIsNaN) {
  SingleOp attention(testContext(),
                     {"colrow.attention %0, %1, %2 scale 1.0 causal -1 : (tensor<1x1x2x1xf32>, "
                      "tensor<1x1x2x1xf32>, tensor<1x1x2x1xf32>) -> tensor<1x1x2x1xf32>"},
                     GridAttr());
  Tensor x = Tensor::floats({1, 1, 2, 1}, {3, 4});
  std::vector<double> got = evaluate(attention.op(), {x, x, x})[0].toFloats();
  EXPECT_TRUE(std::isnan(got[0]));
  EXPECT_EQ(got[1], 3);
}

//===----------------------------------------------------------------------===//
// Constants
//===----------------------------------------------------------------------===//

TEST(Constants, GoToAttributesAndBack) {
  for (const Tensor &x :
       {Tensor::floats({2, 2}, {1, -0.0, INFINITY, 0.1f}), Tensor::floats({2}, {0.1, 3}, ElementType::f64),
        Tensor::integers({3}, {-1, 2, INT64_MIN}), Tensor::integers({2}, {-1, 5}, ElementType::i32),
        Tensor::integers({2}, {255, 1}, ElementType::u8),
        Tensor::integers({3}, {1, 0, 1}, ElementType::b1), Tensor::full(ElementType::f32, {4, 5}, 2.5),
        Tensor::full(ElementType::b1, {4}, 1), Tensor::scalar(ElementType::i64, -3),
        Tensor::floats({0, 3}, {})}) {
    Tensor back = toTensor(toElementsAttr(&testContext(), x));
    EXPECT_TRUE(identical(x.materialize(), back.materialize()))
        << x.toString() << " " << back.toString();
  }
  EXPECT_TRUE(toElementsAttr(&testContext(), Tensor::full(ElementType::f32, {4, 5}, 2.5)).isSplat());
}

} // namespace
} // namespace colrow::test
