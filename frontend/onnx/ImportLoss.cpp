//===- ImportLoss.cpp - losses --------------------------------------------===//

#include "frontend/onnx/Model.h"
#include "frontend/onnx/OnnxNode.h"

using namespace mlir;

namespace colrow {

namespace {
struct LossNode {
  Value labels;   ///< int64
  Value weight;   ///< of each class, or null
  Value ignored;  ///< booleans of the labels' shape, or null
  int64_t ignore; ///< no label is ignored if `ignored` is null
  std::string reduction;
};
} // namespace

static LossNode lossOf(OnnxNode &node) {
  FoldingBuilder &b = node.b;
  LossNode loss;
  loss.reduction = node.text("reduction", "mean");
  if (loss.reduction != "mean" && loss.reduction != "sum" && loss.reduction != "none")
    node.fail("has reduction '" + Twine(loss.reduction) + "'; known are mean, sum and none");
  SmallVector<int64_t> scores = shapeOf(node.in(0)), expected(scores);
  if (scores.size() < 2)
    node.fail("expects scores of rank 2 or more");
  expected.erase(expected.begin() + 1);
  if (shapeOf(node.in(1)) != expected)
    node.fail("has labels whose shape does not fit the scores");
  loss.labels = b.cast(node.in(1), IntegerType::get(b.getContext(), 64));
  if (node.has(2))
    loss.weight = node.in(2);
  loss.ignore = node.integer("ignore_index", -100); // PyTorch's
  if (node.hasAttribute("ignore_index"))
    loss.ignored = b.compare(Predicate::eq, loss.labels, static_cast<double>(loss.ignore));
  return loss;
}

/// [batch, classes, ...] -> [batch, ..., classes]
static Value classesLast(FoldingBuilder &b, Value scores) {
  SmallVector<int64_t> permutation{0};
  llvm::append_range(permutation, llvm::seq<int64_t>(2, rankOf(scores)));
  permutation.push_back(1);
  return b.transpose(scores, permutation);
}

static Value sumAll(FoldingBuilder &b, Value x) {
  return b.reduce<ReduceSumOp>(x, llvm::to_vector(llvm::seq<int64_t>(0, rankOf(x))), false);
}

/// -weight[label] logProbabilities[label], reduced. Ignored labels weigh nothing.
static Value negativeLogLikelihood(FoldingBuilder &b, Value logProbabilities,
                                   const LossNode &loss) {
  Value scores = classesLast(b, logProbabilities), labels = loss.labels;
  Type element = elementOf(scores);
  if (loss.ignored)
    labels = b.select(loss.ignored, b.scalarLike(0, labels), labels);
  SmallVector<int64_t> shape = shapeOf(labels), column(shape);
  column.push_back(1);
  Value picked = b.create<TakeAlongOp>({scores, b.reshape(labels, column)},
                                       {b.integer("axis", static_cast<int64_t>(shape.size()))});
  Value value = b.create<NegOp>({b.reshape(picked, shape)});
  Value weight =
      loss.weight ? b.take(loss.weight, labels, 0) : b.broadcast(b.scalar(1, element), shape);
  if (loss.ignored)
    weight = b.select(loss.ignored, b.scalar(0, element), weight);
  if (loss.weight || loss.ignored)
    value = b.mul(value, weight);
  if (loss.reduction == "none")
    return value;
  Value sum = sumAll(b, value);
  return loss.reduction == "sum" ? sum : b.div(sum, sumAll(b, weight));
}

static void buildNegativeLogLikelihood(OnnxNode &node) {
  node.set(negativeLogLikelihood(node.b, node.in(0), lossOf(node)));
}

static void buildSoftmaxCrossEntropy(OnnxNode &node) {
  FoldingBuilder &b = node.b;
  LossNode loss = lossOf(node);
  if (!loss.weight && loss.reduction != "none" && !node.wants(1)) {
    Value logits = classesLast(b, node.in(0));
    Type element = elementOf(logits);
    Value count = b.scalar(1, element);
    if (loss.reduction == "mean") {
      count = b.scalar(static_cast<double>(typeOf(loss.labels).getNumElements()), element);
      if (loss.ignored)
        count = sumAll(b, b.cast(b.create<NotOp>({loss.ignored}), element));
    }
    return node.set(b.create<CrossEntropyOp>(
        {logits, loss.labels, count},
        {b.integer("ignore", loss.ignore), b.integer("valid", shapeOf(logits).back())}));
  }
  Value logProbabilities = buildLogSoftmax(b, node.in(0), 1);
  node.set(negativeLogLikelihood(b, logProbabilities, loss));
  if (node.wants(1))
    node.set(logProbabilities, 1);
}

static constexpr OnnxOp ops[] = {
    {"NegativeLogLikelihoodLoss", 12, "FiF", buildNegativeLogLikelihood},
    {"SoftmaxCrossEntropyLoss", 12, "FiF", buildSoftmaxCrossEntropy},
};

ArrayRef<OnnxOp> lossOps() { return ops; }

} // namespace colrow
