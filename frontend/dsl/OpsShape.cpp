//===- OpsShape.cpp - operations that make and move elements --------------===//

#include "frontend/dsl/OpCall.h"

#include <numeric>

using namespace mlir;

namespace colrow::dsl {

/// More elements than this are not computed at compile time.
static constexpr int64_t largest = int64_t(1) << 24;

static int64_t product(ArrayRef<int64_t> sizes) {
  return std::accumulate(sizes.begin(), sizes.end(), int64_t(1), std::multiplies<int64_t>());
}

/// Sizes of at least 1 whose product is a sensible one.
static SmallVector<int64_t> sizesOf(OpCall &call, StringRef name) {
  SmallVector<int64_t> sizes = call.integers(name);
  double total = 1;
  for (int64_t size : sizes) {
    if (size < 1)
      call.fail(name, "a size is at least 1, got: " + Twine(size));
    total *= static_cast<double>(size);
  }
  if (total > 1e15)
    call.fail(name, "a tensor " + shapeText(sizes) + " is larger than any memory");
  return sizes;
}

//===----------------------------------------------------------------------===//
// Sources
//===----------------------------------------------------------------------===//

static Datum buildArange(OpCall &call) {
  int64_t count = call.integer("n");
  if (count < 1 || count > largest)
    call.fail("n",
              "'arange' counts from 1 up to " + Twine(largest) + " elements, got: " + Twine(count));
  return datumOf(call.b.indices(count));
}

static Datum buildFull(OpCall &call) {
  FoldingBuilder &b = call.b;
  MLIRContext *context = b.getContext();
  SmallVector<int64_t> shape = sizesOf(call, "shape");
  const Datum &value = call.given("value").value;
  Value scalar;
  if (const Truth *truth = value.as<Truth>())
    scalar = b.constant(reference::Tensor::boolean(truth->value));
  else
    scalar = b.scalar(call.number("value"), value.as<Number>()->isInteger
                                                ? Type(IntegerType::get(context, 64))
                                                : Type(Float32Type::get(context)));
  return datumOf(b.broadcast(scalar, shape));
}

//===----------------------------------------------------------------------===//
// Views
//===----------------------------------------------------------------------===//

static Datum buildReshape(OpCall &call) {
  Value x = call.tensor("x");
  SmallVector<int64_t> from = shapeOf(x), shape = call.integers("shape");
  std::string wanted = shapeText(shape);
  int64_t total = product(from), others = 1, open = -1;
  for (auto [i, size] : llvm::enumerate(shape)) {
    if (size == -1 && open >= 0)
      call.fail("shape", "only one size of a shape is -1");
    if (size < 1 && size != -1)
      call.fail("shape", "a size is at least 1, or -1 for what is left, got: " + Twine(size));
    if (size == -1)
      open = static_cast<int64_t>(i);
    else if (others > total)
      break; // no product that could overflow
    else
      others *= size;
  }
  if (open >= 0 && others <= total && total % others == 0)
    shape[open] = total / others;
  else if (open >= 0 || others != total)
    call.fail("shape", "a tensor " + shapeText(from) + " has " + Twine(total) +
                           " elements, which do not fill " + wanted);
  return datumOf(call.b.reshape(x, shape));
}

static Datum buildTranspose(OpCall &call) {
  Value x = call.tensor("x");
  SmallVector<int64_t> order = llvm::to_vector(llvm::seq<int64_t>(0, rankOf(x)));
  std::swap(order[call.axis("dim0", rankOf(x))], order[call.axis("dim1", rankOf(x))]);
  return datumOf(call.b.transpose(x, order));
}

static Datum buildPermute(OpCall &call) {
  Value x = call.tensor("x");
  SmallVector<int64_t> order = call.axes("dims", rankOf(x));
  if (static_cast<int64_t>(order.size()) != rankOf(x))
    call.fail("dims", "'permute' expects all " + Twine(rankOf(x)) +
                          " dimensions in another order, "
                          "got: " +
                          Twine(order.size()));
  return datumOf(call.b.transpose(x, order));
}

static Datum buildUnsqueeze(OpCall &call) {
  Value x = call.tensor("x");
  SmallVector<int64_t> shape = shapeOf(x);
  shape.insert(shape.begin() + call.axis("dim", rankOf(x) + 1), 1);
  return datumOf(call.b.reshape(x, shape));
}

static Datum buildSqueeze(OpCall &call) {
  Value x = call.tensor("x");
  SmallVector<int64_t> shape = shapeOf(x);
  int64_t axis = call.axis("dim", rankOf(x));
  if (shape[axis] != 1)
    call.fail("dim", "only a dimension of size 1 can be left out; dimension " + Twine(axis) +
                         " of " + shapeText(shape) + " has size " + Twine(shape[axis]));
  shape.erase(shape.begin() + axis);
  return datumOf(call.b.reshape(x, shape));
}

static Datum buildExpand(OpCall &call) {
  Value x = call.tensor("x");
  SmallVector<int64_t> shape = sizesOf(call, "shape"), merged;
  if (!OpTrait::util::getBroadcastedShape(shapeOf(x), shape, merged) || merged != shape)
    call.fail("shape",
              "a tensor " + shapeText(shapeOf(x)) + " does not broadcast to " + shapeText(shape));
  return datumOf(call.b.broadcast(x, shape));
}

//===----------------------------------------------------------------------===//
// Parts
//===----------------------------------------------------------------------===//

static Datum buildSplit(OpCall &call) {
  Value x = call.tensor("x");
  int64_t axis = call.axis("dim", rankOf(x)), size = shapeOf(x)[axis];
  SmallVector<int64_t> parts;
  if (call.given("parts").value.as<Number>()) {
    int64_t count = call.integer("parts");
    if (count < 1 || size % count != 0)
      call.fail("parts", "dimension " + Twine(axis) + " of " + shapeText(shapeOf(x)) +
                             " does not come apart into " + Twine(count) + " equal parts");
    parts.assign(static_cast<size_t>(count), size / count);
  } else {
    parts = sizesOf(call, "parts");
    if (std::accumulate(parts.begin(), parts.end(), int64_t(0)) != size)
      call.fail("parts", "parts of " + shapeText(parts) + " elements do not add up to the " +
                             Twine(size) + " of dimension " + Twine(axis));
  }
  std::vector<Value> values;
  int64_t start = 0;
  for (int64_t part : parts) {
    values.push_back(call.b.slice(x, axis, start, start + part));
    start += part;
  }
  return datumOf(values);
}

static Datum buildCat(OpCall &call) {
  std::vector<Value> parts = call.tensors("tensors");
  int64_t rank = rankOf(parts[0]);
  for (Value part : parts)
    if (rankOf(part) != rank || elementOf(part) != elementOf(parts[0]))
      call.fail("tensors", "'cat' joins tensors of one rank and element type, got: " +
                               describe({parts[0]}) + " and " + describe({part}));
  return datumOf(call.b.concat(parts, call.axis("dim", rank)));
}

static Datum buildSize(OpCall &call) {
  Value x = call.tensor("x");
  // It may follow from the batch.
  return {Number::of(shapeOf(x)[call.axis("dim", rankOf(x))], /*isOpen=*/true)};
}

static constexpr Op ops[] = {
    {"arange", "n", buildArange, "0, 1, ... n - 1 of int64"},
    {"cat", "tensors, dim", buildCat, "a list of tensors, one behind the other"},
    {"expand", "x, shape", buildExpand, "x broadcast to a shape"},
    {"full", "shape, value", buildFull,
     "a tensor of one value: int64, float32 or bool, as the value is"},
    {"permute", "x, dims", buildPermute, "dimension i of the result is dimension dims[i] of x"},
    {"reshape", "x, shape", buildReshape, "the same elements in another shape; -1: what is left"},
    {"size", "x, dim", buildSize, "the size of a dimension, a number"},
    {"split", "x, parts, dim=-1", buildSplit,
     "a list: so many equal parts, or parts of the sizes in a list"},
    {"squeeze", "x, dim", buildSqueeze, "without a dimension of size 1"},
    {"transpose", "x, dim0, dim1", buildTranspose, "with two dimensions swapped"},
    {"unsqueeze", "x, dim", buildUnsqueeze, "with another dimension of size 1"},
};

ArrayRef<Op> shapeOps() { return ops; }

} // namespace colrow::dsl
