//===- PadVocabulary.cpp - storage that divides, whatever the vocabulary --===//
//
// A vocabulary of 503 over 4 ranks is stored as 512: every rank holds a slice of a multiple of 128
// (Megatron-LM section 3 pads for the same reason). Padding rows are zero and stay zero: nothing
// looks them up, and their logits are masked before anything reduces over them, so their gradient
// is zero.
//
//===----------------------------------------------------------------------===//

#include "passes/shard/Regions.h"
#include "llvm/Support/MathExtras.h"

#include <limits>

using namespace mlir;

namespace colrow {

static constexpr int64_t vocabularyMultiple = 128;

/// The type with the cut dimension's factor scaled from one size to another.
static RankedTensorType resized(Type type, AxisState state, int64_t from, int64_t to) {
  auto tensor = cast<RankedTensorType>(type);
  SmallVector<int64_t> shape(tensor.getShape());
  shape[state.dim] = shape[state.dim] / from * to;
  return RankedTensorType::get(shape, tensor.getElementType(), tensor.getEncoding());
}

static ArrayAttr sizesAttr(OpBuilder &builder, ArrayRef<int64_t> sizes) {
  return builder.getI64ArrayAttr(sizes);
}

/// Remembers the size without padding where values leave and enter the program.
static void recordValid(func::FuncOp function, Value value) {
  OpBuilder builder(function.getContext());
  ArrayAttr valid = sizesAttr(builder, cast<RankedTensorType>(value.getType()).getShape());
  if (auto argument = dyn_cast<BlockArgument>(value))
    function.setArgAttr(argument.getArgNumber(), "colrow.valid", valid);
  for (OpOperand &use : value.getUses())
    if (isa<func::ReturnOp>(use.getOwner()))
      function.setResultAttr(use.getOperandNumber(), "colrow.valid", valid);
}

LogicalResult padVocabulary(Region &region, RegionGrower &grower, StringAttr axis,
                            int64_t ranks) {
  int64_t valid = region.units(axis);
  int64_t padded = llvm::alignTo(valid, vocabularyMultiple * ranks);
  if (padded == valid)
    return success();
  for (auto &[operand, state] : region.constants)
    if (!isa<SplatElementsAttr>(operand->get().getDefiningOp<ConstantOp>().getValue()))
      return operand->getOwner()->emitError("a constant of the vocabulary's size cannot be padded "
                                            "from ")
             << valid << " to " << padded << " elements";

  // What reduces over the vocabulary itself knows only storage; the loss has its own valid size.
  bool sums = false, maxima = false;
  for (auto &[op, cut] : region.ops)
    if (isa<ReduceSumOp, ReduceMaxOp>(op) &&
        grower.ruleOf(op).factors[cut.factor].kind == FactorKind::sum)
      (isa<ReduceMaxOp>(op) ? maxima : sums) = true;

  auto function = region.seed->getParentOfType<func::FuncOp>();
  SmallVector<std::pair<Value, AxisState>> products;
  for (auto &[value, state] : region.cuts) {
    recordValid(function, value);
    Value(value).setType(resized(value.getType(), state, valid, padded));
    if (auto product = value.getDefiningOp<EinsumOp>())
      products.push_back({value, state});
    if (auto slice = value.getDefiningOp<SliceOp>()) {
      // Growth went through it, so it keeps this dimension whole.
      SmallVector<int64_t> limits(slice.getLimits());
      limits[state.dim] = cast<RankedTensorType>(value.getType()).getDimSize(state.dim);
      slice.setLimits(limits);
    }
  }
  OpBuilder builder(function.getContext());
  for (auto &[operand, state] : region.constants) {
    auto constant = operand->get().getDefiningOp<ConstantOp>();
    RankedTensorType type = resized(constant.getType(), state, valid, padded);
    builder.setInsertionPoint(constant);
    auto splat = cast<SplatElementsAttr>(constant.getValue());
    auto valueType = RankedTensorType::get(type.getShape(), splat.getElementType());
    operand->set(ConstantOp::create(builder, constant.getLoc(), type,
                                    cast<ElementsAttr>(splat.resizeSplat(valueType))));
  }
  if (!sums && !maxima)
    return success();
  for (auto &[value, state] : products) {
    Operation *product = value.getDefiningOp();
    builder.setInsertionPointAfter(product);
    double neutral = maxima ? -std::numeric_limits<double>::infinity() : 0.0;
    auto mask = MaskPaddingOp::create(builder, value.getLoc(), value.getType(), value, state.dim,
                                      valid, APFloat(neutral), TypeAttr());
    value.replaceAllUsesExcept(mask, mask);
    region.cuts.insert({mask, state});
  }
  return success();
}

} // namespace colrow
