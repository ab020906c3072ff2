//===- UpdateTest.cpp - @update on two ranks against AdamW by hand --------===//

#include "colrow/Error.h"
#include "dialect/Colrow.h"
#include "passes/Passes.h"
#include "runtime/reference/Interpreter.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassRegistry.h"

#include <gtest/gtest.h>
#include <random>

using namespace mlir;
using namespace colrow;
using reference::Tensor;

namespace {

/// A cut matrix, a cut bias and a whole vector.
const char *const program = R"(
#r = #colrow.layout<tp = replicated>
#p = #colrow.layout<tp = partial>
#s0 = #colrow.layout<tp = shard<0>>
#s1 = #colrow.layout<tp = shard<1>>
module attributes {colrow.grid = #colrow.grid<tp = 2>} {
  func.func @main(
      %u: tensor<3x4xf32, #s1> {colrow.role = "parameter", colrow.name = "matrix"},
      %b: tensor<4xf32, #s0> {colrow.role = "parameter", colrow.name = "bias"},
      %n: tensor<3xf32> {colrow.role = "parameter", colrow.name = "whole"})
      -> (tensor<f32> {colrow.role = "loss", colrow.name = "loss"}) {
    %0 = colrow.f %n on ["tp"] : (tensor<3xf32>) -> tensor<3xf32, #r>
    %1 = colrow.einsum "i,io->o" %0, %u : (tensor<3xf32, #r>, tensor<3x4xf32, #s1>) -> tensor<4xf32, #s0>
    %2 = colrow.mul %1, %b : (tensor<4xf32, #s0>, tensor<4xf32, #s0>) -> tensor<4xf32, #s0>
    %3 = colrow.reduce_sum %2 over [0] : (tensor<4xf32, #s0>) -> tensor<f32, #p>
    %4 = colrow.g %3 on ["tp"] : (tensor<f32, #p>) -> tensor<f32>
    return %4 : tensor<f32>
  }
}
)";

const std::vector<std::pair<std::string, reference::Shape>> parameters = {
    {"matrix", {3, 4}}, {"bias", {4}}, {"whole", {3}}};

class Update : public testing::Test {
protected:
  void SetUp() override {
    static bool registered = [] {
      registerColrowPasses();
      return true;
    }();
    (void)registered;
    context.loadDialect<ColrowDialect, func::FuncDialect>();
    module = parseSourceString<ModuleOp>(program, &context);
    PassManager manager(&context);
    ASSERT_TRUE(succeeded(parsePassPipeline(
        "colrow-differentiate,colrow-optimizer,colrow-localize", manager)));
    ASSERT_TRUE(succeeded(manager.run(*module)));
    std::mt19937 random(1);
    std::uniform_real_distribution<double> uniform(-1, 1);
    auto fill = [&](const reference::Shape &shape, bool positive) {
      std::vector<double> values(reference::elementCount(shape));
      for (double &value : values)
        value = positive ? std::abs(uniform(random)) : uniform(random);
      return Tensor::floats(shape, values);
    };
    for (const auto &[name, shape] : parameters) {
      inputs[name] = fill(shape, false);
      inputs[name + ".gradient"] = fill(shape, false);
      inputs[name + ".first"] = fill(shape, false);
      inputs[name + ".second"] = fill(shape, true);
    }
  }

  /// Runs the third step and compares everything with the formulas of torch.optim.AdamW.
  void check(double clipNorm, bool clips) {
    const double lr = 0.1, beta1 = 0.9, beta2 = 0.95, epsilon = 1e-8, decay = 0.2;
    const double correction1 = 1 - std::pow(beta1, 3), correction2 = 1 - std::pow(beta2, 3);
    inputs["colrow.scalars"] = Tensor::floats(
        {8}, {lr, beta1, beta2, epsilon, decay, correction1, correction2, clipNorm});
    InterpreterResult result = interpret(*module, "update", inputs);

    double squares = 0;
    for (const auto &[name, shape] : parameters)
      for (double g : inputs[name + ".gradient"].toFloats())
        squares += g * g;
    double norm = std::sqrt(squares);
    EXPECT_NEAR(result.get("grad_norm").item(), norm, 1e-12);
    double clip = clips ? clipNorm / (norm + 1e-6) : 1;
    for (const auto &[name, shape] : parameters) {
      std::vector<double> p = inputs[name].toFloats(), g = inputs[name + ".gradient"].toFloats(),
                          m = inputs[name + ".first"].toFloats(),
                          v = inputs[name + ".second"].toFloats();
      std::vector<double> newP = result.get(name).toFloats(),
                          newM = result.get(name + ".first").toFloats(),
                          newV = result.get(name + ".second").toFloats();
      for (size_t i = 0; i < p.size(); ++i) {
        double clipped = g[i] * clip;
        double first = beta1 * m[i] + (1 - beta1) * clipped;
        double second = beta2 * v[i] + (1 - beta2) * clipped * clipped;
        double decayed = shape.size() >= 2 ? p[i] * (1 - lr * decay) : p[i];
        double expected = decayed - lr / correction1 * first /
                                        (std::sqrt(second) / std::sqrt(correction2) + epsilon);
        EXPECT_NEAR(newM[i], first, 1e-12) << name;
        EXPECT_NEAR(newV[i], second, 1e-12) << name;
        EXPECT_NEAR(newP[i], expected, 1e-12) << name;
      }
    }
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
  std::map<std::string, Tensor> inputs;
};

TEST_F(Update, ClipsByTheNormOfAllParameters) { check(0.5, true); }
TEST_F(Update, DoesNotStretchSmallGradients) { check(100, false); }
TEST_F(Update, WithoutClipping) { check(0, false); }

} // namespace
