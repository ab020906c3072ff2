//===- DecompositionsNN.cpp - big operations in primitive ones ------------===//
//
// These define what the big operations mean; kernels are tested against them.
//
//===----------------------------------------------------------------------===//

#include "dialect/Expressions.h"

using namespace mlir;

namespace colrow {

using Decomposition = FailureOr<SmallVector<Value>>;

//===----------------------------------------------------------------------===//
// Activations
//===----------------------------------------------------------------------===//

namespace {
/// GELU is x times a probability: of the normal distribution, or nearly so with tanh.
struct GeluCurve {
  GeluCurve(Expressions &e, GeluForm form, Value x) {
    if (form == GeluForm::erf) {
      inner = e.mul(x, std::sqrt(0.5));
      curve = e.apply<ErfOp>(inner);
    } else {
      Value cubic = e.add(x, e.mul(e.mul(e.square(x), x), cubicWeight));
      curve = e.apply<TanhOp>(e.mul(cubic, innerScale));
    }
    probability = e.mul(e.add(curve, 1), 0.5);
  }

  /// The derivative of `probability` by x.
  Value density(Expressions &e, GeluForm form, Value x) {
    if (form == GeluForm::erf)
      return e.mul(e.apply<ExpOp>(e.apply<NegOp>(e.square(inner))), std::sqrt(0.5 / M_PI));
    Value slope = e.mul(e.add(e.mul(e.square(x), 3 * cubicWeight), 1), 0.5 * innerScale);
    return e.mul(e.sub(1, e.square(curve)), slope);
  }

  const double cubicWeight = 0.044715, innerScale = std::sqrt(2 / M_PI);
  Value inner, curve, probability;
};
} // namespace

Decomposition GeluOp::decompose(OpBuilderWithLayouts &b) {
  Expressions e(b, getInput().getType());
  return SmallVector<Value>{
      e.mul(getInput(), GeluCurve(e, getForm(), getInput()).probability)};
}

Decomposition GeluGradOp::decompose(OpBuilderWithLayouts &b) {
  Value x = getInput();
  Expressions e(b, x.getType());
  GeluCurve gelu(e, getForm(), x);
  Value slope = e.add(gelu.probability, e.mul(x, gelu.density(e, getForm(), x)));
  return SmallVector<Value>{e.mul(getGradient(), slope)};
}

Decomposition SiluOp::decompose(OpBuilderWithLayouts &b) {
  Expressions e(b, getInput().getType());
  return SmallVector<Value>{e.mul(getInput(), e.apply<SigmoidOp>(getInput()))};
}

Decomposition SiluGradOp::decompose(OpBuilderWithLayouts &b) {
  Value x = getInput();
  Expressions e(b, x.getType());
  Value sigmoid = e.apply<SigmoidOp>(x);
  Value slope = e.mul(sigmoid, e.add(e.mul(x, e.sub(1, sigmoid)), 1));
  return SmallVector<Value>{e.mul(getGradient(), slope)};
}

//===----------------------------------------------------------------------===//
// Softmax and norms
//===----------------------------------------------------------------------===//

Decomposition SoftmaxOp::decompose(OpBuilderWithLayouts &b) {
  Value x = getInput();
  Expressions e(b, x.getType());
  SmallVector<int64_t> axes{static_cast<int64_t>(getAxis())};
  // Any shift gives the same result, so the maximum is a constant for differentiation.
  Value maximum = b.create<ReduceMaxOp>(e.apply<StopGradientOp>(x), axes, /*keepdims=*/true);
  Value exp = e.apply<ExpOp>(e.sub(x, maximum));
  return SmallVector<Value>{e.div(exp, e.sum(exp, axes, /*keepdims=*/true))};
}

Decomposition SoftmaxGradOp::decompose(OpBuilderWithLayouts &b) {
  Expressions e(b, getOutput().getType());
  Value dy = getGradient(), y = getOutput();
  Value sum = e.sum(e.mul(dy, y), {static_cast<int64_t>(getAxis())}, /*keepdims=*/true);
  return SmallVector<Value>{e.mul(e.sub(dy, sum), y)};
}

namespace {
/// The formulas of norms over the dimensions of `input` from `axis` on. Without a mean, rows are
/// not centred.
class Norm {
public:
  Norm(OpBuilderWithLayouts &b, Value input, int64_t axis)
      : b(b), e(b, input.getType()), x(input), type(cast<RankedTensorType>(input.getType())),
        axes(llvm::to_vector(llvm::seq<int64_t>(axis, type.getRank()))),
        rows(llvm::to_vector(llvm::seq<int64_t>(0, axis))) {}

