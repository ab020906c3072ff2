//===- OpsNN.cpp - operations of neural networks --------------------------===//

#include "colrow/Philox.h"
#include "frontend/Builders.h"
#include "frontend/dsl/OpCall.h"

#include <cmath>
#include <limits>

using namespace mlir;

namespace colrow::dsl {

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

/// x w' + bias with torch's [out, in]. The weight is read transposed, as exporters write it.
static Datum buildLinear(OpCall &call) {
  FoldingBuilder &b = call.b;
  Value x = call.floats("x"), weight = call.floats("weight");
  if (rankOf(weight) != 2 || rankOf(x) < 1 || shapeOf(x).back() != shapeOf(weight)[1])
    call.fail("weight", "'linear' expects a weight [out, in] for x [..., in], got: " +
                            shapeText(shapeOf(weight)) + " for " + shapeText(shapeOf(x)));
  Value y = buildMatMul(b, x, call.transposed(weight));
  if (!call.has("bias"))
    return datumOf(y);
  Value bias = call.floats("bias");
  if (shapeOf(bias) != ArrayRef<int64_t>{shapeOf(weight)[0]})
    call.fail("bias", "'linear' expects a bias [out], got: " + shapeText(shapeOf(bias)) +
                          " for a weight " + shapeText(shapeOf(weight)));
  return datumOf(b.add(y, bias));
}

static Datum buildMatMulCall(OpCall &call) {
  return datumOf(buildMatMul(call.b, call.floats("left"), call.floats("right")));
}

static Datum buildEinsum(OpCall &call) {
  std::string equation = call.text("equation");
  llvm::erase(equation, ' ');
  return datumOf(call.b.einsum(equation, call.floats("left"), call.floats("right")));
}

//===----------------------------------------------------------------------===//
// Norms and softmax
//===----------------------------------------------------------------------===//

static Value vectorOf(OpCall &call, StringRef name, int64_t size) {
  Value value = call.floats(name);
  if (shapeOf(value) != ArrayRef<int64_t>{size})
    call.fail(name, "'" + call.op + "' expects " + name + " [" + Twine(size) +
                        "], as long as the last dimension of x, got: " + shapeText(shapeOf(value)));
  return value;
}

static double epsilonOf(OpCall &call) {
  double epsilon = call.number("eps");
  if (!(epsilon > 0))
    call.fail("eps", "'eps' is above 0");
  return epsilon;
}

static Value normalised(OpCall &call) {
  Value x = call.floats("x");
  if (rankOf(x) < 1)
    call.fail("x", "'" + call.op + "' expects a tensor with dimensions");
  return x;
}

static Datum buildLayerNorm(OpCall &call) {
  FoldingBuilder &b = call.b;
  Value x = normalised(call);
  int64_t axis = rankOf(x) - 1, size = shapeOf(x).back();
  SmallVector<Value> operands{x, vectorOf(call, "weight", size)};
  if (call.has("bias"))
    operands.push_back(vectorOf(call, "bias", size));
  auto segments = DenseI32ArrayAttr::get(b.getContext(), {1, 1, call.has("bias") ? 1 : 0});
  return datumOf(b.create<LayerNormOp>(operands, {b.integer("axis", axis),
                                                  b.number("epsilon", epsilonOf(call)),
                                                  b.attr("operandSegmentSizes", segments)}));
}

static Datum buildRmsNormCall(OpCall &call) {
  Value x = normalised(call);
  int64_t axis = rankOf(x) - 1;
  return datumOf(
      buildRmsNorm(call.b, x, vectorOf(call, "weight", shapeOf(x).back()), axis, epsilonOf(call)));
}

static Datum buildSoftmax(OpCall &call) {
  Value x = call.floats("x");
  return datumOf(
      call.b.create<SoftmaxOp>({x}, {call.b.integer("axis", call.axis("dim", rankOf(x)))}));
}

//===----------------------------------------------------------------------===//
// Attention and positions
//===----------------------------------------------------------------------===//

static double rateOf(OpCall &call, StringRef name) {
  double rate = call.number(name);
  if (!(rate >= 0 && rate < 1))
    call.fail(name, "a rate of dropout is in [0, 1), got: " + describe(call.given(name).value));
  return rate;
}

static Datum buildAttention(OpCall &call) {
  FoldingBuilder &b = call.b;
  SmallVector<Value> operands;
  for (const char *name : {"query", "key", "value"}) {
    operands.push_back(call.floats(name));
    if (rankOf(operands.back()) != 4)
      call.fail(name,
                "'attention' expects " + Twine(name) +
                    " [batch, heads, sequence, size], got: " + shapeText(shapeOf(operands.back())));
  }
  bool hasMask = call.has("mask");
  if (hasMask) {
    Value mask = call.tensor("mask");
    if (elementOf(mask).isInteger(1))
      mask = b.select(mask, b.scalarLike(0, operands[0]),
                      b.scalarLike(-std::numeric_limits<double>::infinity(), operands[0]));
    if (elementOf(mask) != elementOf(operands[0]))
      call.fail("mask", "a mask is of bool, true where a key is visible, or added to the scores; "
                        "got: " +
                            describe(call.given("mask").value));
    operands.push_back(mask);
  }
  double scale = 1 / std::sqrt(static_cast<double>(shapeOf(operands[0]).back()));
  if (call.has("scale"))
    scale = call.number("scale");
  SmallVector<NamedAttribute> attributes{b.number("scale", scale)};
  if (call.truth("causal"))
    attributes.push_back(b.integer("causal", 0));
  double rate = rateOf(call, "dropout");
  if (rate > 0) {
    operands.push_back(call.random());
    attributes.push_back(b.number("rate", rate));
    attributes.push_back(
        b.integer("id", static_cast<int64_t>(stableId(call.nameOf("attention.dropout")))));
  }
  attributes.push_back(
      b.attr("operandSegmentSizes",
             DenseI32ArrayAttr::get(b.getContext(), {1, 1, 1, hasMask ? 1 : 0, rate > 0 ? 1 : 0})));
  return datumOf(b.create<AttentionOp>(operands, attributes));
}

/// Su et al., RoFormer (arXiv 2104.09864): the angle of pair i of n at position p is p base^(-i/n).
static Datum buildRotary(OpCall &call) {
  FoldingBuilder &b = call.b;
  Value x = call.floats("x");
  int64_t rank = rankOf(x);
  if (rank < 2 || shapeOf(x).back() % 2 != 0)
    call.fail("x", "'rotary' expects x [..., sequence, size] with an even size, got: " +
                       shapeText(shapeOf(x)));
  double base = call.number("base");
  if (!(base > 0))
    call.fail("base", "'base' is above 0");
  int64_t length = shapeOf(x)[rank - 2], pairs = shapeOf(x).back() / 2;
  Type f32 = elementOf(x);
  Value exponent = b.mul(b.iota({1, pairs}, 1, f32), -1.0 / static_cast<double>(pairs));
  Value frequency = b.create<PowOp>({b.scalar(base, f32), exponent});
  Value angle = b.mul(b.iota({length, 1}, 0, f32), frequency);
  return datumOf(buildRotaryTurn(b, x, b.create<CosOp>({angle}), b.create<SinOp>({angle}),
                                 call.truth("interleaved")));
}

static Datum buildEmbedding(OpCall &call) {
  Value ids = call.tensor("ids"), weight = call.floats("weight");
  if (!elementOf(ids).isInteger(64) && !elementOf(ids).isInteger(32))
    call.fail("ids", "'embedding' expects ids of int64 or int32, got: " +
                         describe(call.given("ids").value));
  if (rankOf(weight) != 2)
    call.fail("weight",
              "'embedding' expects a table [ids, size], got: " + shapeText(shapeOf(weight)));
  return datumOf(buildLookup(call.b, weight, ids, 0, call.sourceOf("weight")));
}

//===----------------------------------------------------------------------===//
// Dropout and loss
//===----------------------------------------------------------------------===//

static Datum buildDropout(OpCall &call) {
  FoldingBuilder &b = call.b;
  Value x = call.floats("x");
  double rate = rateOf(call, "p");
  if (rate == 0)
    return datumOf(x);
  return datumOf(b.create<DropoutOp>(
      {x, call.random()},
      {b.number("rate", rate),
       b.integer("id", static_cast<int64_t>(stableId(call.nameOf("dropout"))))}));
}

static Datum buildCrossEntropy(OpCall &call) {
  FoldingBuilder &b = call.b;
  Value logits = call.floats("logits"), labels = call.tensor("labels");
  SmallVector<int64_t> expected = shapeOf(logits);
  if (expected.empty())
    call.fail("logits", "'cross_entropy' expects logits [..., classes]");
  int64_t classes = expected.pop_back_val();
  if (!elementOf(labels).isInteger(64) || shapeOf(labels) != expected)
    call.fail("labels", "'cross_entropy' expects labels " + shapeText(expected) +
                            " of int64 for logits " + shapeText(shapeOf(logits)) +
                            ", got: " + describe(call.given("labels").value));
  int64_t ignore = call.integer("ignore_index");
  Value counts = b.create<NotOp>({b.compare(Predicate::eq, labels, static_cast<double>(ignore))});
  Value count =
      b.reduce<ReduceSumOp>(b.cast(counts, elementOf(logits)),
                            llvm::to_vector(llvm::seq<int64_t>(0, rankOf(labels))), false);
  return datumOf(b.create<CrossEntropyOp>(
      {logits, labels, count}, {b.integer("ignore", ignore), b.integer("valid", classes)}));
}

static constexpr Op ops[] = {
    {"attention", "query, key, value, mask=none, causal=false, scale=none, dropout=0.0",
     buildAttention,
     "scaled dot product attention of [batch, heads, sequence, size]; heads of key and value may "
     "be "
     "fewer, each for a group of queries; `mask` is of bool or added to the scores; `scale` is "
     "1 / sqrt(size) unless given; `dropout` is of the probabilities"},
    {"cross_entropy", "logits, labels, ignore_index=-100", buildCrossEntropy,
     "mean over the labels that are not ignored; the classes are the last dimension of the logits"},
    {"dropout", "x, p=0.5", buildDropout,
     "zeros at random while training, the others scaled by 1 / (1 - p)"},
    {"einsum", "equation, left, right", buildEinsum, "product of two tensors, summed over letters"},
    {"embedding", "ids, weight", buildEmbedding,
     "rows of a table; known positions are a slice of it"},
    {"layer_norm", "x, weight, bias=none, eps=1e-5", buildLayerNorm, "over the last dimension"},
    {"linear", "x, weight, bias=none", buildLinear, "x times the transpose of weight [out, in]"},
    {"matmul", "left, right", buildMatMulCall, "the operator `@`: leading dimensions broadcast"},
    {"rms_norm", "x, weight, eps=1e-5", buildRmsNormCall, "over the last dimension"},
    {"rotary", "x, base=10000.0, interleaved=false", buildRotary,
     "rotary positions of x [..., sequence, size]; pairs are half a size apart, or neighbours"},
    {"softmax", "x, dim=-1", buildSoftmax, "exp(x) over its sum along dim"},
};

ArrayRef<Op> nnOps() { return ops; }

} // namespace colrow::dsl
