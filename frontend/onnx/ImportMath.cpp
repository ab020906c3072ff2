//===- ImportMath.cpp - elementwise operators -----------------------------===//

#include "frontend/onnx/Model.h"
#include "frontend/onnx/OnnxNode.h"

using namespace mlir;

namespace colrow {

template <typename OpTy> static void buildUnary(OnnxNode &node) {
  node.set(node.b.create<OpTy>({node.in(0)}));
}

template <typename OpTy> static void buildBinary(OnnxNode &node) {
  node.set(node.b.create<OpTy>({node.in(0), node.in(1)}));
}

template <typename OpTy> static void buildVariadic(OnnxNode &node) {
  Value result = node.in(0);
  for (size_t i = 1; i < node.numInputs(); ++i)
    result = node.b.create<OpTy>({result, node.in(i)});
  node.set(result);
}

static void buildMean(OnnxNode &node) {
  buildVariadic<AddOp>(node);
  if (node.numInputs() > 1)
    node.set(node.b.div(node.outputs()[0], static_cast<double>(node.numInputs())));
}

template <Predicate predicate> static void buildCompare(OnnxNode &node) {
  node.set(node.b.compare(predicate, node.in(0), node.in(1)));
}

static void buildPow(OnnxNode &node) { node.set(node.b.create<PowOp>({node.in(0), node.in(1)})); }

static void buildMod(OnnxNode &node) {
  SmallVector<NamedAttribute> attributes;
  if (node.integer("fmod", 0))
    attributes.push_back(node.b.unit("fmod"));
  else if (isa<FloatType>(node.element(0)))
    node.fail("expects fmod=1 for floating point operands");
  node.set(node.b.create<ModOp>({node.in(0), node.in(1)}, attributes));
}

static void buildWhere(OnnxNode &node) {
  node.set(node.b.select(node.in(0), node.in(1), node.in(2)));
}

static void buildCast(OnnxNode &node) {
  auto type = onnxElementType(static_cast<int32_t>(node.integer("to")));
  node.set(node.b.cast(node.in(0), fromElementType(node.b.getContext(), type)));
}

static void buildCastLike(OnnxNode &node) { node.set(node.b.cast(node.in(0), node.element(1))); }

static void buildIdentity(OnnxNode &node) { node.set(node.in(0)); }

static void buildTan(OnnxNode &node) {
  FoldingBuilder &b = node.b;
  node.set(b.div(b.create<SinOp>({node.in(0)}), b.create<CosOp>({node.in(0)})));
}

/// (e^x + sign e^-x) / 2
static Value buildHyperbolic(OnnxNode &node, double sign) {
  FoldingBuilder &b = node.b;
  Value minus = b.create<ExpOp>({b.create<NegOp>({node.in(0)})});
  return b.mul(b.add(b.create<ExpOp>({node.in(0)}), b.mul(minus, sign)), 0.5);
}
static void buildSinh(OnnxNode &node) { node.set(buildHyperbolic(node, -1)); }
static void buildCosh(OnnxNode &node) { node.set(buildHyperbolic(node, 1)); }

static void buildIsInf(OnnxNode &node) {
  FoldingBuilder &b = node.b;
  Value x = node.in(0);
  bool negative = node.integer("detect_negative", 1), positive = node.integer("detect_positive", 1);
  double infinity = std::numeric_limits<double>::infinity();
  if (negative && positive)
    x = b.create<AbsOp>({x});
  else if (!negative && !positive)
    return node.set(b.broadcast(b.constant(reference::Tensor::boolean(false)), shapeOf(x)));
  node.set(b.compare(Predicate::eq, x, negative && !positive ? -infinity : infinity));
}

/// Selects rather than takes maxima, so that values inside the bounds, and on them, have the whole
/// gradient, as in PyTorch.
static void buildClip(OnnxNode &node) {
  FoldingBuilder &b = node.b;
  Value x = node.in(0);
  if (node.has(1))
    x = b.select(b.compare(Predicate::lt, x, node.in(1)), node.in(1), x);
  if (node.has(2))
    x = b.select(b.compare(Predicate::gt, x, node.in(2)), node.in(2), x);
  node.set(x);
}

static constexpr OnnxOp ops[] = {
    {"Abs", minOpset, "n", buildUnary<AbsOp>},
    {"Add", minOpset, "NN", buildBinary<AddOp>},
    {"And", minOpset, "bb", buildBinary<AndOp>},
    {"Cast", minOpset, "a", buildCast},
    {"CastLike", 15, "aa", buildCastLike},
    {"Ceil", minOpset, "f", buildUnary<CeilOp>},
    {"Clip", minOpset, "NNN", buildClip},
    {"Cos", minOpset, "f", buildUnary<CosOp>},
    {"Cosh", minOpset, "f", buildCosh},
    {"Div", minOpset, "NN", buildBinary<DivOp>},
    {"Equal", minOpset, "AA", buildCompare<Predicate::eq>},
    {"Erf", minOpset, "f", buildUnary<ErfOp>},
    {"Exp", minOpset, "f", buildUnary<ExpOp>},
    {"Floor", minOpset, "f", buildUnary<FloorOp>},
    {"Greater", minOpset, "NN", buildCompare<Predicate::gt>},
    {"GreaterOrEqual", 12, "NN", buildCompare<Predicate::ge>},
    {"Identity", minOpset, "a", buildIdentity},
    {"IsInf", minOpset, "f", buildIsInf},
    {"IsNaN", minOpset, "f", buildUnary<IsNanOp>},
    {"Less", minOpset, "NN", buildCompare<Predicate::lt>},
    {"LessOrEqual", 12, "NN", buildCompare<Predicate::le>},
    {"Log", minOpset, "f", buildUnary<LogOp>},
    {"Max", minOpset, "N*", buildVariadic<MaxOp>},
    {"Mean", minOpset, "F*", buildMean},
    {"Min", minOpset, "N*", buildVariadic<MinOp>},
    {"Mod", minOpset, "NN", buildMod},
    {"Mul", minOpset, "NN", buildBinary<MulOp>},
    {"Neg", minOpset, "s", buildUnary<NegOp>},
    {"Not", minOpset, "b", buildUnary<NotOp>},
    {"Or", minOpset, "bb", buildBinary<OrOp>},
    {"Pow", minOpset, "sn", buildPow},
    {"Reciprocal", minOpset, "f", buildUnary<ReciprocalOp>},
    {"Round", minOpset, "f", buildUnary<RoundOp>},
    {"Sign", minOpset, "n", buildUnary<SignOp>},
    {"Sin", minOpset, "f", buildUnary<SinOp>},
    {"Sinh", minOpset, "f", buildSinh},
    {"Sqrt", minOpset, "f", buildUnary<SqrtOp>},
    {"Sub", minOpset, "NN", buildBinary<SubOp>},
    {"Sum", minOpset, "F*", buildVariadic<AddOp>},
    {"Tan", minOpset, "f", buildTan},
    {"Tanh", minOpset, "f", buildUnary<TanhOp>},
    {"Where", minOpset, "bAA", buildWhere},
    {"Xor", minOpset, "bb", buildBinary<XorOp>},
};

ArrayRef<OnnxOp> mathOps() { return ops; }

} // namespace colrow
