//===- KernelsIndex.h - lookups and their gradients -----------------------===//
//
// Indices count along the global axis. One that this rank does not hold, or that is outside the
// axis, reads 0 and writes nothing: with the axis cut, the ranks' results sum up to the whole
// lookup. Negative indices do not count from the end.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "colrow/KernelsContext.h"
#include "colrow/KernelsSlices.h"
#include "colrow/KernelsTensor.h"

namespace colrow {

/// out[o..., j..., i...] = table[o..., ids[j...], i...], where `axis` of the table is the one
/// looked up: an embedding has axis 0. `map` is this rank's part of that axis. T is float, int64_t
/// or uint8_t.
template <typename T>
void take(KernelContext &ctx, const ConstView<T> &table, const Integers &ids, int axis,
          const IndexMap &map, const View<T> &out);

/// The gradient of take: dtable = beta * dtable + dout scattered back, where ids that occur again
/// add up in the order of `ids`. beta is 0 or 1.
void takeGrad(KernelContext &ctx, const ConstTensor &dout, const Integers &ids, int axis,
              const IndexMap &map, const Tensor &dtable, int beta = 0);

/// out[..., j, ...] = in[..., ids[..., j, ...], ...] along `axis` (ONNX GatherElements,
/// torch.gather). `out` has the shape of `ids`, which in the other dimensions may be smaller than
/// `in`. T is float, int64_t or uint8_t.
template <typename T>
void takeAlong(KernelContext &ctx, const ConstView<T> &in, const Integers &ids, int axis,
               const IndexMap &map, const View<T> &out);

/// The gradient of takeAlong: din = beta * din + dout scattered back, in the order of `ids`.
void takeAlongGrad(KernelContext &ctx, const ConstTensor &dout, const Integers &ids, int axis,
                   const IndexMap &map, const Tensor &din, int beta = 0);

} // namespace colrow
