//===- Index.cpp - lookups and their gradients ----------------------------===//
#include "colrow/KernelsIndex.h"

#include "Strided.h"
#include "colrow/Profile.h"

namespace colrow {
namespace {

/// The shape of take's result.
Shape takeShape(const Shape &table, const Shape &ids, int axis) {
  Shape shape;
  for (int i = 0; i < axis; ++i)
    shape.append(table[i]);
  for (int64_t size : ids)
    shape.append(size);
  for (int i = axis + 1; i < table.rank(); ++i)
    shape.append(table[i]);
  return shape;
}

/// Calls visit(row of the table or -1, row of the result) for each lookup, rows being the first
/// element of `inner` consecutive ones.
template <typename Visit>
void forEachTaken(const AxisView &view, const Integers &ids, const IndexMap &map,
                  const Visit &visit) {
  int64_t count = ids.numel();
  for (int64_t o = 0; o < view.outer; ++o)
    for (int64_t i = 0; i < count; ++i) {
      int64_t local = map.localIndex(ids.data[i]);
      visit(local < 0 ? -1 : (o * view.size + local) * view.inner, (o * count + i) * view.inner);
    }
}

void requireTake(const char *kernel, const Shape &table, const Integers &ids, const Shape &taken,
                 int axis, const IndexMap &map) {
  require(taken == takeShape(table, ids.shape, axis), kernel,
          "expects the looked up values to have the table's shape with the axis replaced by that "
          "of the ids");
  require(map.localSize() == table[axis], kernel, "expects the slice to have the axis' size");
}

/// Calls visit(element of the table or -1, element of the result) for each index.
template <typename Visit>
void forEachAlong(const char *kernel, const Shape &table, const Integers &ids, int axis,
                  const IndexMap &map, const Visit &visit) {
  require(axis >= 0 && axis < table.rank(), kernel, "expects an axis of its operand");
  require(ids.rank() == table.rank(), kernel, "expects ids of the operand's rank");
  require(map.localSize() == table[axis], kernel, "expects the slice to have the axis' size");
  for (int i = 0; i < table.rank(); ++i)
    require(i == axis || ids.shape[i] <= table[i], kernel,
            "expects ids that are not larger than the operand");
  Strides strides = table.rowMajorStrides();
  int64_t step = strides[axis];
  strides[axis] = 0;
  StridedLoops<2> loops{ids.shape, {ids.strides, strides}};
  loops.forEach(0, [&](const std::array<int64_t, 2> &offsets) {
    int64_t local = map.localIndex(ids.data[offsets[0]]);
    visit(local < 0 ? -1 : offsets[1] + local * step, offsets[0]);
  });
}

void clear(const Tensor &out) {
  for (int64_t i = 0, count = out.numel(); i < count; ++i)
    out.data[i] = 0;
}

} // namespace

template <typename T>
void take(KernelContext &, const ConstView<T> &table, const Integers &ids, int axis,
          const IndexMap &map, const View<T> &out) {
  ProfileScope scope("take", ids, out, out);
  requireContiguous("take", table, ids, out);
  AxisView view(table.shape, axis, "take");
  requireTake("take", table.shape, ids, out.shape, axis, map);
  forEachTaken(view, ids, map, [&](int64_t row, int64_t result) {
    T *to = out.data + result;
    if (row < 0)
      for (int64_t j = 0; j < view.inner; ++j)
        to[j] = 0;
    else
      for (int64_t j = 0; j < view.inner; ++j)
        to[j] = table.data[row + j];
  });
}

void takeGrad(KernelContext &, const ConstTensor &dout, const Integers &ids, int axis,
              const IndexMap &map, const Tensor &dtable, int beta) {
  ProfileScope scope("takeGrad", dout, ids, dout, dout);
  requireContiguous("takeGrad", dout, ids, dtable);
  require(beta == 0 || beta == 1, "takeGrad", "expects beta to be 0 or 1");
  AxisView view(dtable.shape, axis, "takeGrad");
  requireTake("takeGrad", dtable.shape, ids, dout.shape, axis, map);
  if (beta == 0)
    clear(dtable);
  forEachTaken(view, ids, map, [&](int64_t row, int64_t result) {
    if (row < 0)
      return;
    const float *from = dout.data + result;
    float *to = dtable.data + row;
    for (int64_t j = 0; j < view.inner; ++j)
      to[j] += from[j];
  });
}

template <typename T>
void takeAlong(KernelContext &, const ConstView<T> &in, const Integers &ids, int axis,
               const IndexMap &map, const View<T> &out) {
  ProfileScope scope("takeAlong", ids, out, out);
  requireContiguous("takeAlong", in, ids, out);
  require(out.shape == ids.shape, "takeAlong", "expects the result to have the shape of the ids");
  forEachAlong("takeAlong", in.shape, ids, axis, map, [&](int64_t element, int64_t result) {
    out.data[result] = element < 0 ? T(0) : in.data[element];
  });
}

void takeAlongGrad(KernelContext &, const ConstTensor &dout, const Integers &ids, int axis,
                   const IndexMap &map, const Tensor &din, int beta) {
  ProfileScope scope("takeAlongGrad", dout, ids, dout, dout);
  requireContiguous("takeAlongGrad", dout, ids, din);
  require(beta == 0 || beta == 1, "takeAlongGrad", "expects beta to be 0 or 1");
  require(dout.shape == ids.shape, "takeAlongGrad", "expects a gradient of the shape of the ids");
  if (beta == 0)
    clear(din);
  forEachAlong("takeAlongGrad", din.shape, ids, axis, map, [&](int64_t element, int64_t result) {
    if (element >= 0)
      din.data[element] += dout.data[result];
  });
}

#define COLROW_LOOKUPS(T)                                                                          \
  template void take<T>(KernelContext &, const View<const T> &, const Integers &, int,             \
                        const IndexMap &, const View<T> &);                                        \
  template void takeAlong<T>(KernelContext &, const View<const T> &, const Integers &, int,        \
                             const IndexMap &, const View<T> &)
COLROW_LOOKUPS(float);
COLROW_LOOKUPS(int64_t);
COLROW_LOOKUPS(uint8_t);

} // namespace colrow
