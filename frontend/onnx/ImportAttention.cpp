//===- ImportAttention.cpp - attention and rotary positions ----------------===//
//
// Operators of opset 23, each as one node what older exports spell out.
//
//===----------------------------------------------------------------------===//

#include "frontend/Builders.h"
#include "frontend/onnx/Model.h"
#include "frontend/onnx/OnnxNode.h"

#include <cmath>
#include <limits>

using namespace mlir;

namespace colrow {

/// [batch, sequence, heads * size] as [batch, heads, sequence, size].
static Value splitHeads(OnnxNode &node, size_t operand, int64_t heads) {
  Value x = node.in(operand);
  SmallVector<int64_t> shape = shapeOf(x);
  if (shape.size() == 4)
    return x;
  if (shape.size() != 3)
    node.fail("expects operand " + Twine(operand) + " to have 3 or 4 dimensions, got " +
              Twine(shape.size()));
  if (heads < 1 || shape[2] % heads != 0)
    node.fail("cannot take " + Twine(shape[2]) + " elements of operand " + Twine(operand) +
              " apart into " + Twine(heads) + " heads");
  Value parts = node.b.reshape(x, {shape[0], shape[1], heads, shape[2] / heads});
  return node.b.transpose(parts, {0, 2, 1, 3});
}

/// The inverse.
static Value joinHeads(FoldingBuilder &b, Value x) {
  SmallVector<int64_t> shape = shapeOf(x);
  return b.reshape(b.transpose(x, {0, 2, 1, 3}), {shape[0], shape[2], shape[1] * shape[3]});
}

/// Booleans say what is visible.
static Value addedMask(FoldingBuilder &b, Value mask, Value like) {
  if (!elementOf(mask).isInteger(1))
    return mask;
  return b.select(mask, b.scalarLike(0, like),
                  b.scalarLike(-std::numeric_limits<double>::infinity(), like));
}

static void buildAttention(OnnxNode &node) {
  FoldingBuilder &b = node.b;
  if (node.has(4) || node.has(5))
    node.fail("continues earlier keys and values (past_key, past_value); export the model without "
              "a cache (use_cache=False)");
  if (node.wants(3))
    node.fail("gives its scores as a result (qk_matmul_output); export the model without");
  bool isFlat = node.rank(0) == 3;
  Value query = splitHeads(node, 0, node.integer("q_num_heads", 0));
  Value key = splitHeads(node, 1, node.integer("kv_num_heads", 0));
  Value value = splitHeads(node, 2, node.integer("kv_num_heads", 0));
  int64_t size = shapeOf(query).back();

  double usual = 1 / std::sqrt(static_cast<double>(size)), scale = usual;
  if (node.hasAttribute("scale"))
    scale = node.number("scale", usual);
  if (static_cast<float>(scale) == static_cast<float>(usual))
    scale = usual; // what it was before it became a float

  SmallVector<Value> operands{query, key, value};
  bool hasMask = node.has(3);
  if (hasMask)
    operands.push_back(addedMask(b, node.in(3), query));
  SmallVector<NamedAttribute> attributes{
      b.number("scale", scale),
      b.attr("operandSegmentSizes",
             DenseI32ArrayAttr::get(b.getContext(), {1, 1, 1, hasMask ? 1 : 0, 0}))};
  if (double cap = node.number("softcap", 0); cap > 0)
    attributes.push_back(b.number("cap", cap));
  if (node.integer("is_causal", 0))
    attributes.push_back(b.integer("causal", 0));
  Value result = b.create<AttentionOp>(operands, attributes);
  node.set(isFlat ? joinHeads(b, result) : result);
  // Without earlier ones, the keys and values so far are these.
  if (node.wants(1))
    node.set(key, 1);
  if (node.wants(2))
    node.set(value, 2);
}

/// Su et al., RoFormer (arXiv 2104.09864), equation 34: pairs of elements are turned by an angle that
/// grows with the position. Pairs are neighbours (`interleaved`) or half a head apart.
static void buildRotaryEmbedding(OnnxNode &node) {
  FoldingBuilder &b = node.b;
  bool isFlat = node.rank(0) == 3;
  Value x = splitHeads(node, 0, node.integer("num_heads", 0));
  SmallVector<int64_t> shape = shapeOf(x); // [batch, heads, sequence, size]
  int64_t size = shape[3], turned = node.integer("rotary_embedding_dim", 0);
  if (turned == 0)
    turned = size;
  if (turned < 0 || turned > size || turned % 2 != 0)
    node.fail("cannot turn " + Twine(turned) + " of the " + Twine(size) + " elements of a head");
  int64_t pairs = turned / 2;
  auto table = [&](size_t operand) {
    Value angles = node.in(operand);
    if (node.has(3))
      angles = b.take(angles, node.in(3), 0);
    SmallVector<int64_t> found = shapeOf(angles);
    if (found.size() != 3 || found[1] != shape[2] || found[2] != pairs)
      node.fail("expects operand " + Twine(operand) + " to have [batch, " + Twine(shape[2]) + ", " +
                Twine(pairs) + "] elements for these positions and pairs");
    return b.reshape(angles, {found[0], 1, found[1], found[2]});
  };
  Value cosine = table(1), sine = table(2);

  bool interleaved = node.integer("interleaved", 0) != 0;
  Value result = buildRotaryTurn(b, b.slice(x, 3, 0, turned), cosine, sine, interleaved);
  if (turned < size)
    result = b.concat({result, b.slice(x, 3, turned, size)}, 3);
  node.set(isFlat ? joinHeads(b, result) : result);
}

static constexpr OnnxOp ops[] = {
    {"Attention", 23, "FFFaff", buildAttention, "no cache, no scores as a result"},
    {"RotaryEmbedding", 23, "FFFi", buildRotaryEmbedding},
};

ArrayRef<OnnxOp> attentionOps() { return ops; }

} // namespace colrow
