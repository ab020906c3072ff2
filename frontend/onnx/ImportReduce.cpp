//===- ImportReduce.cpp - reductions --------------------------------------===//

#include "frontend/onnx/Model.h"
#include "frontend/onnx/OnnxNode.h"

using namespace mlir;

namespace colrow {

namespace {
struct Reduction {
  SmallVector<int64_t> axes; ///< empty: nothing is reduced
  bool keepdims = true;
};
} // namespace

/// Axes are an attribute before `opsetWithInput` and an operand from it on.
static Reduction reductionOf(OnnxNode &node, int64_t opsetWithInput) {
  Reduction result;
  result.keepdims = node.integer("keepdims", 1);
  SmallVector<int64_t> axes;
  if (auto given = node.integersOrAttribute("axes", 1, opsetWithInput))
    axes = *given;
  if (axes.empty() && !node.integer("noop_with_empty_axes", 0))
    result.axes = llvm::to_vector(llvm::seq<int64_t>(0, node.rank(0)));
  else
    result.axes = node.axes(axes, node.rank(0));
  return result;
}

/// All reductions but ReduceSum (opset 13) got their axes as an operand in opset 18.
constexpr int64_t axesAreInput = 18;

template <typename OpTy, int64_t opsetWithInput> static void buildReduce(OnnxNode &node) {
  Reduction reduction = reductionOf(node, opsetWithInput);
  node.set(node.b.reduce<OpTy>(node.in(0), reduction.axes, reduction.keepdims));
}

static void buildReduceMean(OnnxNode &node) {
  Reduction reduction = reductionOf(node, axesAreInput);
  int64_t count = 1;
  for (int64_t axis : reduction.axes)
    count *= shapeOf(node.in(0))[axis];
  Value sum = node.b.reduce<ReduceSumOp>(node.in(0), reduction.axes, reduction.keepdims);
  node.set(node.b.div(sum, static_cast<double>(count)));
}

static Value sumOf(OnnxNode &node, Value x) {
  Reduction reduction = reductionOf(node, axesAreInput);
  return node.b.reduce<ReduceSumOp>(x, reduction.axes, reduction.keepdims);
}
static Value square(OnnxNode &node) { return node.b.mul(node.in(0), node.in(0)); }

static void buildReduceL1(OnnxNode &node) {
  node.set(sumOf(node, node.b.create<AbsOp>({node.in(0)})));
}
static void buildReduceL2(OnnxNode &node) {
  node.set(node.b.create<SqrtOp>({sumOf(node, square(node))}));
}
static void buildReduceSumSquare(OnnxNode &node) { node.set(sumOf(node, square(node))); }
static void buildReduceLogSum(OnnxNode &node) {
  node.set(node.b.create<LogOp>({sumOf(node, node.in(0))}));
}

/// The maximum goes out of the exponential and comes back behind the logarithm; its gradients
/// cancel, so it counts as a constant.
static void buildReduceLogSumExp(OnnxNode &node) {
  FoldingBuilder &b = node.b;
  Reduction reduction = reductionOf(node, axesAreInput);
  if (reduction.axes.empty())
    return node.set(node.in(0));
  Value kept = b.create<StopGradientOp>({b.reduce<ReduceMaxOp>(node.in(0), reduction.axes, true)});
  Value exponentials = b.create<ExpOp>({b.sub(node.in(0), kept)});
  Value logarithm =
      b.create<LogOp>({b.reduce<ReduceSumOp>(exponentials, reduction.axes, reduction.keepdims)});
  node.set(b.add(logarithm, b.reshape(kept, shapeOf(logarithm))));
}

/// The index of the first (or last) element that equals the maximum or minimum.
template <typename ReduceTy> static void buildArg(OnnxNode &node) {
  FoldingBuilder &b = node.b;
  Value x = node.in(0);
  int64_t axis = node.axis(node.integer("axis", 0), rankOf(x)), size = shapeOf(x)[axis];
  bool keepdims = node.integer("keepdims", 1), last = node.integer("select_last_index", 0);
  SmallVector<int64_t> along(rankOf(x), 1);
  along[axis] = size;
  Value index = b.iota(along, axis, IntegerType::get(b.getContext(), 64));
  Value found = b.compare(Predicate::eq, x, b.reduce<ReduceTy>(x, {axis}, true));
  Value candidates = b.select(found, index, b.scalarLike(last ? -1. : double(size), index));
  node.set(last ? b.reduce<ReduceMaxOp>(candidates, {axis}, keepdims)
                : b.reduce<ReduceMinOp>(candidates, {axis}, keepdims));
}

static void buildCumSum(OnnxNode &node) {
  FoldingBuilder &b = node.b;
  SmallVector<NamedAttribute> attributes{
      b.integer("axis", node.axis(node.integerIn(1, "axis"), node.rank(0)))};
  for (const char *flag : {"exclusive", "reverse"})
    if (node.integer(flag, 0))
      attributes.push_back(b.unit(flag));
  node.set(b.create<CumSumOp>({node.in(0)}, attributes));
}

static constexpr OnnxOp ops[] = {
    {"ArgMax", minOpset, "n", buildArg<ReduceMaxOp>},
    {"ArgMin", minOpset, "n", buildArg<ReduceMinOp>},
    {"CumSum", minOpset, "si", buildCumSum},
    {"ReduceL1", minOpset, "sl", buildReduceL1},
    {"ReduceL2", minOpset, "fl", buildReduceL2},
    {"ReduceLogSum", minOpset, "fl", buildReduceLogSum},
    {"ReduceLogSumExp", minOpset, "fl", buildReduceLogSumExp},
    {"ReduceMax", minOpset, "al", buildReduce<ReduceMaxOp, axesAreInput>},
    {"ReduceMean", minOpset, "sl", buildReduceMean},
    {"ReduceMin", minOpset, "al", buildReduce<ReduceMinOp, axesAreInput>},
    {"ReduceProd", minOpset, "sl", buildReduce<ReduceProdOp, axesAreInput>},
    {"ReduceSum", minOpset, "sl", buildReduce<ReduceSumOp, 13>},
    {"ReduceSumSquare", minOpset, "sl", buildReduceSumSquare},
};

ArrayRef<OnnxOp> reduceOps() { return ops; }

} // namespace colrow
