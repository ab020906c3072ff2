//===- ImportSource.cpp - operators that make tensors, and shapes as data -===//

#include "frontend/onnx/Model.h"
#include "frontend/onnx/OnnxNode.h"

#include <cmath>

using namespace mlir;
using colrow::reference::Tensor;

namespace colrow {

static void buildConstant(OnnxNode &node) {
  FoldingBuilder &b = node.b;
  if (const auto *value = node.attribute("value"))
    return node.set(b.constant(tensorFromProto(value->t())));
  if (const auto *value = node.attribute("value_int"))
    return node.set(b.constant(Tensor::integers({}, {value->i()})));
  if (const auto *value = node.attribute("value_ints"))
    return node.set(b.integers(SmallVector<int64_t>(value->ints().begin(), value->ints().end())));
  if (const auto *value = node.attribute("value_float"))
    return node.set(b.constant(Tensor::floats({}, {value->f()})));
  if (const auto *value = node.attribute("value_floats")) {
    std::vector<double> values(value->floats().begin(), value->floats().end());
    return node.set(b.constant(Tensor::floats({static_cast<int64_t>(values.size())}, values)));
  }
  node.fail("has no dense number as its value (strings and sparse tensors are not imported)");
}

/// The `value` attribute of one element, or 0 of float32.
static Tensor fillValue(OnnxNode &node) {
  const auto *value = node.attribute("value");
  if (!value)
    return Tensor::scalar(reference::ElementType::f32, 0);
  Tensor tensor = tensorFromProto(value->t());
  if (tensor.size() != 1)
    node.fail("expects one element as its value, got: " + tensor.describe());
  return tensor.view({}, {}, tensor.offset());
}

static void buildConstantOfShape(OnnxNode &node) {
  FoldingBuilder &b = node.b;
  SmallVector<int64_t> shape = node.integers(0, "shape");
  if (llvm::any_of(shape, [](int64_t size) { return size < 0; }))
    node.fail("has a negative size in its shape");
  node.set(b.broadcast(b.constant(fillValue(node)), shape));
}

static void buildShape(OnnxNode &node) {
  SmallVector<int64_t> shape = shapeOf(node.in(0));
  int64_t rank = shape.size();
  auto bound = [&](int64_t value) {
    return std::clamp<int64_t>(value < 0 ? value + rank : value, 0, rank);
  };
  int64_t start = bound(node.integer("start", 0)), end = bound(node.integer("end", rank));
  node.set(node.b.integers(ArrayRef(shape).slice(start, std::max<int64_t>(end - start, 0))));
}

static void buildSize(OnnxNode &node) {
  node.set(node.b.constant(Tensor::integers({}, {typeOf(node.in(0)).getNumElements()})));
}

static void buildRange(OnnxNode &node) {
  FoldingBuilder &b = node.b;
  double start = node.numberIn(0, "start"), limit = node.numberIn(1, "limit"),
         delta = node.numberIn(2, "delta");
  if (delta == 0)
    node.fail("has a delta of 0");
  Type element = node.element(0);
  int64_t count = std::max<int64_t>(0, std::ceil((limit - start) / delta));
  Value index = b.iota({count}, 0, element);
  node.set(b.add(b.mul(index, node.in(2)), node.in(0)));
}

/// Ones where column - row is `k`, in a known matrix.
static void buildEyeLike(OnnxNode &node) {
  FoldingBuilder &b = node.b;
  SmallVector<int64_t> shape = shapeOf(node.in(0));
  if (shape.size() != 2)
    node.fail("expects a matrix, got rank " + Twine(shape.size()));
  Type i64 = IntegerType::get(b.getContext(), 64);
  Value diagonal =
      b.compare(Predicate::eq, b.sub(b.iota({1, shape[1]}, 1, i64), b.iota({shape[0], 1}, 0, i64)),
                static_cast<double>(node.integer("k", 0)));
  Type element = node.hasAttribute("dtype")
                     ? fromElementType(b.getContext(), onnxElementType(node.integer("dtype", 0)))
                     : node.element(0);
  node.set(b.cast(diagonal, element));
}

static constexpr OnnxOp ops[] = {
    {"Constant", minOpset, "", buildConstant, "no strings, no sparse tensors"},
    {"ConstantOfShape", minOpset, "l", buildConstantOfShape},
    {"EyeLike", minOpset, "a", buildEyeLike},
    {"Range", minOpset, "SSS", buildRange, "operands known at compile time"},
    {"Shape", minOpset, "a", buildShape},
    {"Size", minOpset, "a", buildSize},
};

ArrayRef<OnnxOp> sourceOps() { return ops; }

} // namespace colrow