  /// Over the normalised dimensions, which stay as dimensions of size 1.
  Value mean(Value value) {
    double count = 1;
    for (int64_t axis : axes)
      count *= type.getDimSize(axis);
    return e.div(e.sum(value, axes, /*keepdims=*/true), count);
  }

  void computeStatistics(double epsilon) {
    meanOfRow = mean(x);
    Value variance = mean(e.square(e.sub(x, meanOfRow)));
    rstdOfRow = e.apply<ReciprocalOp>(e.apply<SqrtOp>(e.add(variance, epsilon)));
  }
  void computeRootMeanSquare(double epsilon) {
    rstdOfRow = e.apply<ReciprocalOp>(e.apply<SqrtOp>(e.add(mean(e.square(x)), epsilon)));
  }
  void setStatistics(Value mean, Value rstd) {
    if (mean)
      meanOfRow = keepReducedDims(b, mean, type.getShape(), axes);
    rstdOfRow = keepReducedDims(b, rstd, type.getShape(), axes);
  }

  Value normalised() { return e.mul(meanOfRow ? e.sub(x, meanOfRow) : x, rstdOfRow); }
  Value scaled(Value scale, Value bias) {
    Value result = normalised();
    if (scale)
      result = e.mul(result, scale);
    return bias ? e.add(result, bias) : result;
  }

  /// A statistic without the normalised dimensions.
  Value ofRows(Value statistic) {
    return b.create<ReshapeOp>(
        RankedTensorType::get(type.getShape().take_front(rows.size()), type.getElementType()),
        statistic);
  }

  OpBuilderWithLayouts &b;
  Expressions e;
  Value x;
  RankedTensorType type;
  SmallVector<int64_t> axes, rows;
  Value meanOfRow, rstdOfRow;
};
} // namespace

Decomposition LayerNormOp::decompose(OpBuilderWithLayouts &b) {
  Norm norm(b, getInput(), getAxis());
  norm.computeStatistics(getEpsilon().convertToDouble());
  return SmallVector<Value>{norm.scaled(getScale(), getBias())};
}

Decomposition LayerNormWithStatisticsOp::decompose(OpBuilderWithLayouts &b) {
  Norm norm(b, getInput(), getAxis());
  norm.computeStatistics(getEpsilon().convertToDouble());
  return SmallVector<Value>{norm.scaled(getScale(), getBias()), norm.ofRows(norm.meanOfRow),
                            norm.ofRows(norm.rstdOfRow)};
}

Decomposition LayerNormGradOp::decompose(OpBuilderWithLayouts &b) {
  Norm norm(b, getInput(), getAxis());
  norm.setStatistics(getMean(), getRstd());
  Expressions &e = norm.e;
  Value dy = getGradient(), normalised = norm.normalised();
  // What changes mean or variance does not change the normalised row.
  Value scaled = getScale() ? e.mul(dy, getScale()) : dy;
  Value shift = norm.mean(scaled);
  Value stretch = e.mul(norm.mean(e.mul(scaled, normalised)), normalised);
  Value dx = e.mul(e.sub(e.sub(scaled, shift), stretch), norm.rstdOfRow);
  return SmallVector<Value>{dx, e.sum(e.mul(dy, normalised), norm.rows, /*keepdims=*/false),
                            e.sum(dy, norm.rows, /*keepdims=*/false)};
}

//===----------------------------------------------------------------------===//
// RMS norm
//===----------------------------------------------------------------------===//

Decomposition RmsNormOp::decompose(OpBuilderWithLayouts &b) {
  Norm norm(b, getInput(), getAxis());
  norm.computeRootMeanSquare(getEpsilon().convertToDouble());
  return SmallVector<Value>{norm.scaled(getScale(), {})};
}

Decomposition RmsNormWithStatisticsOp::decompose(OpBuilderWithLayouts &b) {
  Norm norm(b, getInput(), getAxis());
  norm.computeRootMeanSquare(getEpsilon().convertToDouble());
  return SmallVector<Value>{norm.scaled(getScale(), {}), norm.ofRows(norm.rstdOfRow)};
}

Decomposition RmsNormGradOp::decompose(OpBuilderWithLayouts &b) {
  Norm norm(b, getInput(), getAxis());
  norm.setStatistics({}, getRstd());
  Expressions &e = norm.e;
  Value dy = getGradient(), normalised = norm.normalised();
  // What stretches a row does not change the normalised one.
  Value scaled = getScale() ? e.mul(dy, getScale()) : dy;
  Value stretch = e.mul(norm.mean(e.mul(scaled, normalised)), normalised);
  return SmallVector<Value>{e.mul(e.sub(scaled, stretch), norm.rstdOfRow),
                            e.sum(e.mul(dy, normalised), norm.rows, /*keepdims=*/false)};
}

} // namespace colrow
