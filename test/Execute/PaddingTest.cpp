//===- PaddingTest.cpp - a vocabulary that the ranks do not divide ---------===//
//
// 300 tokens at tp = 4 are stored as 512 in slices of 128: the third rank holds 44 of them and the
// fourth none at all. It must add 0, and no NaN.
//
//===----------------------------------------------------------------------===//

#include "runtime/reference/Shape.h"
#include "test/Execute/SingleOp.h"

#include <gtest/gtest.h>
#include <random>

using namespace mlir;

namespace colrow::test {
namespace {

using reference::Tensor;

constexpr int64_t rows = 5, hidden = 3, vocabulary = 300, padded = 512;

Tensor randomTensor(reference::Shape shape, std::mt19937_64 &random) {
  std::normal_distribution<double> normal;
  std::vector<double> values(reference::elementCount(shape));
  for (double &value : values)
    value = normal(random);
  return Tensor::floats(std::move(shape), std::move(values));
}

/// `x` with its dimension of 300 filled up to 512. Storage padding holds zeros in parameters but
/// anything in activations; the loss must not look at it.
Tensor padTo(const Tensor &x, int64_t dim, double value) {
  std::vector<int64_t> low(x.rank(), 0), high(x.rank(), 0);
  high[dim] = padded - vocabulary;
  return reference::pad(x, low, high, value);
}

void expectEqualLoss(const std::string &wholeText, const std::string &paddedText, int operand,
                     int constant, double fill) {
  Instance whole{wholeText, 1, vocabulary, false, constant};
  Instance cut{paddedText, 1, vocabulary, false, constant};
  SingleOp one(testContext(), whole, GridAttr());
  ASSERT_TRUE(one.addGradients());
  std::map<std::string, Tensor> arguments = randomArguments(one, whole);
  arguments[constant == 2 ? "arg2" : "arg3"] =
      Tensor::scalar(reference::ElementType::f32, rows - 1);
  std::vector<Tensor> expected = one.run(arguments, executedOps());

  auto axis = StringAttr::get(&testContext(), "tp");
  SingleOp four(testContext(), cut, makeGrid({{"tp", 4}}));
  SmallVector<Type> operands;
  int64_t dim = constant == 2 ? 1 : 0;
  for (auto [i, type] : llvm::enumerate(four.op()->getOperandTypes())) {
    AxisState state = static_cast<int>(i) == operand               ? AxisState::shard(axis, dim)
                      : isa<FloatType>(getElementTypeOrSelf(type)) ? AxisState::replicated(axis)
                                                                   : AxisState::invariant(axis);
    operands.push_back(withState(type, state));
  }
  ASSERT_TRUE(four.setTypes(operands, SmallVector<Type>(four.op()->getResultTypes())));
  ASSERT_TRUE(four.addGradients());
  std::string key = "arg" + std::to_string(operand);
  arguments[key] = padTo(arguments[key], dim, fill);
  std::vector<Tensor> got = four.run(arguments, executedOps());
  // Loss first, then gradients by the floating operands; padding has gradient 0.
  size_t padding = 1 + operand;
  expected[padding] = padTo(expected[padding], dim, 0);
  expectSame(expected, got, paddedText);
  EXPECT_TRUE(std::isfinite(got[0].item()));
}

TEST(Padding, CrossEntropyOfASliceWithoutTokens) {
  for (double fill : {0.0, 1e30, double(NAN)})
    expectEqualLoss("colrow.cross_entropy %0, %1, %2 ignore 7 valid 300 : "
                    "(tensor<5x300xf32>, tensor<5xi64>, tensor<f32>) -> tensor<f32>",
                    "colrow.cross_entropy %0, %1, %2 ignore 7 valid 300 : "
                    "(tensor<5x512xf32>, tensor<5xi64>, tensor<f32>) -> tensor<f32>",
                    0, 2, fill);
}

TEST(Padding, LinearCrossEntropyOfASliceWithoutTokens) {
  expectEqualLoss(
      "colrow.linear_cross_entropy %0, %1, %2, %3 ignore 7 valid 300 : (tensor<5x3xf32>, "
      "tensor<300x3xf32>, tensor<5xi64>, tensor<f32>) -> tensor<f32>",
      "colrow.linear_cross_entropy %0, %1, %2, %3 ignore 7 valid 300 : (tensor<5x3xf32>, "
      "tensor<512x3xf32>, tensor<5xi64>, tensor<f32>) -> tensor<f32>",
      1, 3, 0.0);
}

// The mean of label smoothing is over tokens, not over padding.
TEST(Padding, SmoothedCrossEntropyOfASliceWithoutTokens) {
  const std::string terms =
      "ignore 7 valid 300 {label_smoothing = 0.1 : f64, z_loss = 0.01 : f64} : ";
  for (double fill : {0.0, 1e30, double(NAN)})
    expectEqualLoss("colrow.cross_entropy %0, %1, %2 " + terms +
                        "(tensor<5x300xf32>, tensor<5xi64>, tensor<f32>) -> tensor<f32>",
                    "colrow.cross_entropy %0, %1, %2 " + terms +
                        "(tensor<5x512xf32>, tensor<5xi64>, tensor<f32>) -> tensor<f32>",
                    0, 2, fill);
  expectEqualLoss(
      "colrow.linear_cross_entropy %0, %1, %2, %3 " + terms +
          "(tensor<5x3xf32>, tensor<300x3xf32>, tensor<5xi64>, tensor<f32>) -> tensor<f32>",
      "colrow.linear_cross_entropy %0, %1, %2, %3 " + terms +
          "(tensor<5x3xf32>, tensor<512x3xf32>, tensor<5xi64>, tensor<f32>) -> tensor<f32>",
      1, 3, 0.0);
}

// The embedding of a padded table: ids never name padding, the empty slice adds zeros.
TEST(Padding, LookupInASliceWithoutTokens) {
  std::mt19937_64 random(1);
  Instance whole{"colrow.take %0 at %1 along 0 : (tensor<300x3xf32>, tensor<5xi64>) "
                 "-> tensor<5x3xf32>",
                 1, vocabulary};
  Instance cut{"colrow.take %0 at %1 along 0 : (tensor<512x3xf32>, tensor<5xi64>) "
               "-> tensor<5x3xf32>",
               1, vocabulary};
  SingleOp one(testContext(), whole, GridAttr());
  ASSERT_TRUE(one.addGradients());
  std::map<std::string, Tensor> arguments = randomArguments(one, whole);
  arguments["arg0"] = randomTensor({vocabulary, hidden}, random);
  std::vector<Tensor> expected = one.run(arguments, executedOps());
  auto axis = StringAttr::get(&testContext(), "tp");
  SingleOp four(testContext(), cut, makeGrid({{"tp", 4}}));
  TypeRange types = four.op()->getOperandTypes();
  ASSERT_TRUE(
      four.setTypes({withState(types[0], AxisState::shard(axis, 0)), types[1]},
                    {withState(four.op()->getResult(0).getType(), AxisState::partial(axis))}));
  ASSERT_TRUE(four.addGradients());
  arguments["arg0"] = padTo(arguments["arg0"], 0, 0);
  std::vector<Tensor> got = four.run(arguments, executedOps());
  expected[1] = padTo(expected[1], 0, 0);
  expectSame(expected, got, "take");
}

} // namespace
} // namespace colrow::test
