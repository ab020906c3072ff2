//===- ImportActivation.cpp - activation functions ------------------------===//
//
// Where a function is made of pieces, the piece of an element is selected, never added: the
// gradient of the other piece may be infinite or not a number there.
//
//===----------------------------------------------------------------------===//

#include "frontend/onnx/Model.h"
#include "frontend/onnx/OnnxNode.h"

using namespace mlir;

namespace colrow {

/// x where it is positive (or NaN), else 0. PyTorch's gradient at 0 is 0.
static Value positivePart(FoldingBuilder &b, Value x) {
  return b.select(b.compare(Predicate::le, x, 0), b.scalarLike(0, x), x);
}
/// x where it is negative, else 0.
static Value negativePart(FoldingBuilder &b, Value x) {
  return b.select(b.compare(Predicate::lt, x, 0), x, b.scalarLike(0, x));
}
static Value clamp(FoldingBuilder &b, Value x, double low, double high) {
  x = b.select(b.compare(Predicate::lt, x, low), b.scalarLike(low, x), x);
  return b.select(b.compare(Predicate::gt, x, high), b.scalarLike(high, x), x);
}
/// otherwise where x < 0, else x.
static Value whereNegative(FoldingBuilder &b, Value x, Value otherwise) {
  return b.select(b.compare(Predicate::lt, x, 0), otherwise, x);
}
/// log(1 + e^x) without overflow: max(x, 0) + log(1 + e^-|x|).
static Value softplus(FoldingBuilder &b, Value x) {
  Value small = b.create<ExpOp>({b.create<NegOp>({b.create<AbsOp>({x})})});
  return b.add(b.create<MaxOp>({x, b.scalarLike(0, x)}), b.create<LogOp>({b.add(small, 1)}));
}

static void buildRelu(OnnxNode &node) { node.set(positivePart(node.b, node.in(0))); }

static void buildLeakyRelu(OnnxNode &node) {
  Value x = node.in(0);
  node.set(whereNegative(node.b, x, node.b.mul(x, node.number("alpha", 0.01))));
}

static void buildPRelu(OnnxNode &node) {
  node.set(whereNegative(node.b, node.in(0), node.b.mul(node.in(0), node.in(1))));
}

static void buildThresholdedRelu(OnnxNode &node) {
  Value x = node.in(0);
  node.set(node.b.select(node.b.compare(Predicate::gt, x, node.number("alpha", 1)), x,
                         node.b.scalarLike(0, x)));
}

/// factor (e^(x / scale) - 1) where x < 0, else x.
static Value exponentialUnit(FoldingBuilder &b, Value x, double factor, double scale) {
  Value low = negativePart(b, x);
  if (scale != 1)
    low = b.div(low, scale);
  return whereNegative(b, x, b.mul(b.add(b.create<ExpOp>({low}), -1), factor));
}

static void buildElu(OnnxNode &node) {
  node.set(exponentialUnit(node.b, node.in(0), node.number("alpha", 1), 1));
}
static void buildCelu(OnnxNode &node) {
  double alpha = node.number("alpha", 1);
  node.set(exponentialUnit(node.b, node.in(0), alpha, alpha));
}
static void buildSelu(OnnxNode &node) {
  // The defaults of the standard, which are float32 images.
  double alpha = node.number("alpha", 1.67326319217681884765625);
  double gamma = node.number("gamma", 1.05070102214813232421875);
  node.set(node.b.mul(exponentialUnit(node.b, node.in(0), alpha, 1), gamma));
}

static Value hardSigmoid(FoldingBuilder &b, Value x, double alpha, double beta) {
  return clamp(b, b.add(b.mul(x, alpha), beta), 0, 1);
}
static void buildHardSigmoid(OnnxNode &node) {
  node.set(hardSigmoid(node.b, node.in(0), node.number("alpha", 0.2), node.number("beta", 0.5)));
}
static void buildHardSwish(OnnxNode &node) {
  Value x = node.in(0);
  node.set(node.b.mul(x, hardSigmoid(node.b, x, 1. / 6, 0.5)));
}

static void buildSoftplus(OnnxNode &node) { node.set(softplus(node.b, node.in(0))); }
static void buildSoftsign(OnnxNode &node) {
  FoldingBuilder &b = node.b;
  node.set(b.div(node.in(0), b.add(b.create<AbsOp>({node.in(0)}), 1)));
}
static void buildMish(OnnxNode &node) {
  FoldingBuilder &b = node.b;
  node.set(b.mul(node.in(0), b.create<TanhOp>({softplus(b, node.in(0))})));
}
static void buildShrink(OnnxNode &node) {
  FoldingBuilder &b = node.b;
  Value x = node.in(0);
  double lambda = node.number("lambd", 0.5), bias = node.number("bias", 0);
  Value high = b.select(b.compare(Predicate::gt, x, lambda), b.add(x, -bias), b.scalarLike(0, x));
  node.set(b.select(b.compare(Predicate::lt, x, -lambda), b.add(x, bias), high));
}
static void buildSigmoid(OnnxNode &node) { node.set(node.b.create<SigmoidOp>({node.in(0)})); }

static void buildGelu(OnnxNode &node) {
  std::string form = node.text("approximate", "none");
  if (form != "none" && form != "tanh")
    node.fail("has approximate='" + Twine(form) + "'; known are 'none' and 'tanh'");
  auto attribute =
      GeluFormAttr::get(node.b.getContext(), form == "tanh" ? GeluForm::tanh : GeluForm::erf);
  node.set(node.b.create<GeluOp>({node.in(0)}, {node.b.attr("form", attribute)}));
}

static constexpr OnnxOp ops[] = {
    {"Celu", 12, "f", buildCelu},
    {"Elu", minOpset, "f", buildElu},
    {"Gelu", 20, "f", buildGelu},
    {"HardSigmoid", minOpset, "f", buildHardSigmoid},
    {"HardSwish", 14, "f", buildHardSwish},
    {"LeakyRelu", minOpset, "f", buildLeakyRelu},
    {"Mish", 18, "f", buildMish},
    {"PRelu", minOpset, "SS", buildPRelu},
    {"Relu", minOpset, "s", buildRelu},
    {"Selu", minOpset, "f", buildSelu},
    {"Shrink", minOpset, "n", buildShrink},
    {"Sigmoid", minOpset, "f", buildSigmoid},
    {"Softplus", minOpset, "f", buildSoftplus},
    {"Softsign", minOpset, "f", buildSoftsign},
    {"ThresholdedRelu", minOpset, "f", buildThresholdedRelu},
};

ArrayRef<OnnxOp> activationOps() { return ops; }

} // namespace colrow
