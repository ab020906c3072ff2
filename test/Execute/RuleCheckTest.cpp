//===- RuleCheckTest.cpp - an op does what its sharding rule says ----------===//
//
// The verifier trusts an op's sharding rule. Here every op is run in every combination of states
// that the verifier accepts for its operands and results, on N ranks against one: the result and
// the gradients of its operands. An op that lies about its rule, or whose gradient does not
// transpose, fails. So does an op of the dialect that is not in the list below.
//
//===----------------------------------------------------------------------===//

#include "test/Execute/SingleOp.h"

#include <cstdlib>
#include <gtest/gtest.h>
#include <random>

using namespace mlir;

namespace colrow::test {
namespace {

using reference::Tensor;

// Sizes are awkward on purpose: 24 = 2 * 3 * 4 can be cut in blocks and units, 3 and 5 cannot be
// cut, 1 broadcasts.
const Instance instances[] = {
    // Elementwise
    {"colrow.neg %0 : (tensor<3x24xf32>) -> tensor<3x24xf32>"},
    {"colrow.neg %0 : (tensor<24xi64>) -> tensor<24xi64>", 1, 9},
    {"colrow.abs %0 : (tensor<3x24xf32>) -> tensor<3x24xf32>"},
    {"colrow.exp %0 : (tensor<3x24xf32>) -> tensor<3x24xf32>"},
    {"colrow.log %0 : (tensor<3x24xf32>) -> tensor<3x24xf32>", 1, 2, true},
    {"colrow.sqrt %0 : (tensor<3x24xf32>) -> tensor<3x24xf32>", 1, 2, true},
    {"colrow.reciprocal %0 : (tensor<3x24xf32>) -> tensor<3x24xf32>", 1, 2, true},
    {"colrow.tanh %0 : (tensor<3x24xf32>) -> tensor<3x24xf32>"},
    {"colrow.erf %0 : (tensor<3x24xf32>) -> tensor<3x24xf32>"},
    {"colrow.sin %0 : (tensor<3x24xf32>) -> tensor<3x24xf32>"},
    {"colrow.cos %0 : (tensor<3x24xf32>) -> tensor<3x24xf32>"},
    {"colrow.sigmoid %0 : (tensor<3x24xf32>) -> tensor<3x24xf32>"},
    {"colrow.floor %0 : (tensor<3x24xf32>) -> tensor<3x24xf32>"},
    {"colrow.ceil %0 : (tensor<3x24xf32>) -> tensor<3x24xf32>"},
    {"colrow.round %0 : (tensor<3x24xf32>) -> tensor<3x24xf32>"},
    {"colrow.sign %0 : (tensor<3x24xf32>) -> tensor<3x24xf32>"},
    {"colrow.not %0 : (tensor<3x24xi1>) -> tensor<3x24xi1>"},
    {"colrow.isnan %0 : (tensor<3x24xf32>) -> tensor<3x24xi1>"},
    {"colrow.stop_gradient %0 : (tensor<3x24xf32>) -> tensor<3x24xf32>"},
    {"colrow.add %0, %1 : (tensor<3x24xf32>, tensor<24xf32>) -> tensor<3x24xf32>"},
    {"colrow.add %0, %1 : (tensor<24x1xf32>, tensor<1x24xf32>) -> tensor<24x24xf32>"},
    {"colrow.sub %0, %1 : (tensor<3x24xf32>, tensor<3x1xf32>) -> tensor<3x24xf32>"},
    {"colrow.mul %0, %1 : (tensor<3x24xf32>, tensor<24xf32>) -> tensor<3x24xf32>"},
    {"colrow.mul %0, %1 : (tensor<3x24xf32>, tensor<f32>) -> tensor<3x24xf32>"},
    {"colrow.mul %0, %1 : (tensor<24xi64>, tensor<24xi64>) -> tensor<24xi64>", 1, 9},
    {"colrow.div %0, %1 : (tensor<3x24xf32>, tensor<24xf32>) -> tensor<3x24xf32>", 1, 2, true},
    {"colrow.pow %0, %1 : (tensor<3x24xf32>, tensor<24xf32>) -> tensor<3x24xf32>", 1, 2, true},
    {"colrow.max %0, %1 : (tensor<3x24xf32>, tensor<24xf32>) -> tensor<3x24xf32>"},
    {"colrow.min %0, %1 : (tensor<3x24xf32>, tensor<24xf32>) -> tensor<3x24xf32>"},
    {"colrow.mod %0, %1 : (tensor<3x24xf32>, tensor<24xf32>) -> tensor<3x24xf32>"},
    {"colrow.mod %0, %1 {fmod} : (tensor<3x24xf32>, tensor<24xf32>) -> tensor<3x24xf32>"},
    {"colrow.and %0, %1 : (tensor<3x24xi1>, tensor<24xi1>) -> tensor<3x24xi1>"},
    {"colrow.or %0, %1 : (tensor<3x24xi1>, tensor<24xi1>) -> tensor<3x24xi1>"},
    {"colrow.xor %0, %1 : (tensor<3x24xi1>, tensor<24xi1>) -> tensor<3x24xi1>"},
    {"colrow.compare le %0, %1 : (tensor<3x24xf32>, tensor<24xf32>) -> tensor<3x24xi1>"},
    {"colrow.compare eq %0, %1 : (tensor<24x1xi64>, tensor<24xi64>) -> tensor<24x24xi1>", 1, 9},
    {"colrow.select %0, %1, %2 : (tensor<24xi1>, tensor<3x24xf32>, tensor<3x1xf32>) "
     "-> tensor<3x24xf32>"},
    {"colrow.cast %0 : (tensor<3x24xf32>) -> tensor<3x24xf64>"},
    {"colrow.cast %0 : (tensor<3x24xf32>) -> tensor<3x24xi64>"},
    {"colrow.cast %0 : (tensor<3x24xi64>) -> tensor<3x24xf32>", 1, 9},
    {"colrow.cast %0 : (tensor<3x24xi64>) -> tensor<3x24xi1>"},
    // Reductions
    {"colrow.reduce_sum %0 over [1] : (tensor<3x24x4xf32>) -> tensor<3x4xf32>"},
    {"colrow.reduce_sum %0 over [0, 2] keepdims : (tensor<4x24x4xf32>) -> tensor<1x24x1xf32>"},
    {"colrow.reduce_sum %0 over [0] : (tensor<24xi64>) -> tensor<i64>", 1, 9},
    {"colrow.reduce_max %0 over [1] : (tensor<3x24x4xf32>) -> tensor<3x4xf32>"},
    {"colrow.reduce_min %0 over [1] : (tensor<4x24x4xf32>) -> tensor<4x4xf32>"},
    {"colrow.reduce_prod %0 over [1] keepdims : (tensor<4x24xf32>) -> tensor<4x1xf32>"},
    {"colrow.cumsum %0 along 1 : (tensor<24x4xf32>) -> tensor<24x4xf32>"},
    {"colrow.cumsum %0 along 0 exclusive reverse : (tensor<24x4xf32>) -> tensor<24x4xf32>"},
    // Products
    {"colrow.einsum \"ti,io->to\" %0, %1 : (tensor<4x24xf32>, tensor<24x8xf32>) "
     "-> tensor<4x8xf32>"},
    {"colrow.einsum \"bhqd,bhkd->bhqk\" %0, %1 : (tensor<2x4x3x4xf32>, tensor<2x4x5x4xf32>) "
     "-> tensor<2x4x3x5xf32>"},
    {"colrow.einsum \"i,j->ji\" %0, %1 : (tensor<8xf32>, tensor<24xf32>) -> tensor<24x8xf32>"},
    // Sources and shapes
    {"colrow.constant dense<2.5> : tensor<3x24xf32>"},
    {"colrow.constant dense<0.0> : tensor<3x24xf32>"},
    {"colrow.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>"},
    {"colrow.constant dense<7> : tensor<3x24xi64>"},
    {"colrow.iota 1 : tensor<3x24xi64>"},
    {"colrow.iota 0 : tensor<24x4xf32>"},
    {"colrow.reshape %0 : (tensor<3x24xf32>) -> tensor<3x4x6xf32>"},
    {"colrow.reshape %0 : (tensor<2x72xf32>) -> tensor<2x3x4x6xf32>"},
    {"colrow.reshape %0 : (tensor<4x6x5xf32>) -> tensor<8x15xf32>"},
    {"colrow.reshape %0 : (tensor<1x24x1xf32>) -> tensor<24xf32>"},
    {"colrow.transpose %0 [2, 0, 1] : (tensor<3x24x4xf32>) -> tensor<4x3x24xf32>"},
    {"colrow.broadcast %0 : (tensor<3x1xf32>) -> tensor<24x3x8xf32>"},
    {"colrow.broadcast %0 : (tensor<8xi64>) -> tensor<24x8xi64>", 1, 9},
    {"colrow.slice %0 from [0, 24] to [4, 48] step [1, 1] : (tensor<4x72xf32>) "
     "-> tensor<4x24xf32>"},
    {"colrow.slice %0 from [1, 0] to [4, 24] step [2, 1] : (tensor<4x24xf32>) "
     "-> tensor<2x24xf32>"},
    {"colrow.pad %0 low [0, 24] high [0, 24] step [1, 1] value 0.0 : (tensor<4x24xf32>) "
     "-> tensor<4x72xf32>"},
    {"colrow.pad %0 low [1, 0] high [2, 0] step [2, 1] value 3.0 : (tensor<4x24xf32>) "
     "-> tensor<10x24xf32>"},
    {"colrow.concat %0, %1, %2 along 1 : (tensor<4x24xf32>, tensor<4x24xf32>, tensor<4x24xf32>) "
     "-> tensor<4x72xf32>"},
    {"colrow.concat %0, %1 along 0 : (tensor<4x24xf32>, tensor<2x24xf32>) -> tensor<6x24xf32>"},
    // Lookups
    {"colrow.take %0 at %1 along 0 : (tensor<24x4xf32>, tensor<4x2xi64>) -> tensor<4x2x4xf32>", 1,
     24},
    {"colrow.take %0 at %1 along 1 : (tensor<4x24x3xf32>, tensor<8xi64>) -> tensor<4x8x3xf32>", 1,
     24},
    {"colrow.take %0 at %1 along 0 : (tensor<24xi64>, tensor<8xi64>) -> tensor<8xi64>", 1, 24},
    {"colrow.take_grad %1 at %0 along 0 : (tensor<4x2xi64>, tensor<4x2x4xf32>) "
     "-> tensor<24x4xf32>",
     1, 24},
    {"colrow.take_along %0 at %1 along 1 : (tensor<8x24xf32>, tensor<8x4xi64>) "
     "-> tensor<8x4xf32>",
     1, 24},
    {"colrow.take_along %0 at %1 along 1 : (tensor<4x24xf32>, tensor<2x24xi64>) "
     "-> tensor<2x24xf32>",
     1, 24},
    {"colrow.take_along_grad %1 at %0 along 1 : (tensor<8x4xi64>, tensor<8x4xf32>) "
     "-> tensor<8x24xf32>",
     1, 24},
    {"colrow.mask_padding %0 along 1 valid 17 value 0xFF800000 : (tensor<4x24xf32>) "
     "-> tensor<4x24xf32>"},
    {"colrow.mask_padding %0 along 1 valid 17 value 0.0 : (tensor<4x24xf32>) "
     "-> tensor<4x24xf32>"},
    // Networks
    {"colrow.gelu erf %0 : (tensor<3x24xf32>) -> tensor<3x24xf32>"},
    {"colrow.gelu tanh %0 : (tensor<3x24xf32>) -> tensor<3x24xf32>"},
    {"colrow.silu %0 : (tensor<3x24xf32>) -> tensor<3x24xf32>"},
    {"colrow.gelu_grad erf %0 at %1 : (tensor<3x24xf32>, tensor<3x24xf32>) -> tensor<3x24xf32>"},
    {"colrow.gelu_grad tanh %0 at %1 : (tensor<3x24xf32>, tensor<3x24xf32>) -> tensor<3x24xf32>"},
    {"colrow.silu_grad %0 at %1 : (tensor<3x24xf32>, tensor<3x24xf32>) -> tensor<3x24xf32>"},
    {"colrow.softmax %0 along 1 : (tensor<4x5x24xf32>) -> tensor<4x5x24xf32>"},
    {"colrow.softmax_grad %0 at %1 along 1 : (tensor<4x5x24xf32>, tensor<4x5x24xf32>) "
     "-> tensor<4x5x24xf32>"},
    {"colrow.layer_norm %0 scale %1 bias %2 from 1 epsilon 1.0e-05 : "
     "(tensor<4x24xf32>, tensor<24xf32>, tensor<24xf32>) -> tensor<4x24xf32>"},
    {"colrow.layer_norm %0 scale %1 from 1 epsilon 1.0e-05 : (tensor<8x6xf32>, tensor<6xf32>) "
     "-> tensor<8x6xf32>"},
    {"colrow.layer_norm_with_statistics %0 scale %1 bias %2 from 1 epsilon 1.0e-05 : "
     "(tensor<8x6xf32>, tensor<6xf32>, tensor<6xf32>) "
     "-> (tensor<8x6xf32>, tensor<8xf32>, tensor<8xf32>)",
     3},
    {"colrow.layer_norm_grad %0 at %1 mean %2 rstd %3 scale %4 from 1 : (tensor<8x6xf32>, "
     "tensor<8x6xf32>, tensor<8xf32>, tensor<8xf32>, tensor<6xf32>) "
     "-> (tensor<8x6xf32>, tensor<6xf32>, tensor<6xf32>)",
     3},
    {"colrow.rms_norm %0 scale %1 from 1 epsilon 1.0e-05 : (tensor<8x6xf32>, tensor<6xf32>) "
     "-> tensor<8x6xf32>"},
    {"colrow.rms_norm_with_statistics %0 scale %1 from 1 epsilon 1.0e-05 : (tensor<8x6xf32>, "
     "tensor<6xf32>) -> (tensor<8x6xf32>, tensor<8xf32>)",
     2},
    {"colrow.rms_norm_grad %0 at %1 rstd %2 scale %3 from 1 : (tensor<8x6xf32>, tensor<8x6xf32>, "
     "tensor<8xf32>, tensor<6xf32>) -> (tensor<8x6xf32>, tensor<6xf32>)",
     2},
    {"colrow.dropout %0 random %1 rate 0.25 id 11 : (tensor<4x24xf32>, tensor<4xi64>) "
     "-> tensor<4x24xf32>"},
    {"colrow.attention %0, %1, %2 scale 0.5 causal 0 : (tensor<2x4x2x3xf32>, "
     "tensor<2x4x3x3xf32>, tensor<2x4x3x2xf32>) -> tensor<2x4x2x2xf32>"},
    {"colrow.attention %0, %1, %2 mask %3 scale 0.5 : (tensor<2x8x4x3xf32>, tensor<2x2x3x3xf32>, "
     "tensor<2x2x3x4xf32>, tensor<8x1x3xf32>) -> tensor<2x8x4x4xf32>",
     1, 2, false, 3},
    {"colrow.attention %0, %1, %2 random %3 rate 0.25 id 11 scale 0.5 causal 1 : "
     "(tensor<2x4x4x3xf32>, tensor<2x2x5x3xf32>, tensor<2x2x5x2xf32>, tensor<4xi64>) "
     "-> tensor<2x4x4x2xf32>"},
    {"colrow.attention_with_statistics %0, %1, %2 mask %3 scale 0.5 causal 0 : "
     "(tensor<2x4x4x3xf32>, tensor<2x2x3x3xf32>, tensor<2x2x3x2xf32>, tensor<2x1x1x3xf32>) "
     "-> (tensor<2x4x4x2xf32>, tensor<2x4x4xf32>)",
     2, 2, false, 3},
    {"colrow.attention_grad %0 at %1, %2, %3 log_sum_exp %4 scale 0.5 causal 0 : "
     "(tensor<2x4x2x2xf32>, tensor<2x4x2x3xf32>, tensor<2x2x3x3xf32>, tensor<2x2x3x2xf32>, "
     "tensor<2x4x2xf32>) -> (tensor<2x4x2x3xf32>, tensor<2x2x3x3xf32>, tensor<2x2x3x2xf32>)",
     3},
    {"colrow.attention_grad %0 at %1, %2, %3 log_sum_exp %4 random %5 rate 0.25 id 11 scale 0.5 : "
     "(tensor<1x4x2x2xf32>, tensor<1x4x2x3xf32>, tensor<1x2x3x3xf32>, tensor<1x2x3x2xf32>, "
     "tensor<1x4x2xf32>, tensor<4xi64>) "
     "-> (tensor<1x4x2x3xf32>, tensor<1x2x3x3xf32>, tensor<1x2x3x2xf32>)",
     3},
    {"colrow.attention_grad %0 at %1, %2, %3 log_sum_exp %4 mask %5 scale 0.5 cap 2.0 "
     "with_mask_gradient : (tensor<2x4x2x2xf32>, tensor<2x4x2x3xf32>, tensor<2x2x3x3xf32>, "
     "tensor<2x2x3x2xf32>, tensor<2x4x2xf32>, tensor<4x1x3xf32>) -> (tensor<2x4x2x3xf32>, "
     "tensor<2x2x3x3xf32>, tensor<2x2x3x2xf32>, tensor<4x1x3xf32>)",
     4},
    {"colrow.cross_entropy %0, %1, %2 ignore 3 valid 19 : "
     "(tensor<4x24xf32>, tensor<4xi64>, tensor<f32>) -> tensor<f32>",
     1, 19, true, 2},
    {"colrow.cross_entropy_with_statistics %0, %1, %2 ignore 3 valid 19 : "
     "(tensor<4x24xf32>, tensor<4xi64>, tensor<f32>) -> (tensor<f32>, tensor<4xf32>)",
     2, 19, true},
    {"colrow.cross_entropy_grad %0 at %1, %2, %3, %4 ignore 3 valid 19 : (tensor<f32>, "
     "tensor<4x24xf32>, tensor<4xi64>, tensor<f32>, tensor<4xf32>) -> tensor<4x24xf32>",
     1, 19, true},
    {"colrow.linear_cross_entropy %0, %1, %2, %3 ignore 3 valid 19 : (tensor<4x3xf32>, "
     "tensor<24x3xf32>, tensor<4xi64>, tensor<f32>) -> tensor<f32>",
     1, 19, true, 3},
    {"colrow.linear_cross_entropy_with_grad %0, %1, %2, %3 ignore 3 valid 19 : (tensor<4x3xf32>, "
     "tensor<24x3xf32>, tensor<4xi64>, tensor<f32>) "
     "-> (tensor<f32>, tensor<4x3xf32>, tensor<24x3xf32>)", 3, 19, true},
    {"colrow.cross_entropy %0, %1, %2 ignore 3 valid 19 {label_smoothing = 0.1 : f64, z_loss = 0.01 : "
     "f64} : (tensor<4x24xf32>, tensor<4xi64>, tensor<f32>) -> tensor<f32>", 1, 19, true, 2},
    {"colrow.cross_entropy_with_statistics %0, %1, %2 ignore 3 valid 19 {label_smoothing = 0.1 : f64} : "
     "(tensor<4x24xf32>, tensor<4xi64>, tensor<f32>) -> (tensor<f32>, tensor<4xf32>)", 2, 19, true},
    {"colrow.cross_entropy_grad %0 at %1, %2, %3, %4 ignore 3 valid 19 {label_smoothing = 0.1 : f64, "
     "z_loss = 0.01 : f64} : (tensor<f32>, tensor<4x24xf32>, tensor<4xi64>, tensor<f32>, "
     "tensor<4xf32>) -> tensor<4x24xf32>", 1, 19, true},
    {"colrow.linear_cross_entropy %0, %1, %2, %3 ignore 3 valid 19 {label_smoothing = 0.1 : f64, "
     "z_loss = 0.01 : f64} : (tensor<4x3xf32>, tensor<24x3xf32>, tensor<4xi64>, tensor<f32>) "
     "-> tensor<f32>", 1, 19, true, 3},
    {"colrow.linear_cross_entropy_with_grad %0, %1, %2, %3 ignore 3 valid 19 {z_loss = 0.01 : f64} : "
     "(tensor<4x3xf32>, tensor<24x3xf32>, tensor<4xi64>, tensor<f32>) "
     "-> (tensor<f32>, tensor<4x3xf32>, tensor<24x3xf32>)", 3, 19, true},
    // Optimizer
    {"colrow.sum_squares %0 : (tensor<4x24xf32>) -> tensor<f32>"},
    {"colrow.adamw %0, %1, %2, %3 clip %4 scalars %5 decay : (tensor<24xf32>, tensor<24xf32>, "
     "tensor<24xf32>, tensor<24xf32>, tensor<f32>, tensor<7xf32>) "
     "-> (tensor<24xf32>, tensor<24xf32>, tensor<24xf32>)",
     3, 2, true},
};

/// One way to hold operands and results on one axis.
struct Holding {
  SmallVector<AxisState> operands, results;

