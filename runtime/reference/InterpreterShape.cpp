#include "runtime/reference/InterpreterKernels.h"
#include "runtime/reference/Lookup.h"
#include "runtime/reference/Positional.h"
#include "runtime/reference/Shape.h"

using namespace mlir;

namespace colrow {

using reference::Shape;
using reference::Tensor;

/// The global type of what the operation slices: what localize kept, or else its own type.
static RankedTensorType slicedType(RankDependentOpInterface op) {
  auto kept = op->getAttrOfType<TypeAttr>(ColrowDialect::globalAttrName);
  return kept ? cast<RankedTensorType>(kept.getValue()) : op.getSlicedType();
}

/// Padding with elements between neighbours: each dimension is split into n x step, of which the
/// element itself is the first of step, and the elements behind the last one are cut off.
static Tensor padBetween(const Tensor &x, int64_t dim, int64_t step, double value) {
  Shape split = x.shape(), joined = x.shape();
  split.insert(split.begin() + dim + 1, 1);
  joined[dim] *= step;
  std::vector<int64_t> low(split.size(), 0), high(split.size(), 0);
  high[dim + 1] = step - 1;
  Tensor spread = reference::reshape(reference::pad(reference::reshape(x, split), low, high, value),
                                     joined);
  Shape limits = joined;
  limits[dim] -= step - 1;
  return reference::slice(spread, Shape(limits.size(), 0), limits, Shape(limits.size(), 1));
}

static Tensor evaluatePad(PadOp pad, Tensor x) {
  double value = pad.getValue().convertToDouble();
  for (auto [dim, step] : llvm::enumerate(pad.getSteps()))
    if (step > 1 && x.dim(dim) > 0)
      x = padBetween(x, dim, step, value);
  return reference::pad(x, pad.getLow(), pad.getHigh(), value);
}

std::optional<Tensors> evaluateShape(Operation *op, const Tensors &in, const Place &place) {
  auto resultShape = [&] {
    return Shape(cast<RankedTensorType>(op->getResult(0).getType()).getShape());
  };
  auto held = [&](int64_t axis) {
    return place.localShape(slicedType(cast<RankDependentOpInterface>(op))).dims[axis];
  };
  return TypeSwitch<Operation *, std::optional<Tensors>>(op)
      .Case([&](ConstantOp constant) {
        Tensor value = toTensor(constant.getValue());
        // Given in double, and of the result's type all the same.
        if (auto type = toElementType(constant.getType()); value.type() != type)
          value = Tensor::floats(value.shape(), value.toFloats(), type);
        return Tensors{reference::rounded(value, place.precision)};
      })
      .Case([&](IotaOp iota) {
        return Tensors{reference::iota(toElementType(iota.getType()),
                                       place.localShape(slicedType(iota)), iota.getDimension())};
      })
      .Case([&](ReshapeOp) { return Tensors{reference::reshape(in[0], resultShape())}; })
      .Case([&](TransposeOp transpose) {
        return Tensors{reference::transpose(in[0], transpose.getPermutation())};
      })
      .Case([&](BroadcastOp) { return Tensors{reference::broadcastTo(in[0], resultShape())}; })
      .Case([&](SliceOp slice) {
        return Tensors{
            reference::slice(in[0], slice.getStarts(), slice.getLimits(), slice.getSteps())};
      })
      .Case([&](PadOp pad) { return Tensors{evaluatePad(pad, in[0])}; })
      .Case([&](ConcatOp concat) {
        return Tensors{reference::concat(in, concat.getDimension())};
      })
      .Case([&](TakeOp take) {
        int64_t axis = take.getAxis();
        return Tensors{reference::take(in[0], in[1], axis, held(axis))};
      })
      .Case([&](TakeGradOp take) {
        int64_t axis = take.getAxis();
        return Tensors{reference::takeGrad(in[0], in[1], resultShape(), axis, held(axis),
                                           place.precision)};
      })
      .Case([&](TakeAlongOp take) {
        int64_t axis = take.getAxis();
        return Tensors{reference::takeAlong(in[0], in[1], axis, held(axis))};
      })
      .Case([&](TakeAlongGradOp take) {
        int64_t axis = take.getAxis();
        return Tensors{reference::takeAlongGrad(in[0], in[1], resultShape(), axis, held(axis),
                                                place.precision)};
      })
      .Case([&](MaskPaddingOp mask) {
        int64_t dim = mask.getDimension();
        return Tensors{reference::maskPadding(in[0], dim, mask.getValid(),
                                              mask.getValue().convertToDouble(), held(dim))};
      })
      .Default([](Operation *) { return std::nullopt; });
}

} // namespace colrow
