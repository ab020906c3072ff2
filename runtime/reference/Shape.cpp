#include "runtime/reference/Shape.h"

#include "runtime/reference/Walk.h"

#include <algorithm>

namespace colrow::reference {

namespace {

void checkOnePerAxis(const char *op, const Tensor &x, size_t count) {
  if (static_cast<int64_t>(count) != x.rank())
    throw Error(std::string(op) + ": expects one number for each axis of " + x.describe() +
                ", got " + std::to_string(count));
}

/// The strides with which x's elements can be read under `shape` without a copy; false if there
/// are none. Axes of both shapes are matched in groups of equal element count; a group of x
/// must be evenly strided to be regrouped.
bool stridesUnder(const Tensor &x, const Shape &shape, Shape &strides) {
  Shape from, fromStrides; // x without its axes of size 1, whose strides mean nothing
  for (int64_t i = 0; i < x.rank(); ++i)
    if (x.shape()[i] != 1) {
      from.push_back(x.shape()[i]);
      fromStrides.push_back(x.strides()[i]);
    }
  strides.assign(shape.size(), 0);
  size_t i = 0, j = 0;
  while (i < from.size()) {
    while (shape[j] == 1)
      ++j;
    size_t firstFrom = i, firstTo = j;
    int64_t fromCount = from[i++], toCount = shape[j++];
    while (fromCount != toCount)
      if (fromCount < toCount)
        fromCount *= from[i++];
      else
        toCount *= shape[j++];
    for (size_t k = firstFrom; k + 1 < i; ++k)
      if (fromStrides[k] != fromStrides[k + 1] * from[k + 1])
        return false;
    int64_t stride = fromStrides[i - 1];
    for (size_t k = j; k-- > firstTo;) {
      strides[k] = stride;
      stride *= shape[k];
    }
  }
  return true;
}

/// Copies every element of `part`, whose strides index the storage of T, to `to` at `offset`
/// plus row-major `strides`.
template <typename T>
void copyInto(std::vector<T> &to, const Shape &strides, int64_t offset, const Tensor &part) {
  const T *from = part.data<T>();
  walk<2>(part.shape(), {part.strides(), strides}, {part.offset(), offset},
          [&](const Positions<2> &at) { to[at[1]] = from[at[0]]; });
}

template <typename T>
std::vector<T> concatenated(const std::vector<Tensor> &parts, int64_t axis, const Shape &shape) {
  std::vector<T> values(elementCount(shape));
  Shape strides = rowMajorStrides(shape);
  int64_t before = 0;
  for (const Tensor &part : parts) {
    copyInto(values, strides, before * strides[axis], part);
    before += part.shape()[axis];
  }
  return values;
}

template <typename T>
std::vector<T> padded(const Tensor &inside, const std::vector<int64_t> &low, const Shape &shape,
                      T value) {
  std::vector<T> values(elementCount(shape), value);
  Shape strides = rowMajorStrides(shape);
  int64_t offset = 0;
  for (size_t i = 0; i < shape.size(); ++i)
    offset += std::max<int64_t>(low[i], 0) * strides[i];
  copyInto(values, strides, offset, inside);
  return values;
}

} // namespace

Tensor reshape(const Tensor &x, const Shape &shape) {
  for (int64_t size : shape)
    if (size < 0)
      throw Error("reshape: negative dimension in [" + toString(shape) + "]");
  if (elementCount(shape) != x.size())
    throw Error("reshape: " + x.describe() + " has not the size of [" + toString(shape) + "]");
  if (x.size() == 0)
    return x.view(shape, rowMajorStrides(shape), x.offset());
  Shape strides;
  if (stridesUnder(x, shape, strides))
    return x.view(shape, strides, x.offset());
  Tensor dense = x.materialize();
  return dense.view(shape, rowMajorStrides(shape), dense.offset());
}

Tensor transpose(const Tensor &x, const std::vector<int64_t> &permutation) {
  checkOnePerAxis("transpose", x, permutation.size());
  std::vector<bool> seen(permutation.size(), false);
  Shape shape, strides;
  for (int64_t axis : permutation) {
    checkedAxis("transpose", x, axis);
    if (seen[axis])
      throw Error("transpose: axis " + std::to_string(axis) + " occurs twice");
    seen[axis] = true;
    shape.push_back(x.shape()[axis]);
    strides.push_back(x.strides()[axis]);
  }
  return x.view(shape, strides, x.offset());
}

Tensor broadcastTo(const Tensor &x, const Shape &shape) {
  if (broadcastShapes("broadcast", x.shape(), shape) != shape)
    throw Error("broadcast: " + x.describe() + " does not broadcast to [" + toString(shape) + "]");
  return x.view(shape, broadcastStrides(x, shape), x.offset());
}

Tensor slice(const Tensor &x, const std::vector<int64_t> &starts,
             const std::vector<int64_t> &limits, const std::vector<int64_t> &steps) {
  checkOnePerAxis("slice", x, starts.size());
  checkOnePerAxis("slice", x, limits.size());
  checkOnePerAxis("slice", x, steps.size());
  Shape shape, strides;
  int64_t offset = x.offset();
  for (int64_t i = 0; i < x.rank(); ++i) {
    int64_t step = steps[i];
    if (step == 0)
      throw Error("slice: the step on axis " + std::to_string(i) + " is 0");
    int64_t distance = step > 0 ? limits[i] - starts[i] : starts[i] - limits[i];
    int64_t stride = step > 0 ? step : -step;
    int64_t count = distance > 0 ? (distance - 1) / stride + 1 : 0;
    int64_t last = starts[i] + (count - 1) * step;
    if (count > 0 && (std::min(starts[i], last) < 0 || std::max(starts[i], last) >= x.dim(i)))
      throw Error("slice: elements " + std::to_string(starts[i]) + " to " + std::to_string(last) +
                  " on axis " + std::to_string(i) + " are outside of " + x.describe());
    shape.push_back(count);
    strides.push_back(x.strides()[i] * step);
    if (count > 0)
      offset += starts[i] * x.strides()[i];
  }
  return x.view(shape, strides, offset);
}

Tensor reverse(const Tensor &x, const std::vector<int64_t> &axes) {
  Shape strides = x.strides();
  int64_t offset = x.offset();
  for (int64_t axis : axes) {
    checkedAxis("reverse", x, axis);
    offset += (x.dim(axis) - 1) * strides[axis];
    strides[axis] = -strides[axis];
  }
  return x.view(x.shape(), strides, offset);
}

Tensor concat(const std::vector<Tensor> &parts, int64_t axis) {
  if (parts.empty())
    throw Error("concat: expects at least one operand");
  const Tensor &first = parts.front();
  checkedAxis("concat", first, axis);
  Shape shape = first.shape();
  shape[axis] = 0;
  for (const Tensor &part : parts) {
    Shape expected = first.shape();
    if (part.rank() == first.rank())
      expected[axis] = part.shape()[axis];
    if (part.type() != first.type() || part.shape() != expected)
      throw Error("concat: " + first.describe() + " and " + part.describe() +
                  " do not join along axis " + std::to_string(axis));
    shape[axis] += part.shape()[axis];
  }
  if (parts.size() == 1)
    return first;
  if (first.isFloat())
    return Tensor::floats(shape, concatenated<double>(parts, axis, shape), first.type());
  return Tensor::integers(shape, concatenated<int64_t>(parts, axis, shape), first.type());
}

Tensor pad(const Tensor &x, const std::vector<int64_t> &low, const std::vector<int64_t> &high,
           double value) {
  checkOnePerAxis("pad", x, low.size());
  checkOnePerAxis("pad", x, high.size());
  Shape shape;
  std::vector<int64_t> starts, limits;
  for (int64_t i = 0; i < x.rank(); ++i) {
    shape.push_back(x.dim(i) + low[i] + high[i]);
    if (shape.back() < 0)
      throw Error("pad: axis " + std::to_string(i) + " of " + x.describe() +
                  " has fewer elements than are dropped");
    starts.push_back(std::max<int64_t>(-low[i], 0));
    limits.push_back(x.dim(i) - std::max<int64_t>(-high[i], 0));
  }
  Tensor inside = slice(x, starts, limits, std::vector<int64_t>(x.rank(), 1));
  if (x.isFloat())
    return Tensor::floats(shape, padded<double>(inside, low, shape, value), x.type());
  return Tensor::integers(shape, padded<int64_t>(inside, low, shape, truncate(value)), x.type());
}

} // namespace colrow::reference
