//===- LayerNorm.cpp - layer norm out of primitive operations -------------===//
//
// d / sqrt(mean(d^2) + epsilon) with d = x - mean(x), times scale plus bias where they follow: what
// exporters wrote before ONNX had LayerNormalization.
//
//===----------------------------------------------------------------------===//

#include "mlir/IR/Remarks.h"
#include "passes/raise/Match.h"
#include "passes/raise/Recognisers.h"

#include <fmt/format.h>

using namespace mlir;

namespace colrow {
namespace {

ArrayRef<int64_t> shapeOf(Value value) { return cast<RankedTensorType>(value.getType()).getShape(); }

/// What a value is the mean of, over the dimensions from one on, which stay as dimensions of 1.
struct Mean {
  Value of;
  int64_t axis;

  static std::optional<Mean> match(Value value) {
    std::optional<Scaled> scaled = scaledOf(value);
    auto sum = scaled ? scaled->value.getDefiningOp<ReduceSumOp>() : ReduceSumOp();
    if (!sum || !sum.getKeepdims() || sum.getAxes().empty())
      return std::nullopt;
    ArrayRef<int64_t> shape = sum.getInput().getType().getShape();
    SmallVector<int64_t> axes(sum.getAxes());
    llvm::sort(axes);
    int64_t axis = axes.front(), count = 1;
    if (axis + static_cast<int64_t>(axes.size()) != static_cast<int64_t>(shape.size()))
      return std::nullopt;
    for (int64_t size : shape.drop_front(axis))
      count *= size;
    if (!isAbout(scaled->factor, 1.0 / static_cast<double>(count)))
      return std::nullopt;
    return Mean{sum.getInput(), axis};
  }
};

/// Operand of a sum or product beside `known`, if it has just this shape.
template <typename OpTy> Value operandBeside(Value known, ArrayRef<int64_t> shape) {
  auto op = onlyReader<OpTy>(known);
  if (!op || op.getType() != known.getType())
    return {};
  Value other = op.getLhs() == known ? op.getRhs() : op.getLhs();
  return shapeOf(other) == shape ? other : Value();
}

/// d / root, through its reciprocal too.
Value quotientBy(Value root, Value deviation) {
  if (auto div = onlyReader<DivOp>(root))
    if (div.getRhs() == root && div.getLhs() == deviation)
      return div;
  Value reciprocal;
  if (auto op = onlyReader<ReciprocalOp>(root))
    reciprocal = op;
  else if (auto div = onlyReader<DivOp>(root))
    if (div.getRhs() == root && numberOf(div.getLhs()) == 1.0)
      reciprocal = div;
  auto mul = reciprocal ? onlyReader<MulOp>(reciprocal) : MulOp();
  if (!mul || (mul.getLhs() != deviation && mul.getRhs() != deviation))
    return {};
  return mul;
}

void recognise(SqrtOp root) {
  auto shifted = root.getInput().getDefiningOp<AddOp>();
  if (!shifted)
    return;
  Value variance = shifted.getLhs();
  std::optional<double> epsilon = numberOf(shifted.getRhs());
  if (!epsilon) {
    epsilon = numberOf(shifted.getLhs());
    variance = shifted.getRhs();
  }
  std::optional<Mean> squares = epsilon ? Mean::match(variance) : std::nullopt;
  Value deviation = squares ? findVariable(squares->of, {{{2, 0}, 1}}) : Value();
  auto difference = deviation ? deviation.getDefiningOp<SubOp>() : SubOp();
  std::optional<Mean> mean = difference ? Mean::match(difference.getRhs()) : std::nullopt;
  if (!mean || mean->of != difference.getLhs() || mean->axis != squares->axis)
    return;
  Value x = mean->of, result = quotientBy(root, deviation);
  if (!result)
    return;
  // A second reader of the variance or of its root would need it written out after all.
  if (!onlyReader(variance) || !onlyReader(shifted.getResult()) || !onlyReader(squares->of))
    return;

  ArrayRef<int64_t> row = shapeOf(x).drop_front(mean->axis);
  Value scale = operandBeside<MulOp>(result, row);
  if (scale)
    result = *result.user_begin()->result_begin();
  Value bias = operandBeside<AddOp>(result, row);
  if (bias)
    result = *result.user_begin()->result_begin();
  OpBuilderWithLayouts b(result.getDefiningOp());
  result.replaceAllUsesWith(
      b.create<LayerNormOp>(x, scale, bias, mean->axis, APFloat(*epsilon)));
  remark::passed(result.getLoc(), remark::RemarkOpts::name("LayerNorm").category("colrow-raise"))
      << fmt::format("layer norm recognised, epsilon {}", *epsilon);
}

} // namespace

void recogniseLayerNorm(func::FuncOp function) {
  SmallVector<SqrtOp> roots(function.getOps<SqrtOp>());
  for (SqrtOp root : roots)
    recognise(root);
}

} // namespace colrow
