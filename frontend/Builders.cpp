//===- Builders.cpp - what several frontends write in the same operations -===//

#include "frontend/Builders.h"
#include "colrow/Error.h"

using namespace mlir;
using colrow::reference::Tensor;

namespace colrow {

[[noreturn]] static void fail(const Twine &message) { throw Error(message.str()); }

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

Value buildMatMul(FoldingBuilder &b, Value lhs, Value rhs) {
  SmallVector<int64_t> left = shapeOf(lhs), right = shapeOf(rhs);
  if (left.empty() || right.empty())
    fail("expects operands of rank 1 or more");
  bool isRow = left.size() == 1, isColumn = right.size() == 1;
  ArrayRef<int64_t> leftBatch = isRow ? ArrayRef<int64_t>() : ArrayRef(left).drop_back(2);
  ArrayRef<int64_t> rightBatch = isColumn ? ArrayRef<int64_t>() : ArrayRef(right).drop_back(2);
  if (left.back() != (isColumn ? right[0] : right[right.size() - 2]))
    fail("multiplies matrices of " + Twine(left.back()) + " columns and " +
         Twine(isColumn ? right[0] : right[right.size() - 2]) + " rows");

  std::string equation[3];
  SmallVector<int64_t> shapes[2];
  SmallVector<int64_t> result;
  size_t depth = std::max(leftBatch.size(), rightBatch.size());
  for (size_t i = 0; i < depth; ++i) {
    int64_t sizes[2] = {1, 1};
    if (i + leftBatch.size() >= depth)
      sizes[0] = leftBatch[i + leftBatch.size() - depth];
    if (i + rightBatch.size() >= depth)
      sizes[1] = rightBatch[i + rightBatch.size() - depth];
    if (sizes[0] != sizes[1] && sizes[0] != 1 && sizes[1] != 1)
      fail("multiplies batches of " + Twine(sizes[0]) + " and " + Twine(sizes[1]));
    int64_t size = sizes[0] == 1 ? sizes[1] : sizes[0];
    result.push_back(size);
    if (size == 1) // neither needs it; the result is reshaped
      continue;
    char letter = static_cast<char>('a' + i);
    for (int operand : {0, 1})
      if (sizes[operand] == size) {
        equation[operand] += letter;
        shapes[operand].push_back(size);
      }
    equation[2] += letter;
  }
  if (!isRow) {
    equation[0] += 'm';
    equation[2] += 'm';
    shapes[0].push_back(left[left.size() - 2]);
    result.push_back(left[left.size() - 2]);
  }
  equation[0] += 'k';
  shapes[0].push_back(left.back());
  equation[1] += 'k';
  shapes[1].push_back(left.back());
  if (!isColumn) {
    equation[1] += 'n';
    equation[2] += 'n';
    shapes[1].push_back(right.back());
    result.push_back(right.back());
  }
  Value product = b.einsum(equation[0] + "," + equation[1] + "->" + equation[2],
                           b.reshape(lhs, shapes[0]), b.reshape(rhs, shapes[1]));
  return b.reshape(product, result);
}

//===----------------------------------------------------------------------===//
// Lookups
//===----------------------------------------------------------------------===//

Tensor checkedIndices(StringRef table, const Tensor &indices, int64_t size) {
  std::vector<int64_t> values = indices.toIntegers();
  for (int64_t &value : values) {
    if (value < -size || value >= size)
      fail("looks up index " + Twine(value) + " of '" + table + "', which has " + Twine(size) +
           "; where these are positions, the sequence is longer than the position table: bind "
           "a sequence of at most " +
           Twine(size));
    if (value < 0)
      value += size;
  }
  return Tensor::integers(indices.shape(), std::move(values));
}

/// Rows `start`, `start + 1`, ... in row-major order are a slice.
static bool isConsecutive(const Tensor &indices) {
  std::vector<int64_t> values = indices.toIntegers();
  for (size_t i = 1; i < values.size(); ++i)
    if (values[i] != values[0] + static_cast<int64_t>(i))
      return false;
  return !values.empty();
}

static SmallVector<int64_t> lookedUpShape(ArrayRef<int64_t> table, ArrayRef<int64_t> ids,
                                          int64_t axis) {
  SmallVector<int64_t> shape(table.take_front(axis));
  llvm::append_range(shape, ids);
  llvm::append_range(shape, table.drop_front(axis + 1));
  return shape;
}

Value buildLookup(FoldingBuilder &b, Value table, Value ids, int64_t axis, StringRef name) {
  const Tensor *known = b.known(ids);
  if (!known)
    return b.take(table, ids, axis);
  SmallVector<int64_t> shape = lookedUpShape(shapeOf(table), shapeOf(ids), axis);
  Tensor indices = withoutRepetition(checkedIndices(name, *known, shapeOf(table)[axis]));
  SmallVector<int64_t> small = lookedUpShape(shapeOf(table), indices.shape(), axis);
  Value rows;
  if (isConsecutive(indices)) {
    int64_t start = indices.toIntegers().front();
    rows = b.reshape(b.slice(table, axis, start, start + indices.size()), small);
  } else {
    rows = b.take(table, b.constant(indices), axis);
  }
  return b.broadcast(rows, shape);
}

//===----------------------------------------------------------------------===//
// Rotary positions
//===----------------------------------------------------------------------===//

Value buildRotaryTurn(FoldingBuilder &b, Value x, Value cosine, Value sine, bool interleaved) {
  SmallVector<int64_t> shape = shapeOf(x), half(shape), column, inPairs;
  int64_t last = rankOf(x) - 1, pairs = shape.back() / 2;
  half.back() = pairs;
  column = half;
  column.push_back(1);
  inPairs = half;
  inPairs.push_back(2);
  Value first, second;
  if (interleaved) {
    Value split = b.reshape(x, inPairs);
    first = b.reshape(b.slice(split, last + 1, 0, 1), half);
    second = b.reshape(b.slice(split, last + 1, 1, 2), half);
  } else {
    first = b.slice(x, last, 0, pairs);
    second = b.slice(x, last, pairs, 2 * pairs);
  }
  Value real = b.sub(b.mul(first, cosine), b.mul(second, sine));
  Value imaginary = b.add(b.mul(first, sine), b.mul(second, cosine));
  if (!interleaved)
    return b.concat({real, imaginary}, last);
  return b.reshape(b.concat({b.reshape(real, column), b.reshape(imaginary, column)}, last + 1),
                   shape);
}

//===----------------------------------------------------------------------===//
// Norms
//===----------------------------------------------------------------------===//

Value buildMean(FoldingBuilder &b, Value x, ArrayRef<int64_t> axes) {
  int64_t count = 1;
  for (int64_t axis : axes)
    count *= shapeOf(x)[axis];
  return b.div(b.reduce<ReduceSumOp>(x, axes, true), static_cast<double>(count));
}

Value buildRmsNorm(FoldingBuilder &b, Value x, Value weight, int64_t axis, double epsilon) {
  Value scale =
      b.broadcast(weight, cast<RankedTensorType>(x.getType()).getShape().drop_front(axis));
  return b.create<RmsNormOp>({x, scale},
                             {b.integer("axis", axis), b.number("epsilon", epsilon)});
}

} // namespace colrow
