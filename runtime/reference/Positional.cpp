#include "runtime/reference/Positional.h"

#include "runtime/reference/Elementwise.h"
#include "runtime/reference/Shape.h"
#include "runtime/reference/Walk.h"

#include "colrow/Philox.h"

namespace colrow::reference {

/// Global indices along one axis as a tensor that broadcasts to the whole rank.
static Tensor globalIndices(const LocalDim &held, int64_t axis, int64_t rank) {
  std::vector<int64_t> indices;
  for (int64_t i = 0; i < held.localSize(); ++i)
    indices.push_back(held.globalIndex(i));
  Shape shape(rank, 1);
  shape[axis] = held.localSize();
  return Tensor::integers(shape, std::move(indices));
}

Tensor iota(ElementType type, const LocalShape &shape, int64_t axis) {
  if (type == ElementType::b1)
    throw Error("iota: counts in numbers, not in b1");
  int64_t rank = static_cast<int64_t>(shape.rank());
  if (axis < 0 || axis >= rank)
    throw Error("iota: a tensor of " + std::to_string(rank) + " axes has no axis " +
                std::to_string(axis));
  Tensor indices = globalIndices(shape.dims[axis], axis, rank);
  return broadcastTo(cast(indices, type, Precision::f64), shape.localSizes());
}

Tensor maskPadding(const Tensor &x, int64_t axis, int64_t valid, double value,
                   const LocalDim &held) {
  checkedAxis("mask_padding", x, axis);
  if (x.dim(axis) != held.localSize())
    throw Error("mask_padding: axis " + std::to_string(axis) + " of " + x.describe() +
                " should hold " + std::to_string(held.localSize()) + " elements");
  Tensor isPadding =
      compare(globalIndices(held, axis, x.rank()),
              Tensor::scalar(ElementType::i64, static_cast<double>(valid)), Predicate::ge);
  return select(isPadding, Tensor::scalar(x.type(), value), x);
}

Tensor dropoutMask(const LocalShape &shape, double ratio, const RandomSite &site) {
  if (!(ratio >= 0 && ratio <= 1))
    throw Error("dropout: expects a ratio from 0 to 1, got " + std::to_string(ratio));
  PhiloxKey key = philoxKey(site.seed, site.id);
  uint32_t threshold = dropoutThreshold(ratio);
  std::vector<int64_t> kept(elementCount(shape.localSizes()));
  forEachElement(shape, [&](int64_t local, int64_t global) {
    uint64_t element = site.firstElement + static_cast<uint64_t>(global);
    kept[local] = dropoutKeeps(philoxBlock(key, site.step, element / 4)[element % 4], threshold);
  });
  return Tensor::integers(shape.localSizes(), std::move(kept), ElementType::b1);
}

Tensor dropout(const Tensor &x, double ratio, const RandomSite &site, const LocalShape &shape,
               Precision precision) {
  if (x.shape() != shape.localSizes())
    throw Error("dropout: " + x.describe() + " should have the shape [" +
                toString(shape.localSizes()) + "]");
  Tensor kept = dropoutMask(shape, ratio, site), zero = Tensor::scalar(x.type(), 0);
  if (ratio == 1)
    return select(kept, x, zero); // nothing is kept, and 1 / (1 - ratio) is no number
  return select(kept, mul(x, Tensor::scalar(x.type(), 1 / (1 - ratio)), precision), zero);
}

} // namespace colrow::reference
