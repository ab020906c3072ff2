//===- GradientsElementwise.cpp - gradients of elementwise operations -----===//
//
// dy has the result's shape; operands that were broadcast get the sum over it. Where a formula
// could meet 0 * inf, a select keeps the gradient 0.
//
//===----------------------------------------------------------------------===//

#include "dialect/Expressions.h"

using namespace mlir;

namespace colrow {

//===----------------------------------------------------------------------===//
// Shared
//===----------------------------------------------------------------------===//

Value sumToShape(OpBuilderWithLayouts &b, Value value, ArrayRef<int64_t> shape) {
  ArrayRef<int64_t> from = cast<RankedTensorType>(value.getType()).getShape();
  if (from == shape)
    return value;
  size_t missing = from.size() - shape.size();
  SmallVector<int64_t> axes;
  for (size_t dim = 0; dim < from.size(); ++dim)
    if (dim < missing || from[dim] != shape[dim - missing])
      axes.push_back(dim);
  Value sum = b.create<ReduceSumOp>(value, axes, /*keepdims=*/missing == 0);
  auto type = cast<RankedTensorType>(sum.getType());
  if (type.getShape() == shape)
    return sum;
  return b.create<ReshapeOp>(RankedTensorType::get(shape, type.getElementType()), sum);
}

Value zeroBeside(OpBuilderWithLayouts &b, Value value) {
  RankedTensorType scalar = RankedTensorType::get({}, getElementTypeOrSelf(value.getType()));
  Type type = replicatedLike(scalar, value.getType());
  if (LayoutAttr layout = getLayout(value.getType()))
    for (const AxisState &state : layout.getStates())
      if (state.isPartial())
        type = withState(type, state);
  return b.create<ConstantOp>(type, cast<ElementsAttr>(b.getZeroAttr(scalar)));
}

static ArrayRef<int64_t> shapeOf(Value value) {
  return cast<RankedTensorType>(value.getType()).getShape();
}

//===----------------------------------------------------------------------===//
// Of one operand
//===----------------------------------------------------------------------===//

/// dx as a formula of dy, x and y.
#define COLROW_UNARY_GRADIENT(OP, FORMULA)                                                        \
  LogicalResult OP::buildGradient(OpBuilderWithLayouts &b, ValueRange resultGradients,            \
                                  ArrayRef<bool>, SmallVectorImpl<Value> &operandGradients) {     \
    Value x = getInput(), y = getResult(), dy = resultGradients[0];                               \
    Expressions e(b, x.getType());                                                                \
    operandGradients[0] = FORMULA;                                                                \
    (void)y;                                                                                      \
    return success();                                                                             \
  }

COLROW_UNARY_GRADIENT(NegOp, e.apply<NegOp>(dy))
COLROW_UNARY_GRADIENT(AbsOp, e.mul(dy, e.apply<SignOp>(x)))
COLROW_UNARY_GRADIENT(ExpOp, e.mul(dy, y))
COLROW_UNARY_GRADIENT(LogOp, e.div(dy, x))
COLROW_UNARY_GRADIENT(SqrtOp, e.div(dy, e.mul(y, 2)))
COLROW_UNARY_GRADIENT(ReciprocalOp, e.apply<NegOp>(e.mul(dy, e.square(y))))
COLROW_UNARY_GRADIENT(TanhOp, e.mul(dy, e.sub(1, e.square(y))))
COLROW_UNARY_GRADIENT(ErfOp, e.mul(dy, e.mul(e.apply<ExpOp>(e.apply<NegOp>(e.square(x))),
                                             2 / std::sqrt(M_PI))))
COLROW_UNARY_GRADIENT(SinOp, e.mul(dy, e.apply<CosOp>(x)))
COLROW_UNARY_GRADIENT(CosOp, e.apply<NegOp>(e.mul(dy, e.apply<SinOp>(x))))
COLROW_UNARY_GRADIENT(SigmoidOp, e.mul(dy, e.mul(y, e.sub(1, y))))

#undef COLROW_UNARY_GRADIENT

LogicalResult CastOp::buildGradient(OpBuilderWithLayouts &b, ValueRange resultGradients,
                                    ArrayRef<bool>, SmallVectorImpl<Value> &operandGradients) {
  operandGradients[0] =
      b.create<CastOp>(withLayout(getInput().getType(), {}), resultGradients[0]);
  return success();
}

//===----------------------------------------------------------------------===//
// Of two operands
//===----------------------------------------------------------------------===//

LogicalResult AddOp::buildGradient(OpBuilderWithLayouts &b, ValueRange resultGradients,
                                   ArrayRef<bool> needed,
                                   SmallVectorImpl<Value> &operandGradients) {
  for (unsigned i : {0, 1})
    if (needed[i])
      operandGradients[i] = sumToShape(b, resultGradients[0], shapeOf(getOperand(i)));
  return success();
}

LogicalResult SubOp::buildGradient(OpBuilderWithLayouts &b, ValueRange resultGradients,
                                   ArrayRef<bool> needed,
                                   SmallVectorImpl<Value> &operandGradients) {
  Value dy = resultGradients[0];
  if (needed[0])
    operandGradients[0] = sumToShape(b, dy, shapeOf(getLhs()));
  if (needed[1])
    operandGradients[1] = b.create<NegOp>(sumToShape(b, dy, shapeOf(getRhs())));
  return success();
}

LogicalResult MulOp::buildGradient(OpBuilderWithLayouts &b, ValueRange resultGradients,
                                   ArrayRef<bool> needed,
                                   SmallVectorImpl<Value> &operandGradients) {
  for (unsigned i : {0, 1})
    if (needed[i]) {
      Value gradient = b.create<MulOp>(resultGradients[0], getOperand(1 - i));
      operandGradients[i] = sumToShape(b, gradient, shapeOf(getOperand(i)));
    }
  return success();
}

LogicalResult DivOp::buildGradient(OpBuilderWithLayouts &b, ValueRange resultGradients,
                                   ArrayRef<bool> needed,
                                   SmallVectorImpl<Value> &operandGradients) {
  Value dy = resultGradients[0];
  if (needed[0])
    operandGradients[0] = sumToShape(b, b.create<DivOp>(dy, getRhs()), shapeOf(getLhs()));
  if (needed[1]) {
    // The quotient first: with a partial numerator it is what is partial.
    Value gradient = b.create<DivOp>(b.create<MulOp>(dy, getResult()), getRhs());
    operandGradients[1] = b.create<NegOp>(sumToShape(b, gradient, shapeOf(getRhs())));
  }
  return success();
}

/// The value in the element type of `like`, where it is another; beside it.
static Value castBeside(OpBuilderWithLayouts &b, Value value, Type like) {
  Type element = getElementTypeOrSelf(like);
  auto type = cast<RankedTensorType>(value.getType());
  if (type.getElementType() == element)
    return value;
  auto target = RankedTensorType::get(type.getShape(), element);
  return b.create<CastOp>(replicatedLike(target, like), value);
}

LogicalResult PowOp::buildGradient(OpBuilderWithLayouts &b, ValueRange resultGradients,
                                   ArrayRef<bool> needed,
                                   SmallVectorImpl<Value> &operandGradients) {
  Value dy = resultGradients[0], x = getLhs();
  Value power = castBeside(b, getRhs(), x.getType());
  Expressions e(b, x.getType());
  auto isZero = [&](Value value) -> Value {
    return b.create<CompareOp>(Predicate::eq, value, e.number(0));
  };
  if (needed[0]) {
    // x^0 is constant, at x = 0 too, where 0 * 0^-1 would not be.
    Value slope = e.mul(power, b.create<PowOp>(x, e.add(power, -1)));
    slope = b.create<SelectOp>(isZero(power), e.number(0), slope);
    operandGradients[0] = sumToShape(b, e.mul(dy, slope), shapeOf(x));
  }
  if (needed[1]) {
    // 0^y is constant for positive y: 0 * log 0 would not be.
    Value slope = e.mul(getResult(), e.apply<LogOp>(x));
    slope = b.create<SelectOp>(isZero(x), e.number(0), slope);
    operandGradients[1] = sumToShape(b, e.mul(dy, slope), shapeOf(getRhs()));
  }
  return success();
}

/// Gradients of max and min: to the operand that `wins`, half to each of equal ones.
static void shareBetween(OpBuilderWithLayouts &b, Value lhs, Value rhs, Value dy, Predicate wins,
                         ArrayRef<bool> needed, SmallVectorImpl<Value> &operandGradients) {
  Expressions e(b, lhs.getType());
  // Where one operand is not invariant the other is not either (L2): beside one is beside both.
  Value equal = b.create<CompareOp>(Predicate::eq, lhs, rhs);
  Value share = b.create<SelectOp>(equal, e.number(0.5), e.number(0));
  Value won = b.create<CompareOp>(wins, lhs, rhs);
  share = b.create<SelectOp>(won, e.number(1), share);
  if (needed[0])
    operandGradients[0] = sumToShape(b, e.mul(dy, share), shapeOf(lhs));
  if (needed[1])
    operandGradients[1] = sumToShape(b, e.mul(dy, e.sub(1, share)), shapeOf(rhs));
}

LogicalResult MaxOp::buildGradient(OpBuilderWithLayouts &b, ValueRange resultGradients,
                                   ArrayRef<bool> needed,
                                   SmallVectorImpl<Value> &operandGradients) {
  shareBetween(b, getLhs(), getRhs(), resultGradients[0], Predicate::gt, needed,
               operandGradients);
  return success();
}
LogicalResult MinOp::buildGradient(OpBuilderWithLayouts &b, ValueRange resultGradients,
                                   ArrayRef<bool> needed,
                                   SmallVectorImpl<Value> &operandGradients) {
  shareBetween(b, getLhs(), getRhs(), resultGradients[0], Predicate::lt, needed,
               operandGradients);
  return success();
}

LogicalResult ModOp::buildGradient(OpBuilderWithLayouts &b, ValueRange resultGradients,
                                   ArrayRef<bool> needed,
                                   SmallVectorImpl<Value> &operandGradients) {
  Value dy = resultGradients[0];
  if (needed[0])
    operandGradients[0] = sumToShape(b, dy, shapeOf(getLhs()));
  if (needed[1]) {
    // x - mod(x, y) is a whole multiple of y, and that multiple is constant.
    Value multiple = b.create<DivOp>(b.create<SubOp>(getLhs(), getResult()), getRhs());
    Value gradient = b.create<MulOp>(dy, b.create<RoundOp>(multiple));
    operandGradients[1] = b.create<NegOp>(sumToShape(b, gradient, shapeOf(getRhs())));
  }
  return success();
}

LogicalResult SelectOp::buildGradient(OpBuilderWithLayouts &b, ValueRange resultGradients,
                                      ArrayRef<bool> needed,
                                      SmallVectorImpl<Value> &operandGradients) {
  Value dy = resultGradients[0];
  if (needed[1]) {
    Value gradient = b.create<SelectOp>(getCondition(), dy, zeroBeside(b, dy));
    operandGradients[1] = sumToShape(b, gradient, shapeOf(getOnTrue()));
  }
  if (needed[2]) {
    Value gradient = b.create<SelectOp>(getCondition(), zeroBeside(b, dy), dy);
    operandGradients[2] = sumToShape(b, gradient, shapeOf(getOnFalse()));
  }
  return success();
}

} // namespace colrow
