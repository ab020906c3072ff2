//===- ImportShape.cpp - operators that move elements ---------------------===//

#include "frontend/onnx/Model.h"
#include "frontend/onnx/OnnxNode.h"

using namespace mlir;
using colrow::reference::Tensor;

namespace colrow {

static std::string shapeText(ArrayRef<int64_t> shape) { return colrow::shapeText(shape.vec()); }

static int64_t product(ArrayRef<int64_t> sizes) {
  int64_t result = 1;
  for (int64_t size : sizes)
    result *= size;
  return result;
}

/// The opset from which on Squeeze, Unsqueeze and Split have their axes and sizes as operands.
constexpr int64_t axesAreOperand = 13;

//===----------------------------------------------------------------------===//
// Views
//===----------------------------------------------------------------------===//

static void buildReshape(OnnxNode &node) {
  SmallVector<int64_t> from = shapeOf(node.in(0)), shape = node.integers(1, "shape");
  bool allowZero = node.integer("allowzero", 0);
  int64_t open = -1;
  for (auto [i, size] : llvm::enumerate(shape)) {
    if (size == 0 && !allowZero) {
      if (i >= from.size())
        node.fail("copies dimension " + Twine(i) + " of an operand of rank " + Twine(from.size()));
      size = from[i];
    } else if (size == -1) {
      if (open >= 0)
        node.fail("has two sizes of -1 in its shape");
      open = static_cast<int64_t>(i);
    } else if (size < 0) {
      node.fail("has a negative size in its shape");
    }
  }
  int64_t total = product(from);
  if (open >= 0) {
    shape[open] = 1;
    int64_t others = product(shape);
    shape[open] = others == 0 ? 0 : total / others;
  }
  if (product(shape) != total)
    node.fail("cannot reshape " + shapeText(from) + " to " + shapeText(shape) +
              "; a size of the exported graph may not fit the batch or sequence that was bound");
  node.set(node.b.reshape(node.in(0), shape));
}

static void buildFlatten(OnnxNode &node) {
  SmallVector<int64_t> shape = shapeOf(node.in(0));
  int64_t rank = shape.size(), axis = node.integer("axis", 1);
  if (axis < -rank || axis > rank)
    node.fail("names axis " + Twine(axis) + " of " + Twine(rank));
  if (axis < 0)
    axis += rank;
  node.set(node.b.reshape(node.in(0), {product(ArrayRef(shape).take_front(axis)),
                                       product(ArrayRef(shape).drop_front(axis))}));
}

static void buildSqueeze(OnnxNode &node) {
  SmallVector<int64_t> from = shapeOf(node.in(0)), axes, shape;
  if (auto given = node.integersOrAttribute("axes", 1, axesAreOperand)) {
    axes = node.axes(*given, from.size());
  } else {
    for (auto [i, size] : llvm::enumerate(from))
      if (size == 1)
        axes.push_back(static_cast<int64_t>(i));
  }
  for (auto [i, size] : llvm::enumerate(from)) {
    if (!llvm::is_contained(axes, static_cast<int64_t>(i)))
      shape.push_back(size);
    else if (size != 1)
      node.fail("squeezes dimension " + Twine(i) + ", which has size " + Twine(size));
  }
  node.set(node.b.reshape(node.in(0), shape));
}

static void buildUnsqueeze(OnnxNode &node) {
  SmallVector<int64_t> from = shapeOf(node.in(0)), shape;
  auto given = node.integersOrAttribute("axes", 1, axesAreOperand);
  if (!given)
    node.fail("lacks its axes");
  int64_t rank = from.size() + given->size();
  SmallVector<int64_t> axes = node.axes(*given, rank);
  auto next = from.begin();
  for (int64_t dim = 0; dim < rank; ++dim)
    shape.push_back(llvm::is_contained(axes, dim) ? 1 : *next++);
  node.set(node.b.reshape(node.in(0), shape));
}

static void buildTranspose(OnnxNode &node) {
  SmallVector<int64_t> permutation = node.integerList("perm");
  if (!node.hasAttribute("perm"))
    permutation = llvm::to_vector(llvm::reverse(llvm::seq<int64_t>(0, node.rank(0))));
  if (static_cast<int64_t>(permutation.size()) != node.rank(0))
    node.fail("permutes " + Twine(permutation.size()) + " of " + Twine(node.rank(0)) +
              " dimensions");
  node.set(node.b.transpose(node.in(0), node.axes(permutation, node.rank(0))));
}

static void buildExpand(OnnxNode &node) {
  SmallVector<int64_t> shape;
  if (!OpTrait::util::getBroadcastedShape(shapeOf(node.in(0)), node.integers(1, "shape"), shape))
    node.fail("cannot expand its operand to the shape asked for");
  node.set(node.b.broadcast(node.in(0), shape));
}

/// Repeats by a dimension of its own: [n] -> [1, n] -> [r, n] -> [r n].
static void buildTile(OnnxNode &node) {
  FoldingBuilder &b = node.b;
  SmallVector<int64_t> shape = shapeOf(node.in(0)), repeats = node.integers(1, "repeats");
  if (repeats.size() != shape.size())
    node.fail("has " + Twine(repeats.size()) + " repeats for " + Twine(shape.size()) +
              " dimensions");
  SmallVector<int64_t> split, repeated, tiled;
  for (auto [size, count] : llvm::zip(shape, repeats)) {
    if (count < 0)
      node.fail("has a negative number of repeats");
    if (count != 1) {
      split.push_back(1);
      repeated.push_back(count);
    }
    split.push_back(size);
    repeated.push_back(size);
    tiled.push_back(size * count);
  }
  node.set(b.reshape(b.broadcast(b.reshape(node.in(0), split), repeated), tiled));
}

//===----------------------------------------------------------------------===//
// Parts
//===----------------------------------------------------------------------===//

static void buildConcat(OnnxNode &node) {
  int64_t axis = node.axis(node.integer("axis"), node.rank(0));
  SmallVector<Value> parts;
  for (size_t i = 0; i < node.numInputs(); ++i)
    if (node.rank(i) <= axis || shapeOf(node.in(i))[axis] != 0) // an empty cache adds nothing
      parts.push_back(node.in(i));
  if (parts.empty())
    parts.push_back(node.in(0));
  node.set(node.b.concat(parts, axis));
}

static void buildSplit(OnnxNode &node) {
  int64_t axis = node.axis(node.integer("axis", 0), node.rank(0));
  int64_t size = shapeOf(node.in(0))[axis], parts = node.numOutputs();
  SmallVector<int64_t> sizes;
  if (auto given = node.integersOrAttribute("split", 1, axesAreOperand)) {
    sizes = *given;
    if (static_cast<int64_t>(sizes.size()) != parts)
      node.fail("has " + Twine(sizes.size()) + " sizes for " + Twine(parts) + " results");
  } else {
    if (node.integer("num_outputs", parts) != parts)
      node.fail("has num_outputs that are not the number of its results");
    if (node.opset < 18 && size % parts != 0)
      node.fail("cannot split " + Twine(size) + " into " + Twine(parts) + " equal parts");
    // From opset 18 on the last part is the smaller one.
    int64_t each = (size + parts - 1) / parts;
    for (int64_t i = 0; i < parts; ++i)
      sizes.push_back(std::clamp<int64_t>(size - i * each, 0, each));
  }
  int64_t start = 0;
  for (auto [i, part] : llvm::enumerate(sizes)) {
    if (part < 0 || start + part > size)
      node.fail("has split sizes that do not add up to " + Twine(size));
    if (node.wants(i))
      node.set(node.b.slice(node.in(0), axis, start, start + part), i);
    start += part;
  }
  if (start != size)
    node.fail("has split sizes that add up to " + Twine(start) + ", not " + Twine(size));
}

static void buildSlice(OnnxNode &node) {
  FoldingBuilder &b = node.b;
  Value x = node.in(0);
  SmallVector<int64_t> shape = shapeOf(x), from = node.integers(1, "starts"),
                       to = node.integers(2, "ends");
  SmallVector<int64_t> axes = node.has(3) ? node.axes(node.integers(3, "axes"), rankOf(x))
                                          : llvm::to_vector(llvm::seq<int64_t>(0, from.size()));
  SmallVector<int64_t> by =
      node.has(4) ? node.integers(4, "steps") : SmallVector<int64_t>(axes.size(), 1);
  if (from.size() != axes.size() || to.size() != axes.size() || by.size() != axes.size() ||
      axes.size() > shape.size())
    node.fail("has starts, ends, axes and steps of different lengths");
  SmallVector<int64_t> starts(shape.size(), 0), limits(shape), steps(shape.size(), 1);
  for (auto [axis, start, end, step] : llvm::zip(axes, from, to, by)) {
    int64_t size = shape[axis];
    if (step == 0)
      node.fail("has a step of 0");
    // Counted from the end where negative; INT64_MIN must not be added to.
    auto counted = [&](int64_t i) { return i < 0 ? std::max(i, -size - 1) + size : i; };
    if (step > 0) {
      starts[axis] = std::clamp<int64_t>(counted(start), 0, size);
      limits[axis] = std::clamp<int64_t>(counted(end), starts[axis], size);
      // Exporters write INT64_MAX or INT32_MAX where they mean all.
      if (end > size && end < std::numeric_limits<int32_t>::max())
        node.suspect("node '" + node.proto.name() + "' took " + Twine(size) + " of '" +
                     node.proto.input(0) + "' where " + Twine(end) + " were asked for");
      steps[axis] = step;
      if (limits[axis] > starts[axis])
        steps[axis] = std::min(step, limits[axis] - starts[axis]);
      else
        steps[axis] = 1;
      continue;
    }
    // Walking down is a lookup at known indices.
    int64_t first = std::clamp<int64_t>(counted(start), -1, size - 1);
    int64_t stop = std::clamp<int64_t>(counted(end), -1, size - 1);
    SmallVector<int64_t> indices;
    step = std::max(step, -size - 1);
    for (int64_t i = first; i > stop; i += step)
      indices.push_back(i);
    x = b.take(x, b.integers(indices), axis);
    limits[axis] = indices.size();
  }
  if (llvm::all_of(starts, [](int64_t start) { return start == 0; }) && shapeOf(x) == limits &&
      llvm::all_of(steps, [](int64_t step) { return step == 1; }))
    return node.set(x);
  node.set(b.create<SliceOp>(
      {x}, {b.dims("starts", starts), b.dims("limits", limits), b.dims("steps", steps)}));
}

//===----------------------------------------------------------------------===//
// Padding
//===----------------------------------------------------------------------===//

/// For each place of a padded dimension the element that is read there.
static SmallVector<int64_t> paddedIndices(StringRef mode, int64_t size, int64_t low, int64_t high) {
  SmallVector<int64_t> indices;
  for (int64_t i = -low; i < size + high; ++i) {
    int64_t index = i;
    if (mode == "edge") {
      index = std::clamp<int64_t>(i, 0, size - 1);
    } else if (mode == "wrap") {
      index = (i % size + size) % size;
    } else { // reflect: 2 1 | 0 1 2 3 | 2 1
      int64_t period = std::max<int64_t>(2 * (size - 1), 1);
      index = (i % period + period) % period;
      index = std::min(index, period - index);
      index = size == 1 ? 0 : index;
    }
    indices.push_back(index);
  }
  return indices;
}

static void buildPad(OnnxNode &node) {
  FoldingBuilder &b = node.b;
  Value x = node.in(0);
  std::string mode = node.text("mode", "constant");
  if (mode != "constant" && mode != "edge" && mode != "reflect" && mode != "wrap")
    node.fail("has mode '" + Twine(mode) + "'; known are constant, edge, reflect and wrap");
  SmallVector<int64_t> pads = node.integers(1, "pads");
  SmallVector<int64_t> axes = node.has(3) ? node.axes(node.integers(3, "axes"), rankOf(x))
                                          : llvm::to_vector(llvm::seq<int64_t>(0, rankOf(x)));
  if (pads.size() != 2 * axes.size())
    node.fail("has " + Twine(pads.size()) + " pads for " + Twine(axes.size()) + " axes");
  SmallVector<int64_t> low(rankOf(x), 0), high(rankOf(x), 0), steps(rankOf(x), 1);
  for (auto [i, axis] : llvm::enumerate(axes)) {
    int64_t size = shapeOf(x)[axis], before = pads[i], behind = pads[i + axes.size()];
    // Negative padding cuts off.
    int64_t start = std::clamp<int64_t>(-before, 0, size);
    x = b.slice(x, axis, start,
                std::clamp<int64_t>(size + std::min<int64_t>(behind, 0), start, size));
    low[axis] = std::max<int64_t>(before, 0);
    high[axis] = std::max<int64_t>(behind, 0);
    if (mode == "constant" || (low[axis] == 0 && high[axis] == 0))
      continue;
    if (shapeOf(x)[axis] == 0)
      node.fail("pads an empty dimension by its own elements");
    x = b.take(x, b.integers(paddedIndices(mode, shapeOf(x)[axis], low[axis], high[axis])), axis);
    low[axis] = high[axis] = 0;
  }
  double value = node.has(2) ? node.numberIn(2, "padding value") : 0;
  if (llvm::all_of(low, [](int64_t n) { return n == 0; }) &&
      llvm::all_of(high, [](int64_t n) { return n == 0; }))
    return node.set(x);
  node.set(b.create<PadOp>({x}, {b.dims("low", low), b.dims("high", high), b.dims("steps", steps),
                                 b.number("value", value)}));
}

//===----------------------------------------------------------------------===//
// Triangles and blocks
//===----------------------------------------------------------------------===//

static void buildTrilu(OnnxNode &node) {
  FoldingBuilder &b = node.b;
  Value x = node.in(0);
  if (rankOf(x) < 2)
    node.fail("expects a matrix or a batch of matrices");
  double k = node.has(1) ? static_cast<double>(node.integerIn(1, "diagonal")) : 0;
  ArrayRef<int64_t> matrix = typeOf(x).getShape().take_back(2);
  Type i64 = IntegerType::get(b.getContext(), 64);
  Value distance = b.sub(b.iota({1, matrix[1]}, 1, i64), b.iota({matrix[0], 1}, 0, i64));
  Predicate kept = node.integer("upper", 1) ? Predicate::ge : Predicate::le;
  node.set(b.select(b.compare(kept, distance, k), x, b.scalarLike(0, x)));
}

static void buildDepthToSpace(OnnxNode &node) {
  FoldingBuilder &b = node.b;
  SmallVector<int64_t> s = shapeOf(node.in(0));
  int64_t size = node.integer("blocksize");
  if (s.size() != 4 || size < 1 || s[1] % size != 0 || s[1] / size % size != 0)
    node.fail("expects [batch, channels, height, width] with channels that blocksize^2 divides");
  int64_t depth = s[1] / (size * size);
  Value x;
  if (node.text("mode", "DCR") == "DCR")
    x = b.transpose(b.reshape(node.in(0), {s[0], size, size, depth, s[2], s[3]}),
                    {0, 3, 4, 1, 5, 2});
  else
    x = b.transpose(b.reshape(node.in(0), {s[0], depth, size, size, s[2], s[3]}),
                    {0, 1, 4, 2, 5, 3});
  node.set(b.reshape(x, {s[0], depth, s[2] * size, s[3] * size}));
}

static void buildSpaceToDepth(OnnxNode &node) {
  FoldingBuilder &b = node.b;
  SmallVector<int64_t> s = shapeOf(node.in(0));
  int64_t size = node.integer("blocksize");
  if (s.size() != 4 || size < 1 || s[2] % size != 0 || s[3] % size != 0)
    node.fail("expects [batch, channels, height, width] with sizes that blocksize divides");
  Value x = b.reshape(node.in(0), {s[0], s[1], s[2] / size, size, s[3] / size, size});
  node.set(b.reshape(b.transpose(x, {0, 3, 5, 1, 2, 4}),
                     {s[0], s[1] * size * size, s[2] / size, s[3] / size}));
}

static constexpr OnnxOp ops[] = {
    {"Concat", minOpset, "A*", buildConcat},  {"DepthToSpace", minOpset, "a", buildDepthToSpace},
    {"Expand", minOpset, "al", buildExpand},  {"Flatten", minOpset, "a", buildFlatten},
    {"Pad", minOpset, "AlAi", buildPad},      {"Reshape", minOpset, "al", buildReshape},
    {"Slice", minOpset, "aIIII", buildSlice}, {"SpaceToDepth", minOpset, "a", buildSpaceToDepth},
    {"Split", minOpset, "al", buildSplit},    {"Squeeze", minOpset, "al", buildSqueeze},
    {"Tile", minOpset, "al", buildTile},      {"Transpose", minOpset, "a", buildTranspose},
    {"Trilu", 14, "al", buildTrilu},          {"Unsqueeze", minOpset, "al", buildUnsqueeze},
};

ArrayRef<OnnxOp> shapeOps() { return ops; }

} // namespace colrow