  std::string str() const {
    std::string text = "(";
    for (const AxisState &state : operands)
      text += (text.size() > 1 ? ", " : "") + state.str();
    text += ") ->";
    for (const AxisState &state : results)
      text += " " + state.str();
    return text;
  }
};

/// All ways that L1 to L8 accept on one axis.
std::vector<Holding> accepted(const SingleOp &single, StringAttr axis, int64_t ranks) {
  Operation *op = single.op();
  ShardingRule rule = cast<ShardingRuleOpInterface>(op).getShardingRule();
  FactorSizes sizes;
  for (const Factor &factor : rule.factors)
    sizes.push_back(factor.size);
  std::vector<Holding> found;
  std::vector<SmallVector<AxisState>> choices;
  for (Type type : op->getOperandTypes())
    choices.push_back(allStates(type, axis, ranks));

  auto tryResults = [&](ArrayRef<AxisState> operands, ArrayRef<AxisState> results) {
    AxisInference inference = inferAxis(op, rule, sizes, axis, operands, results);
    if (!inference.violation && ArrayRef<AxisState>(inference.results) == results)
      found.push_back({SmallVector<AxisState>(operands), SmallVector<AxisState>(results)});
  };
  SmallVector<AxisState> operands;
  auto choose = [&](auto &self) -> void {
    if (operands.size() < choices.size()) {
      for (const AxisState &state : choices[operands.size()]) {
        operands.push_back(state);
        self(self);
        operands.pop_back();
      }
      return;
    }
    // What operands alone rule out no choice of results saves.
    AxisInference inference = inferAxis(op, rule, sizes, axis, operands, {});
    if (inference.violation)
      return;
    if (op->getNumResults() > 1)
      return tryResults(operands, inference.results);
    for (const AxisState &state : allStates(op->getResult(0).getType(), axis, ranks))
      tryResults(operands, {state});
  };
  choose(choose);
  return found;
}

class RuleCheck : public testing::TestWithParam<Instance> {
protected:
  void SetUp() override {
    whole = std::make_unique<SingleOp>(testContext(), GetParam(), GridAttr());
    hasGradients = whole->addGradients();
    arguments = randomArguments(*whole, GetParam());
    expected = whole->run(arguments, executedOps());
    plain = std::make_unique<SingleOp>(testContext(), GetParam(), GridAttr());
    withoutGradients = std::make_unique<SingleOp>(testContext(), GetParam(), GridAttr());
    expectedForward = withoutGradients->run(arguments, executedOps());
  }

