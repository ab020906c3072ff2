//===- Lookup.h - reference kernels that read by index, and their gradients ===//
//
// The axis that is looked up may be cut: LocalDim says which of its elements this rank holds.
// Indices are always global. An index that another rank holds gives 0 here (the masked lookup of
// a vocabulary-parallel embedding; the sum over the ranks is the value) and takes no gradient.
// An index outside the whole axis is an error; negative ones count from its end where
// allowNegative says so, else they are errors too.
//
// A gradient is the transpose of its lookup: zeros to which every element of dy is added where
// the lookup read. It has dy's type.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "runtime/reference/Tensor.h"

#include "colrow/Layout.h"

namespace colrow::reference {

/// Rows of a table (ONNX Gather): result[o..., i..., n...] = table[o..., ids[i...], n...] with
/// the looked-up axis of the table between o and n. `held` describes that axis.
Tensor take(const Tensor &table, const Tensor &ids, int64_t axis, const LocalDim &held,
            bool allowNegative = false);
Tensor takeGrad(const Tensor &ids, const Tensor &dy, const Shape &tableShape, int64_t axis,
                const LocalDim &held, Precision precision, bool allowNegative = false);

/// One element for each index (ONNX GatherElements): the result has the shape of ids, and
/// result[i, j, k] = x[i, ids[i, j, k], k] for axis 1. On the other axes ids may be shorter than x.
Tensor takeAlong(const Tensor &x, const Tensor &ids, int64_t axis, const LocalDim &held,
                 bool allowNegative = false);
Tensor takeAlongGrad(const Tensor &ids, const Tensor &dy, const Shape &shape, int64_t axis,
                     const LocalDim &held, Precision precision, bool allowNegative = false);

/// Slices by index vectors (ONNX GatherND): the last axis of ids holds coordinates on the axes
/// of x after the first `batchDims`, which x and ids share. result[b..., i..., n...] =
/// x[b..., ids[b..., i...]..., n...]. Nothing that is looked up may be cut.
Tensor gatherNd(const Tensor &x, const Tensor &ids, int64_t batchDims, bool allowNegative = false);
Tensor gatherNdGrad(const Tensor &ids, const Tensor &dy, const Shape &shape, int64_t batchDims,
                    Precision precision, bool allowNegative = false);

} // namespace colrow::reference
