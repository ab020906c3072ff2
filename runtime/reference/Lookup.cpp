#include "runtime/reference/Lookup.h"

#include "runtime/reference/Walk.h"

#include <limits>

namespace colrow::reference {

namespace {

[[noreturn]] void fail(const char *op, const std::string &message) {
  throw Error(std::string(op) + ": " + message);
}

std::string describe(const Shape &shape) { return "[" + toString(shape) + "]"; }

void checkIds(const char *op, const Tensor &ids) {
  if (ids.isFloat() || ids.type() == ElementType::b1)
    fail(op, "expects integers as indices, got " + ids.describe());
}

void checkGradient(const char *op, const Tensor &dy, const Shape &expected) {
  if (!dy.isFloat() || dy.shape() != expected)
    fail(op,
         "expects a floating gradient of shape " + describe(expected) + ", got " + dy.describe());
}

int64_t checkedIndex(const char *op, int64_t id, int64_t size, int64_t axis, bool allowNegative) {
  int64_t index = id < 0 && allowNegative ? id + size : id;
  if (index < 0 || index >= size)
    fail(op, "index " + std::to_string(id) + " is outside of the " + std::to_string(size) +
                 " elements of axis " + std::to_string(axis));
  return index;
}

void checkHeld(const char *op, const Shape &shape, int64_t axis, const LocalDim &held) {
  if (axis < 0 || axis >= static_cast<int64_t>(shape.size()))
    fail(op, describe(shape) + " has no axis " + std::to_string(axis));
  if (shape[axis] != held.localSize())
    fail(op, "axis " + std::to_string(axis) + " of " + describe(shape) + " should hold " +
                 std::to_string(held.localSize()) + " elements");
}

/// Stands for the id of an element that another rank holds.
constexpr int64_t elsewhere = std::numeric_limits<int64_t>::min();

/// The local index for each id in row-major order, or elsewhere.
std::vector<int64_t> localIds(const char *op, const Tensor &ids, int64_t axis, const LocalDim &held,
                              bool allowNegative) {
  checkIds(op, ids);
  std::vector<int64_t> local = ids.toIntegers();
  for (int64_t &id : local) {
    id = held.localIndex(checkedIndex(op, id, held.globalSize(), axis, allowNegative));
    if (id < 0)
      id = elsewhere;
  }
  return local;
}

/// What a lookup reads. Result elements lie in a space of x's untouched axes and the axes of ids:
/// the first give a base in x, the second an id, and the element read is at base + id * idStep.
struct Reads {
  Shape shape;        ///< of the result
  Shape xStrides;     ///< of x in that space: 0 on the axes of ids
  Shape idStrides;    ///< of the list of ids: 0 on the axes of x
  int64_t idStep = 0; ///< elements of x from one id to the next
  std::vector<int64_t> ids;
};

/// Calls read(result element, position in x) for each result element that is read here.
template <typename Fn> void forEachRead(const Reads &reads, int64_t xOffset, Fn read) {
  int64_t n = 0;
  walk<2>(reads.shape, {reads.xStrides, reads.idStrides}, {xOffset, 0},
          [&](const Positions<2> &at) {
            int64_t id = reads.ids[at[1]];
            if (id != elsewhere)
              read(n, at[0] + id * reads.idStep);
            ++n;
          });
}

Tensor lookUp(const Tensor &x, const Reads &reads) {
  auto gather = [&](auto zero) {
    using T = decltype(zero);
    std::vector<T> values(elementCount(reads.shape), zero);
    const T *from = x.data<T>();
    forEachRead(reads, x.offset(), [&](int64_t n, int64_t at) { values[n] = from[at]; });
    return values;
  };
  if (x.isFloat())
    return Tensor::floats(reads.shape, gather(double(0)), x.type());
  return Tensor::integers(reads.shape, gather(int64_t(0)), x.type());
}

/// The transpose: `reads` are those of a contiguous x of this shape.
Tensor scatterAdd(const Tensor &dy, const Shape &shape, const Reads &reads, Precision precision) {
  std::vector<double> sums(elementCount(shape), 0), from = dy.toFloats();
  forEachRead(reads, 0, [&](int64_t n, int64_t at) { sums[at] += from[n]; });
  for (double &sum : sums)
    sum = roundTo(dy.type(), precision, sum);
  return Tensor::floats(shape, std::move(sums), dy.type());
}

Reads takeReads(const char *op, const Shape &shape, const Shape &strides, const Tensor &ids,
                int64_t axis, const LocalDim &held, bool allowNegative) {
  checkHeld(op, shape, axis, held);
  Reads reads;
  reads.ids = localIds(op, ids, axis, held, allowNegative);
  reads.idStep = strides[axis];
  auto keep = [&](size_t from, size_t to) {
    for (size_t i = from; i < to; ++i) {
      reads.shape.push_back(shape[i]);
      reads.xStrides.push_back(strides[i]);
      reads.idStrides.push_back(0);
    }
  };
  keep(0, axis);
  Shape idStrides = rowMajorStrides(ids.shape());
  for (size_t i = 0; i < idStrides.size(); ++i) {
    reads.shape.push_back(ids.shape()[i]);
    reads.xStrides.push_back(0);
    reads.idStrides.push_back(idStrides[i]);
  }
  keep(axis + 1, shape.size());
  return reads;
}

Reads takeAlongReads(const char *op, const Shape &shape, const Shape &strides, const Tensor &ids,
                     int64_t axis, const LocalDim &held, bool allowNegative) {
  checkHeld(op, shape, axis, held);
  bool fits = ids.shape().size() == shape.size();
  for (size_t i = 0; fits && i < shape.size(); ++i)
    fits = static_cast<int64_t>(i) == axis || ids.shape()[i] <= shape[i];
  if (!fits)
    fail(op, "indices " + ids.describe() + " do not fit into " + describe(shape));
  Reads reads;
  reads.ids = localIds(op, ids, axis, held, allowNegative);
  reads.idStep = strides[axis];
  reads.shape = ids.shape();
  reads.idStrides = rowMajorStrides(ids.shape());
  reads.xStrides = strides;
  reads.xStrides[axis] = 0;
  return reads;
}

Reads gatherNdReads(const char *op, const Shape &shape, const Shape &strides, const Tensor &ids,
                    int64_t batchDims, bool allowNegative) {
  checkIds(op, ids);
  int64_t rank = static_cast<int64_t>(shape.size());
  bool fits = batchDims >= 0 && ids.rank() > batchDims && rank >= batchDims &&
              ids.dim(ids.rank() - 1) + batchDims <= rank;
  for (int64_t i = 0; fits && i < batchDims; ++i)
    fits = ids.dim(i) == shape[i];
  if (!fits)
    fail(op, "indices " + ids.describe() + " with " + std::to_string(batchDims) +
                 " batch dimensions do not fit to " + describe(shape));
  int64_t coordinates = ids.dim(ids.rank() - 1);
  Shape lists(ids.shape().begin(), ids.shape().end() - 1), listStrides = rowMajorStrides(lists);
  Reads reads;
  reads.idStep = 1; // an "id" is the distance in x that the coordinates add up to
  std::vector<int64_t> flat = ids.toIntegers();
  for (int64_t list = 0; list < elementCount(lists); ++list) {
    int64_t distance = 0;
    for (int64_t i = 0; i < coordinates; ++i) {
      int64_t axis = batchDims + i;
      distance += strides[axis] *
                  checkedIndex(op, flat[list * coordinates + i], shape[axis], axis, allowNegative);
    }
    reads.ids.push_back(distance);
  }
  for (size_t i = 0; i < lists.size(); ++i) {
    reads.shape.push_back(lists[i]);
    reads.xStrides.push_back(static_cast<int64_t>(i) < batchDims ? strides[i] : 0);
    reads.idStrides.push_back(listStrides[i]);
  }
  for (int64_t i = batchDims + coordinates; i < rank; ++i) {
    reads.shape.push_back(shape[i]);
    reads.xStrides.push_back(strides[i]);
    reads.idStrides.push_back(0);
  }
  return reads;
}

} // namespace

Tensor take(const Tensor &table, const Tensor &ids, int64_t axis, const LocalDim &held,
            bool allowNegative) {
  return lookUp(table,
                takeReads("take", table.shape(), table.strides(), ids, axis, held, allowNegative));
}

Tensor takeGrad(const Tensor &ids, const Tensor &dy, const Shape &tableShape, int64_t axis,
                const LocalDim &held, Precision precision, bool allowNegative) {
  Reads reads = takeReads("take_grad", tableShape, rowMajorStrides(tableShape), ids, axis, held,
                          allowNegative);
  checkGradient("take_grad", dy, reads.shape);
  return scatterAdd(dy, tableShape, reads, precision);
}

Tensor takeAlong(const Tensor &x, const Tensor &ids, int64_t axis, const LocalDim &held,
                 bool allowNegative) {
  return lookUp(
      x, takeAlongReads("take_along", x.shape(), x.strides(), ids, axis, held, allowNegative));
}

Tensor takeAlongGrad(const Tensor &ids, const Tensor &dy, const Shape &shape, int64_t axis,
                     const LocalDim &held, Precision precision, bool allowNegative) {
  Reads reads = takeAlongReads("take_along_grad", shape, rowMajorStrides(shape), ids, axis, held,
                               allowNegative);
  checkGradient("take_along_grad", dy, reads.shape);
  return scatterAdd(dy, shape, reads, precision);
}

Tensor gatherNd(const Tensor &x, const Tensor &ids, int64_t batchDims, bool allowNegative) {
  return lookUp(x,
                gatherNdReads("gather_nd", x.shape(), x.strides(), ids, batchDims, allowNegative));
}

Tensor gatherNdGrad(const Tensor &ids, const Tensor &dy, const Shape &shape, int64_t batchDims,
                    Precision precision, bool allowNegative) {
  Reads reads =
      gatherNdReads("gather_nd_grad", shape, rowMajorStrides(shape), ids, batchDims, allowNegative);
  checkGradient("gather_nd_grad", dy, reads.shape);
  return scatterAdd(dy, shape, reads, precision);
}

} // namespace colrow::reference