  /// Runs the operation with these types; false where the verifier refuses them.
  bool check(GridAttr grid, ArrayRef<Type> operands, ArrayRef<Type> results,
             const std::string &what) {
    SingleOp single(testContext(), GetParam(), grid);
    if (!single.setTypes(operands, results))
      return false;
    SCOPED_TRACE(what);
    try {
      bool isMaximum = llvm::any_of(results, [](Type type) {
        LayoutAttr layout = getLayout(type);
        return layout && llvm::any_of(layout.getStates(),
                                      [](const AxisState &s) { return s.isPartialMax(); });
      });
      bool gradients = hasGradients && !isMaximum && single.addGradients();
      expectSame(gradients ? expected : expectedForward, single.run(arguments, executedOps()),
                 what);
    } catch (const std::exception &error) {
      ADD_FAILURE() << what << ": " << error.what();
    }
    return true;
  }

  static SmallVector<Type> withStates(TypeRange types, ArrayRef<AxisState> states) {
    SmallVector<Type> result;
    for (auto [type, state] : llvm::zip_equal(types, states))
      result.push_back(withState(type, state));
    return result;
  }

  std::unique_ptr<SingleOp> whole, plain, withoutGradients;
  std::map<std::string, Tensor> arguments;
  std::vector<Tensor> expected, expectedForward;
  bool hasGradients = false;
};

TEST_P(RuleCheck, OneAxis) {
  auto axis = StringAttr::get(&testContext(), "tp");
  for (int64_t ranks : {2, 4}) {
    GridAttr grid = makeGrid({{"tp", ranks}});
    std::vector<Holding> holdings = accepted(*plain, axis, ranks);
    // All invariant is always one of them.
    EXPECT_FALSE(holdings.empty());
    for (const Holding &holding : holdings) {
      std::string what = "tp=" + std::to_string(ranks) + " " + holding.str();
      EXPECT_TRUE(check(grid, withStates(plain->op()->getOperandTypes(), holding.operands),
                        withStates(plain->op()->getResultTypes(), holding.results), what))
          << what << ": inference accepts what the verifier refuses";
    }
  }
}

// Pairs of holdings, one on each axis, either axis the outer one. Not every pair fits (inner cuts
// find fewer elements); many do, so a sample is run unless --full asks for all.
TEST_P(RuleCheck, TwoAxes) {
  const char *full = std::getenv("COLROW_FULL");
  size_t limit = full && StringRef(full) == "1" ? SIZE_MAX : 24;
  GridAttr grid = makeGrid({{"dp", 2}, {"tp", 2}});
  std::vector<Holding> holdings[2];
  for (int i : {0, 1})
    holdings[i] = accepted(*plain, StringAttr::get(&testContext(), i ? "tp" : "dp"), 2);
  std::vector<std::array<size_t, 3>> pairs;
  for (size_t a = 0; a < holdings[0].size(); ++a)
    for (size_t b = 0; b < holdings[1].size(); ++b)
      for (size_t order : {0, 1})
        pairs.push_back({a, b, order});
  std::shuffle(pairs.begin(), pairs.end(), std::mt19937_64(5));
  size_t ran = 0;
  for (auto [a, b, order] : pairs) {
    if (ran == limit)
      break;
    const Holding &outer = order ? holdings[1][b] : holdings[0][a];
    const Holding &inner = order ? holdings[0][a] : holdings[1][b];
    auto types = [&](TypeRange plainTypes, ArrayRef<AxisState> first, ArrayRef<AxisState> second) {
      return withStates(withStates(plainTypes, first), second);
    };
    std::string what = "outer " + outer.str() + " inner " + inner.str();
    ran += check(grid, types(plain->op()->getOperandTypes(), outer.operands, inner.operands),
                 types(plain->op()->getResultTypes(), outer.results, inner.results), what);
  }
  EXPECT_GT(ran, 0u);
}

std::string testName(const testing::TestParamInfo<Instance> &info) {
  StringRef op = StringRef(info.param.text).drop_front(StringRef("colrow.").size());
  return op.take_while([](char c) { return llvm::isAlnum(c) || c == '_'; }).str() + "_" +
         std::to_string(info.index);
}
INSTANTIATE_TEST_SUITE_P(Ops, RuleCheck, testing::ValuesIn(instances), testName);

// By name, since gtest_discover_tests runs each case in a program of its own.
TEST(RuleCheckCoverage, EveryOpWithARuleIsInTheList) {
  std::set<std::string> listed;
  for (const Instance &instance : instances)
    listed.insert(StringRef(instance.text).split(' ').first.str());
  for (RegisteredOperationName name :
       testContext().getRegisteredOperationsByDialect(ColrowDialect::getDialectNamespace())) {
    if (name.hasInterface<ShardingRuleOpInterface>()) {
      EXPECT_TRUE(listed.count(name.getStringRef().str()))
          << name.getStringRef().str() << " has a sharding rule but no instance in this test";
    }
  }
}

} // namespace
} // namespace colrow::test
