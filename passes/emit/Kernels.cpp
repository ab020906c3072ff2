//===- Kernels.cpp - calls of the runtime's kernels -----------------------===//

#include "passes/emit/FunctionEmitter.h"
#include "passes/lower/Elementwise.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace colrow {
namespace {

ArrayRef<int64_t> shapeOf(Value value) { return cast<RankedTensorType>(value.getType()).getShape(); }

/// The global type of what a rank-dependent operation slices; its own where nothing is cut.
RankedTensorType globalOf(Operation *op, Value sliced) {
  if (auto global = op->getAttrOfType<TypeAttr>(ColrowDialect::globalAttrName))
    return cast<RankedTensorType>(global.getValue());
  return cast<RankedTensorType>(sliced.getType());
}

/// A shape with the dimensions before `axis` as one and those from it on as another.
SmallVector<int64_t> rows(ArrayRef<int64_t> shape, int64_t axis) {
  int64_t before = 1, behind = 1;
  for (auto [d, size] : llvm::enumerate(shape))
    (static_cast<int64_t>(d) < axis ? before : behind) *= size;
  return {before, behind};
}

std::string kernelOf(Operation *op) {
  return llvm::TypeSwitch<Operation *, std::string>(op)
      .Case<ReduceSumOp>([](auto) { return "reduceSum"; })
      .Case<ReduceMaxOp>([](auto) { return "reduceMax"; })
      .Case<ReduceMinOp>([](auto) { return "reduceMin"; })
      .Case<ReduceProdOp>([](auto) { return "reduceProd"; })
      .Default([](auto) { return ""; });
}

//===----------------------------------------------------------------------===//
// Products, reductions
//===----------------------------------------------------------------------===//

bool emitMath(FunctionEmitter &e, const Step &step) {
  Operation *op = step.ops[0];
  bool adds = step.kind == Step::accumulate;
  Value out = adds ? step.ops[1]->getResult(0) : op->getResult(0);
  if (auto einsum = dyn_cast<EinsumOp>(op)) {
    std::string lhs = e.view(einsum.getLhs()), rhs = e.view(einsum.getRhs());
    e.line(fmt::format("einsum(ctx, \"{}\", {}, {}, {}{});", einsum.getEquation().str(), lhs, rhs,
                       e.view(out), adds ? ", " + e.beta(step) : ""));
    return true;
  }
  std::string reduction = kernelOf(op);
  if (!reduction.empty()) {
    Value in = op->getOperand(0);
    auto axes = op->getAttrOfType<DenseI64ArrayAttr>("axes");
    std::string from = e.view(in);
    e.line(fmt::format("{}<{}>(ctx, {}, {}, {});", reduction, e.elementType(in), from,
                       braced(axes.asArrayRef()), e.view(out)));
    return true;
  }
  if (auto cumsum = dyn_cast<CumSumOp>(op)) {
    std::string from = e.view(cumsum.getInput());
    e.line(fmt::format("cumsum<{}>(ctx, {}, {}, {}, {}, {});", e.elementType(out), from,
                       cumsum.getAxis(), cumsum.getExclusive(), cumsum.getReverse(), e.view(out)));
    return true;
  }
  if (auto squares = dyn_cast<SumSquaresOp>(op)) {
    std::string from = e.view(squares.getInput());
    e.line(fmt::format("{}[0] = float(sumOfSquares(ctx, {}));", e.pointer(out), from));
    return true;
  }
  if (auto adamw = dyn_cast<AdamWOp>(op)) {
    std::string operands[6];
    for (unsigned i = 0; i < 4; ++i)
      operands[i] = e.view(adamw->getOperand(i));
    e.line(fmt::format("adamW(ctx, {}, {}, {}, {}, AdamWScalars(ConstTensor{}), {}, {}[0]);",
                       operands[0], operands[1], operands[2], operands[3],
                       e.view(adamw.getScalars()), adamw.getDecay(), e.pointer(adamw.getClip())));
    return true;
  }
  return false;
}

//===----------------------------------------------------------------------===//
// Shapes, lookups
//===----------------------------------------------------------------------===//

bool emitShape(FunctionEmitter &e, const Step &step) {
  Operation *op = step.ops[0];
  if (op->getNumResults() != 1)
    return false;
  Value out = op->getResult(0);
  std::string type = e.elementType(out);
  return llvm::TypeSwitch<Operation *, bool>(op)
      .Case<ReshapeOp>([&](ReshapeOp reshape) {
        std::string from = e.view(reshape.getInput());
        e.line(fmt::format("copy<{}>(ctx, {}, {});", type, from,
                           e.view(out, shapeOf(reshape.getInput()))));
        return true;
      })
      .Case<TransposeOp>([&](TransposeOp transpose) {
        std::string from = e.view(transpose.getInput());
        e.line(fmt::format("transpose<{}>(ctx, {}, {}, {});", type, from,
                           braced(transpose.getPermutation()), e.view(out)));
        return true;
      })
      .Case<SliceOp>([&](SliceOp slice) {
        std::string from = e.view(slice.getInput());
        e.line(fmt::format("slice<{}>(ctx, {}, {}, {}, {}, {});", type, from,
                           braced(slice.getStarts()), braced(slice.getLimits()),
                           braced(slice.getSteps()), e.view(out)));
        return true;
      })
      .Case<PadOp>([&](PadOp pad) {
        std::string from = e.view(pad.getInput());
        std::string value = literal(pad.getValue().convertToDouble());
        e.line(fmt::format("pad<{}>(ctx, {}, {}, {}, {}, {}, {});", type, from,
                           braced(pad.getLow()), braced(pad.getHigh()), braced(pad.getSteps()),
                           type == "float" ? value : fmt::format("{}({})", type, value),
                           e.view(out)));
        return true;
      })
      .Case<ConcatOp>([&](ConcatOp concat) {
        std::vector<std::string> parts;
        for (Value input : concat.getInputs())
          parts.push_back(fmt::format("ConstView<{}>{}", type, e.view(input)));
        e.line(fmt::format("concat<{}>(ctx, {{{}}}, {}, {});", type, fmt::join(parts, ", "),
                           concat.getDimension(), e.view(out)));
        return true;
      })
      .Case<IotaOp>([&](IotaOp iota) {
        int64_t dim = iota.getDimension();
        e.line(fmt::format("iota<{}>(ctx, {}, {}, 0, 1, {});", type, dim,
                           e.members.indexMap(globalOf(op, out), dim), e.view(out)));
        return true;
      })
      .Case<TakeOp>([&](TakeOp take) {
        std::string table = e.view(take.getTable()), ids = e.view(take.getIds());
        e.line(fmt::format("take<{}>(ctx, {}, {}, {}, {}, {});", type, table, ids, take.getAxis(),
                           e.members.indexMap(globalOf(op, take.getTable()), take.getAxis()),
                           e.view(out)));
        return true;
      })
      .Case<TakeAlongOp>([&](TakeAlongOp take) {
        std::string input = e.view(take.getInput()), ids = e.view(take.getIndices());
        e.line(fmt::format("takeAlong<{}>(ctx, {}, {}, {}, {}, {});", type, input, ids,
                           take.getAxis(),
                           e.members.indexMap(globalOf(op, take.getInput()), take.getAxis()),
                           e.view(out)));
        return true;
      })
      .Case<TakeGradOp, TakeAlongGradOp>([&](auto grad) {
        bool adds = step.kind == Step::accumulate;
        Value target = adds ? step.ops[1]->getResult(0) : out;
        Value indices = op->getOperand(0), gradient = op->getOperand(1);
        std::string from = e.view(gradient), ids = e.view(indices);
        e.line(fmt::format("{}(ctx, {}, {}, {}, {}, {}{});",
                           isa<TakeGradOp>(op) ? "takeGrad" : "takeAlongGrad", from, ids,
                           grad.getAxis(), e.members.indexMap(globalOf(op, out), grad.getAxis()),
                           e.view(target), adds ? ", " + e.beta(step) : ""));
        return true;
      })
      .Case<MaskPaddingOp>([&](MaskPaddingOp mask) {
        std::string from = e.view(mask.getInput());
        std::string value = literal(mask.getValue().convertToDouble());
        e.line(fmt::format("maskPadding<{}>(ctx, {}, {}, {}, {}, {}, {});", type, from,
                           mask.getDimension(),
                           e.members.indexMap(globalOf(op, mask.getInput()), mask.getDimension()),
                           mask.getValid(),
                           type == "float" ? value : fmt::format("{}({})", type, value),
                           e.view(out)));
        return true;
      })
      .Default([](auto) { return false; });
}

//===----------------------------------------------------------------------===//
// Neural networks
//===----------------------------------------------------------------------===//

/// The operands that all losses have, as text in the order of the kernels.
struct LossText {
  std::string labels, slice, count;
};

template <typename LossOp>
LossText lossText(FunctionEmitter &e, LossOp loss, Value cut, int64_t dim) {
  LossText text;
  text.labels = e.view(loss.getLabels(), loss.getLabels().getType().getNumElements());
  text.count = e.pointer(loss.getCount()) + "[0]";
  auto number = [](std::optional<APFloat> factor) { return factor ? factor->convertToDouble() : 0; };
  text.slice = e.members.vocabulary(globalOf(loss, cut), dim,
                                    {static_cast<int64_t>(loss.getValid()),
                                     static_cast<int64_t>(loss.getIgnore()),
                                     number(loss.getLabelSmoothing()), number(loss.getZLoss())});
  return text;
}

/// cross_entropy of logits [..., vocabulary]: with and without its log-sum-exp as a result.
template <typename LossOp>
void emitCrossEntropy(FunctionEmitter &e, LossOp loss, const std::string &logSumExp) {
  int64_t dim = loss.getLogits().getType().getRank() - 1;
  std::string logits = e.view(loss.getLogits(), rows(shapeOf(loss.getLogits()), dim));
  LossText text = lossText(e, loss, loss.getLogits(), dim);
  e.line(fmt::format("{}[0] = float(crossEntropy(ctx, {}, {}, {}, {}, {}));",
                     e.pointer(loss.getResult()), logits, text.labels, text.slice, text.count,
                     logSumExp));
}

template <typename NormOp>
void emitLayerNorm(FunctionEmitter &e, NormOp norm, const std::string &mean,
                   const std::string &rstd) {
  auto shape = rows(shapeOf(norm.getInput()), norm.getAxis());
  auto column = [&](Value value) { return value ? e.view(value, shape[1]) : std::string("{}"); };
  std::string from = e.view(norm.getInput(), shape), scale = column(norm.getScale()),
              bias = column(norm.getBias());
  e.line(fmt::format("layerNorm(ctx, {}, {}, {}, {}, {}, {}, {});", from, scale, bias,
                     norm.getEpsilon().convertToDouble(), e.view(norm.getResult(), shape), mean,
                     rstd));
}

void emitLayerNormGrad(FunctionEmitter &e, LayerNormGradOp norm) {
  auto shape = rows(shapeOf(norm.getInput()), norm.getAxis());
  auto column = [&](Value value) {
    return value && !value.use_empty() ? e.view(value, shape[1]) : std::string("{}");
  };
  std::string gradient = e.view(norm.getGradient(), shape), from = e.view(norm.getInput(), shape);
  std::string mean = e.view(norm.getMean(), shape[0]), rstd = e.view(norm.getRstd(), shape[0]);
  std::string scale = norm.getScale() ? e.view(norm.getScale(), shape[1]) : "{}";
  std::string out = e.view(norm.getInputGradient(), shape);
  std::string dscale = column(norm.getScaleGradient()), dbias = column(norm.getBiasGradient());
  e.line(fmt::format("layerNormGrad(ctx, {}, {}, {}, {}, {}, {}, {}, {});", gradient, from, scale,
                     mean, rstd, out, dscale, dbias));
}

template <typename NormOp>
void emitRmsNorm(FunctionEmitter &e, NormOp norm, const std::string &rstd) {
  auto shape = rows(shapeOf(norm.getInput()), norm.getAxis());
  std::string from = e.view(norm.getInput(), shape);
  std::string scale = norm.getScale() ? e.view(norm.getScale(), shape[1]) : "{}";
  e.line(fmt::format("rmsNorm(ctx, {}, {}, {}, {}, {});", from, scale,
                     norm.getEpsilon().convertToDouble(), e.view(norm.getResult(), shape), rstd));
}

void emitRmsNormGrad(FunctionEmitter &e, RmsNormGradOp norm) {
  auto shape = rows(shapeOf(norm.getInput()), norm.getAxis());
  std::string gradient = e.view(norm.getGradient(), shape), from = e.view(norm.getInput(), shape);
  std::string rstd = e.view(norm.getRstd(), shape[0]);
  std::string scale = norm.getScale() ? e.view(norm.getScale(), shape[1]) : "{}";
  std::string out = e.view(norm.getInputGradient(), shape);
  Value ofScale = norm.getScaleGradient();
  e.line(fmt::format("rmsNormGrad(ctx, {}, {}, {}, {}, {}, {});", gradient, from, scale, rstd, out,
                     ofScale.use_empty() ? "{}" : e.view(ofScale, shape[1])));
}

void emitDropout(FunctionEmitter &e, DropoutOp dropout) {
  std::string from = e.view(dropout.getInput());
  std::string site = dropoutSite(e, dropout, dropout.getRandom(), dropout.getId(),
                                 dropout.getRate().convertToDouble());
  e.line(fmt::format("dropout(ctx, {}, {}, {}, {});", from,
                     e.members.slices(globalOf(dropout, dropout.getInput())), site,
                     e.view(dropout.getResult())));
}

/// The logits that exist at one time.
std::string logitRows(FunctionEmitter &e, Operation *loss, const Step &step) {
  return e.workspace(step, 0, "logits", workspaceTypes(loss)[0].getShape());
}

void emitLinearLoss(FunctionEmitter &e, LinearCrossEntropyOp loss, const Step &step) {
  std::string input = e.view(loss.getInput(), rows(shapeOf(loss.getInput()),
                                                   loss.getInput().getType().getRank() - 1));
  std::string weight = e.view(loss.getWeight());
  LossText text = lossText(e, loss, loss.getWeight(), 0);
  std::string result = e.pointer(loss.getResult()), logits = logitRows(e, loss, step);
  e.line(fmt::format("{}[0] = float(linearCrossEntropy(ctx, {}, {}, {}, {}, {}, {}));", result,
                     input, weight, text.labels, text.slice, text.count, logits));
}

void emitLinearLossGrad(FunctionEmitter &e, LinearCrossEntropyWithGradOp loss, const Step &step) {
  auto shape = rows(shapeOf(loss.getInput()), loss.getInput().getType().getRank() - 1);
  bool adds = step.kind == Step::accumulate;
  Value sum = adds ? step.ops[1]->getResult(0) : Value(loss.getWeightGradient());
  std::string input = e.view(loss.getInput(), shape), weight = e.view(loss.getWeight());
  LossText text = lossText(e, loss, loss.getWeight(), 0);
  std::string dinput = e.view(loss.getInputGradient(), shape), dweight = e.view(sum);
  std::string result = e.pointer(loss.getResult()), logits = logitRows(e, loss, step);
  e.line(fmt::format("{}[0] = float(linearCrossEntropyGrad(ctx, {}, {}, {}, {}, {}, {}, {}, {}, {}));",
                     result, input, weight, text.labels, text.slice, text.count, dinput, dweight,
                     e.beta(step), logits));
}

bool emitNN(FunctionEmitter &e, const Step &step) {
  auto done = [](auto emit) {
    return [emit](auto op) {
      emit(op);
      return true;
    };
  };
  Operation *op = step.ops[0];
  return llvm::TypeSwitch<Operation *, bool>(op)
      .Case<SoftmaxOp>(done([&](SoftmaxOp softmax) {
        std::string from = e.view(softmax.getInput());
        e.line(fmt::format("softmax(ctx, {}, {}, {});", from, softmax.getAxis(),
                           e.view(softmax.getResult())));
      }))
      .Case<SoftmaxGradOp>(done([&](SoftmaxGradOp softmax) {
        std::string gradient = e.view(softmax.getGradient()), out = e.view(softmax.getOutput());
        e.line(fmt::format("softmaxGrad(ctx, {}, {}, {}, {});", gradient, out, softmax.getAxis(),
                           e.view(softmax.getResult())));
      }))
      .Case<LayerNormOp>(done([&](LayerNormOp norm) {
        int64_t count = rows(shapeOf(norm.getInput()), norm.getAxis())[0];
        std::string mean = e.workspace(step, 0, "mean", count);
        emitLayerNorm(e, norm, mean, e.workspace(step, 1, "rstd", count));
      }))
      .Case<LayerNormWithStatisticsOp>(done([&](LayerNormWithStatisticsOp norm) {
        int64_t count = rows(shapeOf(norm.getInput()), norm.getAxis())[0];
        std::string mean = e.view(norm.getMean(), count);
        emitLayerNorm(e, norm, mean, e.view(norm.getRstd(), count));
      }))
      .Case<LayerNormGradOp>(done([&](LayerNormGradOp norm) { emitLayerNormGrad(e, norm); }))
      .Case<RmsNormOp>(done([&](RmsNormOp norm) {
        int64_t count = rows(shapeOf(norm.getInput()), norm.getAxis())[0];
        emitRmsNorm(e, norm, e.workspace(step, 0, "rstd", count));
      }))
      .Case<RmsNormWithStatisticsOp>(done([&](RmsNormWithStatisticsOp norm) {
        int64_t count = rows(shapeOf(norm.getInput()), norm.getAxis())[0];
        emitRmsNorm(e, norm, e.view(norm.getRstd(), count));
      }))
      .Case<RmsNormGradOp>(done([&](RmsNormGradOp norm) { emitRmsNormGrad(e, norm); }))
      .Case<DropoutOp>(done([&](DropoutOp dropout) { emitDropout(e, dropout); }))
      .Case<CrossEntropyOp>(done([&](CrossEntropyOp loss) {
        int64_t tokens = loss.getLabels().getType().getNumElements();
        emitCrossEntropy(e, loss, e.workspace(step, 0, "log_sum_exp", tokens));
      }))
      .Case<CrossEntropyWithStatisticsOp>(done([&](CrossEntropyWithStatisticsOp loss) {
        emitCrossEntropy(e, loss, e.view(loss.getLogSumExp(),
                                         loss.getLabels().getType().getNumElements()));
      }))
      .Case<CrossEntropyGradOp>(done([&](CrossEntropyGradOp loss) {
        int64_t dim = loss.getLogits().getType().getRank() - 1;
        auto shape = rows(shapeOf(loss.getLogits()), dim);
        std::string dloss = e.pointer(loss.getGradient());
        std::string logits = e.view(loss.getLogits(), shape);
        LossText text = lossText(e, loss, loss.getLogits(), dim);
        std::string sums = e.view(loss.getLogSumExp(), shape[0]);
        e.line(fmt::format("crossEntropyGrad(ctx, {}[0], {}, {}, {}, {}, {}, {});", dloss, logits,
                           text.labels, text.slice, text.count, sums,
                           e.view(loss.getResult(), shape)));
      }))
      .Case<LinearCrossEntropyOp>(
          done([&](LinearCrossEntropyOp loss) { emitLinearLoss(e, loss, step); }))
      .Case<LinearCrossEntropyWithGradOp>(
          done([&](LinearCrossEntropyWithGradOp loss) { emitLinearLossGrad(e, loss, step); }))
      .Default([](auto) { return false; });
}

} // namespace

std::string dropoutSite(FunctionEmitter &e, Operation *op, Value random, int64_t id, double rate) {
  auto argument = op->getAttrOfType<IntegerAttr>("colrow.id_argument");
  std::string number = argument ? fmt::format("ids.begin()[{}]", argument.getInt())
                                : fmt::format("0x{:x}u", static_cast<uint64_t>(id));
  return fmt::format("dropoutSite({}, {}, {})", e.pointer(random), number, rate);
}

bool emitKernel(FunctionEmitter &e, const Step &step) {
  return emitMath(e, step) || emitShape(e, step) || emitNN(e, step) || emitAttention(e, step);
}

} // namespace colrow
