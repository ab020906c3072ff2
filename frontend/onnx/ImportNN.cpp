//===- ImportNN.cpp - softmax, norms, dropout, convolutions ---------------===//

#include "colrow/Philox.h"
#include "frontend/Builders.h"
#include "frontend/onnx/Model.h"
#include "frontend/onnx/OnnxNode.h"

using namespace mlir;

namespace colrow {

//===----------------------------------------------------------------------===//
// Softmax
//===----------------------------------------------------------------------===//

/// Sets what `build` makes of the operand along the node's axis. Before opset 13 all dimensions
/// from the axis on count as one.
static void alongAxis(OnnxNode &node, llvm::function_ref<Value(Value, int64_t)> build) {
  FoldingBuilder &b = node.b;
  Value x = node.in(0);
  int64_t rank = rankOf(x), axis = node.axis(node.integer("axis", node.opset < 13 ? 1 : -1), rank);
  if (node.opset >= 13 || axis == rank - 1)
    return node.set(build(x, axis));
  SmallVector<int64_t> shape = shapeOf(x), joined(ArrayRef(shape).take_front(axis));
  joined.push_back(1);
  for (int64_t size : ArrayRef(shape).drop_front(axis))
    joined.back() *= size;
  node.set(b.reshape(build(b.reshape(x, joined), axis), shape));
}

static void buildSoftmax(OnnxNode &node) {
  alongAxis(node, [&](Value x, int64_t axis) {
    return node.b.create<SoftmaxOp>({x}, {node.b.integer("axis", axis)});
  });
}

/// The maximum is subtracted and drops out, so it has no gradient.
Value buildLogSoftmax(FoldingBuilder &b, Value x, int64_t axis) {
  Value maximum = b.create<StopGradientOp>({b.reduce<ReduceMaxOp>(x, {axis}, true)});
  Value shifted = b.sub(x, maximum);
  Value sum = b.reduce<ReduceSumOp>(b.create<ExpOp>({shifted}), {axis}, true);
  return b.sub(shifted, b.create<LogOp>({sum}));
}

static void buildLogSoftmaxNode(OnnxNode &node) {
  alongAxis(node, [&](Value x, int64_t axis) { return buildLogSoftmax(node.b, x, axis); });
}

//===----------------------------------------------------------------------===//
// Norms
//===----------------------------------------------------------------------===//

namespace {
struct Moments {
  Value mean, centered, inverseDeviation;
};
} // namespace

static Moments moments(FoldingBuilder &b, Value x, ArrayRef<int64_t> axes, double epsilon) {
  Moments result;
  result.mean = buildMean(b, x, axes);
  result.centered = b.sub(x, result.mean);
  Value variance = buildMean(b, b.mul(result.centered, result.centered), axes);
  result.inverseDeviation = b.create<ReciprocalOp>({b.create<SqrtOp>({b.add(variance, epsilon)})});
  return result;
}

static void buildLayerNormalization(OnnxNode &node) {
  FoldingBuilder &b = node.b;
  Value x = node.in(0);
  int64_t axis = node.axis(node.integer("axis", -1), rankOf(x));
  double epsilon = node.number("epsilon", 1e-5);
  ArrayRef<int64_t> normalized = typeOf(x).getShape().drop_front(axis);
  SmallVector<Value> operands{x, b.broadcast(node.in(1), normalized)};
  if (node.has(2))
    operands.push_back(b.broadcast(node.in(2), normalized));
  auto segments = DenseI32ArrayAttr::get(b.getContext(), {1, 1, node.has(2) ? 1 : 0});
  node.set(b.create<LayerNormOp>(operands, {b.integer("axis", axis), b.number("epsilon", epsilon),
                                            b.attr("operandSegmentSizes", segments)}));
  if (!node.wants(1) && !node.wants(2))
    return;
  Moments stash = moments(b, x, llvm::to_vector(llvm::seq<int64_t>(axis, rankOf(x))), epsilon);
  for (auto [i, value] : {std::pair(1, stash.mean), std::pair(2, stash.inverseDeviation)})
    if (node.wants(i))
      node.set(value, i);
}

static void buildRmsNormalization(OnnxNode &node) {
  Value x = node.in(0);
  int64_t axis = node.axis(node.integer("axis", -1), rankOf(x));
  node.set(buildRmsNorm(node.b, x, node.in(1), axis, node.number("epsilon", 1e-5)));
}

/// A vector of channels as a tensor that broadcasts against [batch, channels, ...].
static Value alongChannels(FoldingBuilder &b, Value vector, int64_t rank) {
  SmallVector<int64_t> shape(rank, 1);
  shape[1] = typeOf(vector).getNumElements();
  return b.reshape(vector, shape);
}

static void buildBatchNormalization(OnnxNode &node) {
  FoldingBuilder &b = node.b;
  // Before opset 14 the number of results told.
  if (node.integer("training_mode", 0) || (node.opset < 14 && node.numOutputs() > 1))
    node.fail(
        "is in training mode, where statistics go over the batch; export it in inference mode");
  int64_t rank = node.rank(0);
  auto channels = [&](size_t i) { return alongChannels(b, node.in(i), rank); };
  Value deviation = b.create<SqrtOp>({b.add(channels(4), node.number("epsilon", 1e-5))});
  Value normalized = b.div(b.sub(node.in(0), channels(3)), deviation);
  node.set(b.add(b.mul(normalized, channels(1)), channels(2)));
}

static void buildInstanceNormalization(OnnxNode &node) {
  FoldingBuilder &b = node.b;
  int64_t rank = node.rank(0);
  Moments stats = moments(b, node.in(0), llvm::to_vector(llvm::seq<int64_t>(2, rank)),
                          node.number("epsilon", 1e-5));
  Value normalized = b.mul(stats.centered, stats.inverseDeviation);
  node.set(b.add(b.mul(normalized, alongChannels(b, node.in(1), rank)),
                 alongChannels(b, node.in(2), rank)));
}

static void buildMeanVarianceNormalization(OnnxNode &node) {
  FoldingBuilder &b = node.b;
  SmallVector<int64_t> axes{0, 2, 3};
  if (node.hasAttribute("axes"))
    axes = node.integerList("axes");
  Value x = node.in(0);
  axes = node.axes(axes, rankOf(x));
  Value centered = b.sub(x, buildMean(b, x, axes));
  Value deviation = b.create<SqrtOp>({buildMean(b, b.mul(centered, centered), axes)});
  node.set(b.div(centered, b.add(deviation, 1e-9)));
}

static void buildLpNormalization(OnnxNode &node) {
  FoldingBuilder &b = node.b;
  Value x = node.in(0);
  int64_t axis = node.axis(node.integer("axis", -1), rankOf(x)), p = node.integer("p", 2);
  if (p != 1 && p != 2)
    node.fail("has p=" + Twine(p) + "; known are 1 and 2");
  Value sum = b.reduce<ReduceSumOp>(p == 1 ? b.create<AbsOp>({x}) : b.mul(x, x), {axis}, true);
  node.set(b.div(x, p == 1 ? sum : b.create<SqrtOp>({sum})));
}

//===----------------------------------------------------------------------===//
// Dropout
//===----------------------------------------------------------------------===//

/// A ratio above 0 makes an active site, with or without `training_mode`: exporters leave the flag
/// out at attention probabilities. The program switches all sites off at evaluation.
static void buildDropout(OnnxNode &node) {
  FoldingBuilder &b = node.b;
  double ratio = 0.5;
  if (!node.isOperand("ratio", 1, 12))
    ratio = node.number("ratio", ratio);
  else if (node.has(1))
    ratio = node.numberIn(1, "ratio");
  if (ratio < 0 || ratio >= 1)
    node.fail("has a ratio outside [0, 1)");
  Value x = node.in(0);
  bool training = node.has(2) && node.integerIn(2, "training_mode");
  if (node.wants(1)) {
    if (training && ratio > 0)
      node.fail("gives its mask away, which is not imported; use its first result only");
    node.set(b.broadcast(b.constant(reference::Tensor::boolean(true)), shapeOf(x)), 1);
  }
  if (ratio == 0)
    return node.set(x);
  ratio = shortestDecimal(static_cast<float>(ratio)); // 0.1, not its float32 image
  std::string name = node.proto.name().empty() ? node.proto.output(0) : node.proto.name();
  node.set(b.create<DropoutOp>(
      {x, node.random()},
      {b.number("rate", ratio), b.integer("id", static_cast<int64_t>(stableId(name)))}));
}

static constexpr OnnxOp ops[] = {
    {"BatchNormalization", minOpset, "FFFFF", buildBatchNormalization, "inference form"},
    {"Dropout", minOpset, "ffb", buildDropout, "no mask of a training site"},
    {"InstanceNormalization", minOpset, "FFF", buildInstanceNormalization},
    {"LayerNormalization", 17, "FFF", buildLayerNormalization},
    {"LogSoftmax", minOpset, "f", buildLogSoftmaxNode},
    {"LpNormalization", minOpset, "f", buildLpNormalization},
    {"MeanVarianceNormalization", minOpset, "f", buildMeanVarianceNormalization},
    {"RMSNormalization", 23, "FF", buildRmsNormalization},
    {"Softmax", minOpset, "f", buildSoftmax},
};

ArrayRef<OnnxOp> nnOps() { return ops; }

} // namespace colrow
