//===- ImportLookup.cpp - operators that read by index --------------------===//

#include "frontend/Builders.h"
#include "frontend/onnx/Model.h"
#include "frontend/onnx/OnnxNode.h"

using namespace mlir;
using colrow::reference::Tensor;

namespace colrow {

static void buildGather(OnnxNode &node) {
  Value table = node.in(0);
  int64_t axis = node.axis(node.integer("axis", 0), rankOf(table));
  node.set(buildLookup(node.b, table, node.in(1), axis, node.proto.input(0)));
}

static void buildGatherElements(OnnxNode &node) {
  FoldingBuilder &b = node.b;
  Value x = node.in(0), ids = node.in(1);
  int64_t axis = node.axis(node.integer("axis", 0), rankOf(x));
  if (const Tensor *known = b.known(ids))
    ids = b.constant(checkedIndices(node.proto.input(0), *known, shapeOf(x)[axis]));
  node.set(b.create<TakeAlongOp>({x, ids}, {b.integer("axis", axis)}));
}

//===----------------------------------------------------------------------===//
// GatherND
//===----------------------------------------------------------------------===//

/// Where known index vectors walk a grid, the lookup is a slice, a transpose and a broadcast. For
/// each coordinate, the dimension of the result that it counts along, or -1 for a constant one.
static bool readGrid(const Tensor &indices, SmallVectorImpl<int64_t> &starts,
                     SmallVectorImpl<int64_t> &dims) {
  int64_t coordinates = indices.dim(indices.rank() - 1);
  reference::Shape grid(indices.shape().begin(), indices.shape().end() - 1);
  reference::Shape strides = reference::rowMajorStrides(grid);
  std::vector<int64_t> values = indices.toIntegers();
  if (values.empty())
    return false;
  for (int64_t c = 0; c < coordinates; ++c) {
    int64_t start = values[c], along = -1;
    for (size_t dim = 0; dim < grid.size(); ++dim) {
      if (grid[dim] == 1 || values[strides[dim] * coordinates + c] == start)
        continue;
      if (along >= 0 || llvm::is_contained(dims, static_cast<int64_t>(dim)))
        return false;
      along = static_cast<int64_t>(dim);
    }
    for (size_t i = 0; i * coordinates < values.size(); ++i) {
      int64_t step = along < 0 ? 0 : static_cast<int64_t>(i) / strides[along] % grid[along];
      if (values[i * coordinates + c] != start + step)
        return false;
    }
    starts.push_back(start);
    dims.push_back(along);
  }
  return true;
}

/// x[coordinates...] on a grid (see readGrid).
static Value buildGridLookup(FoldingBuilder &b, Value x, ArrayRef<int64_t> starts,
                             ArrayRef<int64_t> dims, ArrayRef<int64_t> grid) {
  for (auto [c, start] : llvm::enumerate(starts))
    x = b.slice(x, c, start, start + (dims[c] < 0 ? 1 : grid[dims[c]]));
  SmallVector<int64_t> rest(typeOf(x).getShape().drop_front(dims.size()));
  // Coordinates in the order of the result's dimensions, constant ones (of size 1) first.
  SmallVector<int64_t> permutation = llvm::to_vector(llvm::seq<int64_t>(0, dims.size()));
  llvm::stable_sort(permutation, [&](int64_t i, int64_t j) { return dims[i] < dims[j]; });
  llvm::append_range(permutation, llvm::seq<int64_t>(dims.size(), rankOf(x)));
  x = b.transpose(x, permutation);
  SmallVector<int64_t> small, shape(grid);
  for (auto [dim, size] : llvm::enumerate(grid))
    small.push_back(llvm::is_contained(dims, static_cast<int64_t>(dim)) ? size : 1);
  llvm::append_range(small, rest);
  llvm::append_range(shape, rest);
  return b.broadcast(b.reshape(x, small), shape);
}

static void buildGatherND(OnnxNode &node) {
  FoldingBuilder &b = node.b;
  Value x = node.in(0), ids = node.in(1);
  SmallVector<int64_t> shape = shapeOf(x), grid = shapeOf(ids);
  int64_t batchDims = node.integer("batch_dims", 0);
  int64_t coordinates = grid.empty() ? 0 : grid.pop_back_val(), rank = rankOf(x);
  if (coordinates < 1 || batchDims < 0 || batchDims >= static_cast<int64_t>(grid.size() + 1) ||
      batchDims + coordinates > rank)
    node.fail("has indices that do not fit its operand");
  Type i64 = IntegerType::get(b.getContext(), 64);
  // All coordinates, those of the batch dimensions too.
  SmallVector<Value> columns;
  for (int64_t dim = 0; dim < batchDims; ++dim)
    columns.push_back(b.iota(grid, dim, i64));
  for (int64_t c = 0; c < coordinates; ++c) {
    Value column = b.reshape(b.slice(ids, rankOf(ids) - 1, c, c + 1), grid);
    if (const Tensor *known = b.known(column))
      column = b.constant(checkedIndices(node.proto.input(0), *known, shape[batchDims + c]));
    columns.push_back(b.cast(column, i64));
  }
  if (b.known(ids)) {
    SmallVector<Value> last;
    SmallVector<int64_t> unit(grid);
    unit.push_back(1);
    for (Value column : columns)
      last.push_back(b.reshape(column, unit));
    SmallVector<int64_t> starts, dims;
    if (readGrid(*b.known(b.concat(last, grid.size())), starts, dims))
      return node.set(buildGridLookup(b, x, starts, dims, grid));
  }
  // Otherwise a lookup in the flattened dimensions.
  reference::Shape looked(shape.begin(), shape.begin() + columns.size());
  reference::Shape strides = reference::rowMajorStrides(looked);
  Value linear;
  for (auto [column, stride] : llvm::zip(columns, strides)) {
    Value part = stride == 1 ? column : b.mul(column, static_cast<double>(stride));
    linear = linear ? b.add(linear, part) : part;
  }
  SmallVector<int64_t> flat{reference::elementCount(looked)};
  llvm::append_range(flat, ArrayRef(shape).drop_front(columns.size()));
  node.set(b.take(b.reshape(x, flat), linear, 0));
}

//===----------------------------------------------------------------------===//
// OneHot
//===----------------------------------------------------------------------===//

static void buildOneHot(OnnxNode &node) {
  FoldingBuilder &b = node.b;
  int64_t depth = node.integerIn(1, "depth");
  Type i64 = IntegerType::get(b.getContext(), 64);
  Value ids = b.cast(node.in(0), i64), values = node.in(2);
  int64_t axis = node.axis(node.integer("axis", -1), rankOf(ids) + 1);
  if (shapeOf(values) != ArrayRef<int64_t>{2})
    node.fail("expects two values, of off and on");
  ids = b.select(b.compare(Predicate::lt, ids, 0), b.add(ids, static_cast<double>(depth)), ids);
  SmallVector<int64_t> shape = shapeOf(ids), along(shape.size() + 1, 1);
  shape.insert(shape.begin() + axis, 1);
  along[axis] = depth;
  Value isOn = b.compare(Predicate::eq, b.reshape(ids, shape), b.iota(along, axis, i64));
  node.set(b.select(isOn, b.reshape(b.slice(values, 0, 1, 2), {}),
                    b.reshape(b.slice(values, 0, 0, 1), {})));
}

//===----------------------------------------------------------------------===//
// Choosing experts
//===----------------------------------------------------------------------===//

/// The largest element and its first index k times, each time without those already found. Which
/// they are has no gradient; the values have.
static void buildTopK(OnnxNode &node) {
  constexpr int64_t most = 64;
  FoldingBuilder &b = node.b;
  Value x = node.in(0);
  int64_t axis = node.axis(node.integer("axis", -1), rankOf(x)), size = shapeOf(x)[axis];
  int64_t k = node.integerIn(1, "number k");
  if (k < 1 || k > size)
    node.fail("asks for " + Twine(k) + " of " + Twine(size) + " elements");
  if (k > most)
    node.fail("asks for the largest " + Twine(k) + " elements; imported are up to " + Twine(most));
  SmallVector<int64_t> along(rankOf(x), 1);
  along[axis] = size;
  Value index = b.iota(along, axis, IntegerType::get(b.getContext(), 64));
  Value rest = node.integer("largest", 1) ? x : b.create<NegOp>({x});
  SmallVector<Value> found;
  for (int64_t i = 0; i < k; ++i) {
    Value isLargest = b.compare(Predicate::eq, rest, b.reduce<ReduceMaxOp>(rest, {axis}, true));
    Value candidates = b.select(isLargest, index, b.scalarLike(static_cast<double>(size), index));
    found.push_back(b.reduce<ReduceMinOp>(candidates, {axis}, true));
    rest = b.select(b.compare(Predicate::eq, index, found.back()),
                    b.scalarLike(-std::numeric_limits<double>::infinity(), rest), rest);
  }
  Value indices = b.concat(found, axis);
  if (node.wants(0))
    node.set(b.create<TakeAlongOp>({x, indices}, {b.integer("axis", axis)}));
  if (node.wants(1))
    node.set(indices, 1);
}

/// Elements that updates go to, one for each: a sum over the updates of which at most one is there.
static void buildScatterElements(OnnxNode &node) {
  FoldingBuilder &b = node.b;
  Value x = node.in(0), ids = node.in(1), updates = node.in(2);
  int64_t axis = node.axis(node.integer("axis", 0), rankOf(x)), size = shapeOf(x)[axis];
  std::string reduction = node.text("reduction", "none");
  if (reduction != "none" && reduction != "add")
    node.fail("has reduction '" + Twine(reduction) + "'; known are none and add");
  SmallVector<int64_t> shape = shapeOf(ids), expected = shapeOf(x);
  if (shape.size() == expected.size())
    expected[axis] = shape[axis];
  if (shape != expected || shapeOf(updates) != shape)
    node.fail("expects indices and updates of the operand's size in all dimensions but axis " +
              Twine(axis));
  if (const Tensor *known = b.known(ids))
    ids = b.constant(checkedIndices(node.proto.input(0), *known, size));
  // [..., updates, 1, ...] at [..., 1, elements, ...]
  SmallVector<int64_t> column(shape), along(shape.size() + 1, 1);
  column.insert(column.begin() + axis + 1, 1);
  along[axis + 1] = size;
  Value index = b.iota(along, axis + 1, elementOf(ids));
  Value isHit = b.compare(Predicate::eq, b.reshape(ids, column), index);
  Value update = b.reshape(updates, column);
  Value sum =
      b.reduce<ReduceSumOp>(b.select(isHit, update, b.scalarLike(0, update)), {axis}, false);
  if (reduction == "add")
    return node.set(b.add(x, sum));
  Value i64Hits = b.cast(isHit, IntegerType::get(b.getContext(), 64));
  Value isAny = b.compare(Predicate::gt, b.reduce<ReduceSumOp>(i64Hits, {axis}, false), 0);
  node.set(b.select(isAny, sum, x));
}

static constexpr OnnxOp ops[] = {
    {"Gather", minOpset, "ai", buildGather,
     "indices that are not known at compile time count from 0"},
    {"GatherElements", minOpset, "ai", buildGatherElements,
     "indices that are not known at compile time count from 0"},
    {"GatherND", minOpset, "al", buildGatherND,
     "indices that are not known at compile time count from 0"},
    {"OneHot", minOpset, "nna", buildOneHot, "depth known at compile time"},
    {"ScatterElements", minOpset, "SiS", buildScatterElements,
     "indices count from 0; of the operand's size but for the axis"},
    {"TopK", minOpset, "fl", buildTopK, "k up to 64, known at compile time"},
};

ArrayRef<OnnxOp> lookupOps() { return ops; }

} // namespace colrow
