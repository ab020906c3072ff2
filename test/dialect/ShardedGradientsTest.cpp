//===- ShardedGradientsTest.cpp - gradients of cut programs ---------------===//
//
// Programs with layouts, on the ranks of their grid, against difference quotients of themselves.
// Each runs in three forms: big operations with their own gradients, big operations merged with the
// product for their logits, and primitives only.
//
//===----------------------------------------------------------------------===//

#include "test/dialect/GradientProgram.h"
#include <gtest/gtest.h>

using namespace colrow;

namespace {

constexpr double tolerance = 1e-7;

const char *const aliases = R"(
#r = #colrow.layout<tp = replicated>
#p = #colrow.layout<tp = partial>
#s0 = #colrow.layout<tp = shard<0>>
#s1 = #colrow.layout<tp = shard<1>>
#s2 = #colrow.layout<tp = shard<2>>
)";

struct Program {
  std::string name, text;
  std::map<std::string, std::pair<double, double>> ranges;
};

void PrintTo(const Program &program, std::ostream *out) { *out << program.name; }

/// Embedding, norm, column-row MLP with residual, head tied to the embedding. Labels from 0 to 3,
/// of which 2 is ignored; with `valid` rows of 8 the second rank may have padding only.
std::string languageModel(int valid) {
  return std::string(aliases) + R"(
module attributes {colrow.grid = #colrow.grid<tp = 2>} {
  func.func @main(
      %e: tensor<8x4xf32, #s0> {colrow.role = "parameter", colrow.name = "wte"},
      %s: tensor<4xf32> {colrow.role = "parameter", colrow.name = "scale"},
      %b: tensor<4xf32> {colrow.role = "parameter", colrow.name = "bias"},
      %u: tensor<4x6xf32, #s1> {colrow.role = "parameter", colrow.name = "up"},
      %ub: tensor<6xf32, #s0> {colrow.role = "parameter", colrow.name = "up.bias"},
      %d: tensor<6x4xf32, #s0> {colrow.role = "parameter", colrow.name = "down"},
      %db: tensor<4xf32> {colrow.role = "parameter", colrow.name = "down.bias"},
      %ids: tensor<2x3xi64> {colrow.role = "input", colrow.name = "ids"},
      %labels: tensor<2x3xi64> {colrow.role = "input", colrow.name = "labels"},
      %count: tensor<f32> {colrow.role = "input", colrow.name = "colrow.count"})
      -> (tensor<f32> {colrow.role = "loss", colrow.name = "loss"}) {
    %0 = colrow.take %e at %ids along 0 : (tensor<8x4xf32, #s0>, tensor<2x3xi64>) -> tensor<2x3x4xf32, #p>
    %1 = colrow.g %0 on ["tp"] : (tensor<2x3x4xf32, #p>) -> tensor<2x3x4xf32>
    %3 = colrow.layer_norm %1 scale %s bias %b from 2 epsilon 1.0e-2
        : (tensor<2x3x4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<2x3x4xf32>
    %4 = colrow.f %3 on ["tp"] : (tensor<2x3x4xf32>) -> tensor<2x3x4xf32, #r>
    %5 = colrow.einsum "bsi,io->bso" %4, %u : (tensor<2x3x4xf32, #r>, tensor<4x6xf32, #s1>) -> tensor<2x3x6xf32, #s2>
    %6 = colrow.add %5, %ub : (tensor<2x3x6xf32, #s2>, tensor<6xf32, #s0>) -> tensor<2x3x6xf32, #s2>
    %7 = colrow.gelu tanh %6 : (tensor<2x3x6xf32, #s2>) -> tensor<2x3x6xf32, #s2>
    %8 = colrow.einsum "bsi,io->bso" %7, %d : (tensor<2x3x6xf32, #s2>, tensor<6x4xf32, #s0>) -> tensor<2x3x4xf32, #p>
    %9 = colrow.g %8 on ["tp"] : (tensor<2x3x4xf32, #p>) -> tensor<2x3x4xf32>
    %10 = colrow.add %9, %db : (tensor<2x3x4xf32>, tensor<4xf32>) -> tensor<2x3x4xf32>
    %11 = colrow.add %1, %10 : (tensor<2x3x4xf32>, tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
    %12 = colrow.f %11 on ["tp"] : (tensor<2x3x4xf32>) -> tensor<2x3x4xf32, #r>
    %13 = colrow.einsum "bsh,vh->bsv" %12, %e : (tensor<2x3x4xf32, #r>, tensor<8x4xf32, #s0>) -> tensor<2x3x8xf32, #s2>
    %n = colrow.f %count on ["tp"] : (tensor<f32>) -> tensor<f32, #r>
    %14 = colrow.cross_entropy %13, %labels, %n ignore 2 valid )" +
         std::to_string(valid) + R"(
        : (tensor<2x3x8xf32, #s2>, tensor<2x3xi64>, tensor<f32, #r>) -> tensor<f32>
    return %14 : tensor<f32>
  }
}
)";
}

/// Tokens cut over dp, hidden over tp inside the blocks of a fused product; parameters reach dp
/// through f, whose transpose sums their gradients.
std::string fusedBlocks() {
  return R"(
#d0 = #colrow.layout<dp = shard<0>>
#d0r = #colrow.layout<dp = shard<0>, tp = replicated>
#w = #colrow.layout<tp = shard<1, blocks = 3, unit = 2>>
#wf = #colrow.layout<dp = replicated, tp = shard<1, blocks = 3, unit = 2>>
#qkv = #colrow.layout<dp = shard<0>, tp = shard<1, blocks = 3, unit = 2>>
#h = #colrow.layout<dp = shard<0>, tp = shard<1, unit = 2>>
#hh = #colrow.layout<dp = shard<0>, tp = shard<1>>
#o = #colrow.layout<tp = shard<0, unit = 2>>
#of = #colrow.layout<dp = replicated, tp = shard<0, unit = 2>>
#pp = #colrow.layout<dp = shard<0>, tp = partial>
#dp = #colrow.layout<dp = partial>
module attributes {colrow.grid = #colrow.grid<dp = 2, tp = 2>} {
  func.func @main(
      %x: tensor<4x3xf32, #d0> {colrow.role = "input", colrow.name = "x"},
      %w: tensor<3x12xf32, #w> {colrow.role = "parameter", colrow.name = "qkv"},
      %o: tensor<4x5xf32, #o> {colrow.role = "parameter", colrow.name = "out"})
      -> (tensor<f32> {colrow.role = "loss", colrow.name = "loss"}) {
    %0 = colrow.f %x on ["tp"] : (tensor<4x3xf32, #d0>) -> tensor<4x3xf32, #d0r>
    %1 = colrow.f %w on ["dp"] : (tensor<3x12xf32, #w>) -> tensor<3x12xf32, #wf>
    %2 = colrow.einsum "ti,io->to" %0, %1 : (tensor<4x3xf32, #d0r>, tensor<3x12xf32, #wf>) -> tensor<4x12xf32, #qkv>
    %q = colrow.slice %2 from [0, 0] to [4, 4] step [1, 1] : (tensor<4x12xf32, #qkv>) -> tensor<4x4xf32, #h>
    %k = colrow.slice %2 from [0, 4] to [4, 8] step [1, 1] : (tensor<4x12xf32, #qkv>) -> tensor<4x4xf32, #h>
    %v = colrow.slice %2 from [0, 8] to [4, 12] step [1, 1] : (tensor<4x12xf32, #qkv>) -> tensor<4x4xf32, #h>
    %3 = colrow.reshape %k : (tensor<4x4xf32, #h>) -> tensor<4x2x2xf32, #hh>
    %4 = colrow.softmax %3 along 2 : (tensor<4x2x2xf32, #hh>) -> tensor<4x2x2xf32, #hh>
    %5 = colrow.reshape %4 : (tensor<4x2x2xf32, #hh>) -> tensor<4x4xf32, #h>
    %6 = colrow.mul %q, %5 : (tensor<4x4xf32, #h>, tensor<4x4xf32, #h>) -> tensor<4x4xf32, #h>
    %7 = colrow.max %6, %v : (tensor<4x4xf32, #h>, tensor<4x4xf32, #h>) -> tensor<4x4xf32, #h>
    %8 = colrow.f %o on ["dp"] : (tensor<4x5xf32, #o>) -> tensor<4x5xf32, #of>
    %9 = colrow.einsum "ti,io->to" %7, %8 : (tensor<4x4xf32, #h>, tensor<4x5xf32, #of>) -> tensor<4x5xf32, #pp>
    %10 = colrow.g %9 on ["tp"] : (tensor<4x5xf32, #pp>) -> tensor<4x5xf32, #d0>
    %11 = colrow.tanh %10 : (tensor<4x5xf32, #d0>) -> tensor<4x5xf32, #d0>
    %12 = colrow.reduce_sum %11 over [0, 1] : (tensor<4x5xf32, #d0>) -> tensor<f32, #dp>
    %13 = colrow.g %12 on ["dp"] : (tensor<f32, #dp>) -> tensor<f32>
    return %13 : tensor<f32>
  }
}
)";
}

/// The loss with tokens over dp and the vocabulary over tp, of a scaled sum of two terms, so that
/// its gradient is not 1.
std::string scaledLoss() {
  return R"(
#x = #colrow.layout<dp = shard<0>>
#xr = #colrow.layout<dp = shard<0>, tp = replicated>
#w = #colrow.layout<tp = shard<0>>
#wf = #colrow.layout<dp = replicated, tp = shard<0>>
#l = #colrow.layout<dp = shard<0>, tp = shard<1>>
#rr = #colrow.layout<dp = replicated, tp = replicated>
#dp = #colrow.layout<dp = partial>
module attributes {colrow.grid = #colrow.grid<dp = 2, tp = 2>} {
  func.func @main(
      %x: tensor<4x3xf32, #x> {colrow.role = "parameter", colrow.name = "x"},
      %w: tensor<8x3xf32, #w> {colrow.role = "parameter", colrow.name = "w"},
      %labels: tensor<4xi64, #x> {colrow.role = "input", colrow.name = "labels"},
      %count: tensor<f32> {colrow.role = "input", colrow.name = "colrow.count"},
      %k: tensor<f32> {colrow.role = "parameter", colrow.name = "k"})
      -> (tensor<f32> {colrow.role = "loss", colrow.name = "loss"}) {
    %0 = colrow.f %x on ["tp"] : (tensor<4x3xf32, #x>) -> tensor<4x3xf32, #xr>
    %1 = colrow.f %w on ["dp"] : (tensor<8x3xf32, #w>) -> tensor<8x3xf32, #wf>
    %2 = colrow.einsum "th,vh->tv" %0, %1 : (tensor<4x3xf32, #xr>, tensor<8x3xf32, #wf>) -> tensor<4x8xf32, #l>
    %3 = colrow.f %count on ["dp", "tp"] : (tensor<f32>) -> tensor<f32, #rr>
    %4 = colrow.cross_entropy %2, %labels, %3 ignore 2 valid 7
        : (tensor<4x8xf32, #l>, tensor<4xi64, #x>, tensor<f32, #rr>) -> tensor<f32, #dp>
    %5 = colrow.g %4 on ["dp"] : (tensor<f32, #dp>) -> tensor<f32>
    %6 = colrow.mul %5, %k : (tensor<f32>, tensor<f32>) -> tensor<f32>
    %7 = colrow.mul %6, %6 : (tensor<f32>, tensor<f32>) -> tensor<f32>
    return %7 : tensor<f32>
  }
}
)";
}

std::vector<Program> programs() {
  std::map<std::string, std::pair<double, double>> tokens{
      {"ids", {0, 4}}, {"labels", {0, 4}}, {"colrow.count", {4, 5}}};
  return {
      {"language_model", languageModel(7), tokens},
      {"language_model_with_an_empty_slice", languageModel(4), tokens},
      {"fused_blocks", fusedBlocks(), {}},
      {"scaled_loss", scaledLoss(), {{"labels", {0, 7}}, {"colrow.count", {2, 3}}}},
  };
}

class ShardedGradients : public testing::TestWithParam<Program> {
protected:
  double error(const std::string &passes) {
    GradientProgram program(GetParam().text, passes);
    return program.gradientError(program.randomInputs(GetParam().ranges));
  }
};

TEST_P(ShardedGradients, EvaluateComputesTheSameLoss) {
  GradientProgram program(GetParam().text,
                          "colrow-evaluate,colrow-fuse-loss,colrow-differentiate");
  GradientProgram::Tensors inputs = program.randomInputs(GetParam().ranges);
  EXPECT_NEAR(program.evaluate(inputs), program.loss(inputs), 1e-13);
}
TEST_P(ShardedGradients, OfBigOperations) {
  EXPECT_LT(error("colrow-differentiate"), tolerance);
}
TEST_P(ShardedGradients, OfTheMergedLoss) {
  EXPECT_LT(error("colrow-fuse-loss,colrow-differentiate"), tolerance);
}
TEST_P(ShardedGradients, OfPrimitives) {
  EXPECT_LT(error("colrow-decompose,colrow-differentiate"), tolerance);
}

INSTANTIATE_TEST_SUITE_P(Programs, ShardedGradients, testing::ValuesIn(programs()),
                         [](const auto &info) { return info.param.name; });

} // namespace
