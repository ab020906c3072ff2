//===- OpsMath.cpp - elementwise operations and reductions ----------------===//

#include "frontend/dsl/OpCall.h"

using namespace mlir;

namespace colrow::dsl {

//===----------------------------------------------------------------------===//
// Operators
//===----------------------------------------------------------------------===//

static bool isFloat(Value value) { return isa<FloatType>(elementOf(value)); }
static bool isTruth(Value value) { return elementOf(value).isInteger(1); }

/// Both operands, a number as a tensor of the other's type.
static std::pair<Value, Value> operandsOf(OpCall &call) {
  const Value *left = call.given("left").value.as<Value>();
  const Value *right = call.given("right").value.as<Value>();
  auto asTensor = [&](StringRef name, Value like) {
    const Number *number = call.given(name).value.as<Number>();
    if (number && !number->isInteger && !isFloat(like))
      call.fail(name, "a tensor of integers meets " + numberText(*number) +
                          "; make it one of floating type: 'float(x)'");
    return call.tensorLike(name, like);
  };
  Value a = left ? *left : asTensor("left", *right);
  Value b = right ? *right : asTensor("right", *left);
  if (elementOf(a) != elementOf(b))
    call.fail("'" + call.op + "' expects one element type, got: " +
              describe(call.given("left").value) + " and " + describe(call.given("right").value));
  return {a, b};
}

Value buildBinary(OpCall &call, StringRef op) {
  FoldingBuilder &b = call.b;
  auto [left, right] = operandsOf(call);
  bool isLogic = op == "and" || op == "or";
  bool comparesOnly = op == "==" || op == "!=";
  if (isLogic != isTruth(left) && !comparesOnly)
    call.fail(isLogic ? "'" + op +
                            "' expects tensors of bool, got: " + describe(call.given("left").value)
                      : "'" + op + "' expects numbers, got: " + describe(call.given("left").value) +
                            "; 'float(x)' makes numbers of it");
  static const std::pair<StringLiteral, Predicate> predicates[] = {
      {"==", Predicate::eq}, {"!=", Predicate::ne}, {"<", Predicate::lt},
      {"<=", Predicate::le}, {">", Predicate::gt},  {">=", Predicate::ge}};
  for (const auto &[symbol, predicate] : predicates)
    if (op == symbol)
      return b.compare(predicate, left, right);
  if (op == "+")
    return b.add(left, right);
  if (op == "-")
    return b.sub(left, right);
  if (op == "*")
    return b.mul(left, right);
  if (op == "/")
    return b.div(left, right);
  if (op == "%")
    return b.create<ModOp>({left, right});
  if (op == "**")
    return b.create<PowOp>({left, right});
  if (op == "and")
    return b.create<AndOp>({left, right});
  assert(op == "or" && "an operator of the grammar");
  return b.create<OrOp>({left, right});
}

Value buildUnary(OpCall &call, StringRef op) {
  Value x = call.tensor("x");
  if (op == "not") {
    if (!isTruth(x))
      call.fail("x", "'not' expects a tensor of bool, got: " + describe(call.given("x").value));
    return call.b.create<NotOp>({x});
  }
  if (isTruth(x))
    call.fail("x", "'-' expects numbers, got: " + describe(call.given("x").value));
  return call.b.create<NegOp>({x});
}

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

template <typename OpTy> static Datum buildFloatUnary(OpCall &call) {
  return datumOf(call.b.create<OpTy>({call.floats("x")}));
}

static Datum buildAbs(OpCall &call) { return datumOf(call.b.create<AbsOp>({call.tensor("x")})); }

/// x where it is positive (or NaN), else 0. PyTorch's gradient at 0 is 0.
static Datum buildRelu(OpCall &call) {
  Value x = call.floats("x");
  return datumOf(call.b.select(call.b.compare(Predicate::le, x, 0), call.b.scalarLike(0, x), x));
}

static Datum buildRsqrt(OpCall &call) {
  FoldingBuilder &b = call.b;
  return datumOf(b.create<ReciprocalOp>({b.create<SqrtOp>({call.floats("x")})}));
}

static Datum buildGelu(OpCall &call) {
  std::string form = call.text("approximate");
  if (form != "none" && form != "tanh")
    call.fail("approximate", "known are \"none\" and \"tanh\"");
  auto attribute =
      GeluFormAttr::get(call.b.getContext(), form == "tanh" ? GeluForm::tanh : GeluForm::erf);
  return datumOf(call.b.create<GeluOp>({call.floats("x")}, {call.b.attr("form", attribute)}));
}

template <typename OpTy> static Datum buildExtreme(OpCall &call) {
  auto [a, b] = operandsOf(call);
  return datumOf(call.b.create<OpTy>({a, b}));
}

static Datum buildWhere(OpCall &call) {
  FoldingBuilder &b = call.b;
  Value condition = call.tensor("condition");
  if (!isTruth(condition))
    call.fail("condition",
              "'where' expects a tensor of bool, got: " + describe(call.given("condition").value));
  Type f32 = Float32Type::get(b.getContext());
  auto choice = [&](StringRef name, StringRef other) {
    const Number *number = call.given(name).value.as<Number>();
    if (!number)
      return call.tensor(name);
    const Value *like = call.given(other).value.as<Value>();
    return b.scalar(number->value(), like ? elementOf(*like) : f32);
  };
  Value x = choice("x", "y"), y = choice("y", "x");
  if (elementOf(x) != elementOf(y))
    call.fail("'where' chooses between values of one element type, got: " +
              describe(call.given("x").value) + " and " + describe(call.given("y").value));
  return datumOf(b.select(condition, x, y));
}

static Datum castTo(OpCall &call, Type element) {
  return datumOf(call.b.cast(call.tensor("x"), element));
}
static Datum buildFloat(OpCall &call) {
  return castTo(call, Float32Type::get(call.b.getContext()));
}
static Datum buildInt(OpCall &call) {
  return castTo(call, IntegerType::get(call.b.getContext(), 64));
}
static Datum buildBool(OpCall &call) {
  return castTo(call, IntegerType::get(call.b.getContext(), 1));
}

//===----------------------------------------------------------------------===//
// Reductions
//===----------------------------------------------------------------------===//

template <typename OpTy> static Datum buildReduce(OpCall &call) {
  Value x = call.tensor("x");
  if (isTruth(x))
    call.fail("x", "'" + call.op + "' expects numbers, got: " + describe(call.given("x").value));
  return datumOf(call.b.reduce<OpTy>(x, call.axes("dim", rankOf(x)), call.truth("keepdim")));
}

static Datum buildMean(OpCall &call) {
  Value x = call.floats("x");
  SmallVector<int64_t> axes = call.axes("dim", rankOf(x));
  double count = 1;
  for (int64_t axis : axes)
    count *= static_cast<double>(shapeOf(x)[axis]);
  return datumOf(call.b.div(call.b.reduce<ReduceSumOp>(x, axes, call.truth("keepdim")), count));
}

static constexpr Op ops[] = {
    {"abs", "x", buildAbs, "absolute value"},
    {"bool", "x", buildBool, "whether an element is not 0"},
    {"cos", "x", buildFloatUnary<CosOp>, "cosine, of radians"},
    {"detach", "x", buildFloatUnary<StopGradientOp>, "x, as a constant for the backward pass"},
    {"erf", "x", buildFloatUnary<ErfOp>, "error function"},
    {"exp", "x", buildFloatUnary<ExpOp>, "e to the x"},
    {"float", "x", buildFloat, "x in float32"},
    {"gelu", "x, approximate=\"none\"", buildGelu,
     "Gaussian error linear unit, by erf (`\"none\"`) or by `\"tanh\"`"},
    {"int", "x", buildInt, "x in int64, rounded toward 0"},
    {"log", "x", buildFloatUnary<LogOp>, "natural logarithm"},
    {"max", "x, dim, keepdim=false", buildReduce<ReduceMaxOp>, "largest element along dim"},
    {"maximum", "left, right", buildExtreme<MaxOp>, "the larger of two elements"},
    {"mean", "x, dim, keepdim=false", buildMean, "mean along dim"},
    {"min", "x, dim, keepdim=false", buildReduce<ReduceMinOp>, "smallest element along dim"},
    {"minimum", "left, right", buildExtreme<MinOp>, "the smaller of two elements"},
    {"relu", "x", buildRelu, "x where it is positive, else 0"},
    {"rsqrt", "x", buildRsqrt, "1 / sqrt(x)"},
    {"sigmoid", "x", buildFloatUnary<SigmoidOp>, "1 / (1 + exp(-x))"},
    {"silu", "x", buildFloatUnary<SiluOp>, "x sigmoid(x)"},
    {"sin", "x", buildFloatUnary<SinOp>, "sine, of radians"},
    {"sqrt", "x", buildFloatUnary<SqrtOp>, "square root"},
    {"sum", "x, dim, keepdim=false", buildReduce<ReduceSumOp>, "sum along dim"},
    {"tanh", "x", buildFloatUnary<TanhOp>, "hyperbolic tangent"},
    {"where", "condition, x, y", buildWhere, "x where the condition holds, else y"},
};

ArrayRef<Op> mathOps() { return ops; }

} // namespace colrow::dsl
