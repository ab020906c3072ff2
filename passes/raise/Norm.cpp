//===- Norm.cpp - layer norm and RMS norm out of primitive operations -----===//
//
// d / sqrt(mean(d^2) + epsilon), times scale plus bias where they follow: with d = x - mean(x) a
// layer norm, as exporters wrote it before ONNX had LayerNormalization, with d = x an RMS norm.
//
//===----------------------------------------------------------------------===//

#include "mlir/IR/Remarks.h"
#include "passes/raise/Match.h"
#include "passes/raise/Recognisers.h"

#include <fmt/format.h>

using namespace mlir;

namespace colrow {
namespace {

ArrayRef<int64_t> shapeOf(Value value) {
  return cast<RankedTensorType>(value.getType()).getShape();
}

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

/// sqrt(mean(d^2) + epsilon), whose parts nothing else reads: that would need them written out
/// after all.
struct RootMeanSquare {
  Value deviation;
  int64_t axis;
  double epsilon;

  static std::optional<RootMeanSquare> match(SqrtOp root) {
    auto shifted = root.getInput().getDefiningOp<AddOp>();
    if (!shifted)
      return std::nullopt;
    Value variance = shifted.getLhs();
    std::optional<double> epsilon = numberOf(shifted.getRhs());
    if (!epsilon) {
      epsilon = numberOf(shifted.getLhs());
      variance = shifted.getRhs();
    }
    std::optional<Mean> squares = epsilon ? Mean::match(variance) : std::nullopt;
    Value deviation = squares ? findVariable(squares->of, {{{2, 0}, 1}}) : Value();
    if (!deviation || !onlyReader(variance) || !onlyReader(shifted.getResult()) ||
        !onlyReader(squares->of))
      return std::nullopt;
    return RootMeanSquare{deviation, squares->axis, *epsilon};
  }
};

/// Goes on from a value to its sum or product with an operand of this shape; that, or null.
template <typename OpTy> Value takeOperand(Value &result, ArrayRef<int64_t> shape) {
  Value other = operandBeside<OpTy>(result, shape);
  if (other)
    result = *result.user_begin()->result_begin();
  return other;
}

/// Whether a reader takes the dimensions from `axis` on apart: into heads, say, and to cut those is
/// to cut what is normalised.
bool isTakenApart(Value value, int64_t axis) {
  ArrayRef<int64_t> row = shapeOf(value).drop_front(axis);
  return llvm::any_of(value.getUsers(), [&](Operation *user) {
    auto reshape = dyn_cast<ReshapeOp>(user);
    ArrayRef<int64_t> shape = reshape ? reshape.getType().getShape() : row;
    return shape.size() < row.size() || shape.take_back(row.size()) != row;
  });
}

void recogniseLayerNormAt(SqrtOp root) {
  std::optional<RootMeanSquare> found = RootMeanSquare::match(root);
  auto difference = found ? found->deviation.getDefiningOp<SubOp>() : SubOp();
  std::optional<Mean> mean = difference ? Mean::match(difference.getRhs()) : std::nullopt;
  if (!mean || mean->of != difference.getLhs() || mean->axis != found->axis)
    return;
  Value result = quotientBy(root, found->deviation);
  if (!result)
    return;
  ArrayRef<int64_t> row = shapeOf(mean->of).drop_front(mean->axis);
  Value scale = takeOperand<MulOp>(result, row), bias = takeOperand<AddOp>(result, row);
  if (isTakenApart(result, mean->axis))
    return;
  OpBuilderWithLayouts b(result.getDefiningOp());
  result.replaceAllUsesWith(
      b.create<LayerNormOp>(mean->of, scale, bias, mean->axis, APFloat(found->epsilon)));
  remark::passed(result.getLoc(), remark::RemarkOpts::name("LayerNorm").category("colrow-raise"))
      << fmt::format("layer norm recognised, epsilon {}", found->epsilon);
}

void recogniseRmsNormAt(SqrtOp root) {
  std::optional<RootMeanSquare> found = RootMeanSquare::match(root);
  Value x = found ? found->deviation : Value(), result = found ? quotientBy(root, x) : Value();
  if (!result)
    return;
  Value scale = takeOperand<MulOp>(result, shapeOf(x).drop_front(found->axis));
  if (isTakenApart(result, found->axis))
    return;
  OpBuilderWithLayouts b(result.getDefiningOp());
  result.replaceAllUsesWith(b.create<RmsNormOp>(x, scale, found->axis, APFloat(found->epsilon)));
  remark::passed(result.getLoc(), remark::RemarkOpts::name("RmsNorm").category("colrow-raise"))
      << fmt::format("RMS norm recognised, epsilon {}", found->epsilon);
}

/// At all roots; what an importer had as one operation already is looked at too.
template <typename NormOp>
void recogniseAll(func::FuncOp function, llvm::function_ref<void(SqrtOp)> recognise) {
  for (NormOp norm : llvm::make_early_inc_range(function.getOps<NormOp>()))
    if (isTakenApart(norm.getResult(), norm.getAxis()))
      (void)replaceByDecomposition(norm);
  SmallVector<SqrtOp> roots(function.getOps<SqrtOp>());
  for (SqrtOp root : roots)
    recognise(root);
}

} // namespace

void recogniseLayerNorm(func::FuncOp function) {
  recogniseAll<LayerNormOp>(function, recogniseLayerNormAt);
}
void recogniseRmsNorm(func::FuncOp function) {
  recogniseAll<RmsNormOp>(function, recogniseRmsNormAt);
}

} // namespace colrow
