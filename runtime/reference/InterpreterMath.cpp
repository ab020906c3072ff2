#include "runtime/reference/Einsum.h"
#include "runtime/reference/Elementwise.h"
#include "runtime/reference/InterpreterKernels.h"
#include "runtime/reference/Reduce.h"

using namespace mlir;

namespace colrow {

using reference::Precision;
using reference::Tensor;

namespace {
using Unary = Tensor (*)(const Tensor &, Precision);
using Binary = Tensor (*)(const Tensor &, const Tensor &, Precision);
using Logical = Tensor (*)(const Tensor &, const Tensor &);
} // namespace

static Unary unaryKernel(Operation *op) {
  return TypeSwitch<Operation *, Unary>(op)
      .Case<NegOp>([](auto) { return reference::neg; })
      .Case<AbsOp>([](auto) { return reference::abs; })
      .Case<ExpOp>([](auto) { return reference::exp; })
      .Case<LogOp>([](auto) { return reference::log; })
      .Case<SqrtOp>([](auto) { return reference::sqrt; })
      .Case<ReciprocalOp>([](auto) { return reference::reciprocal; })
      .Case<TanhOp>([](auto) { return reference::tanh; })
      .Case<ErfOp>([](auto) { return reference::erf; })
      .Case<SinOp>([](auto) { return reference::sin; })
      .Case<CosOp>([](auto) { return reference::cos; })
      .Case<SigmoidOp>([](auto) { return reference::sigmoid; })
      .Case<FloorOp>([](auto) { return reference::floor; })
      .Case<CeilOp>([](auto) { return reference::ceil; })
      .Case<RoundOp>([](auto) { return reference::round; })
      .Case<SignOp>([](auto) { return reference::sign; })
      .Default([](Operation *) { return nullptr; });
}

static Binary binaryKernel(Operation *op) {
  return TypeSwitch<Operation *, Binary>(op)
      .Case<AddOp>([](auto) { return reference::add; })
      .Case<SubOp>([](auto) { return reference::sub; })
      .Case<MulOp>([](auto) { return reference::mul; })
      .Case<DivOp>([](auto) { return reference::div; })
      .Case<PowOp>([](auto) { return reference::pow; })
      .Case<MaxOp>([](auto) { return reference::max; })
      .Case<MinOp>([](auto) { return reference::min; })
      .Case<ModOp>([](ModOp mod) { return mod.getFmod() ? reference::fmod : reference::mod; })
      .Default([](Operation *) { return nullptr; });
}

static Logical logicalKernel(Operation *op) {
  return TypeSwitch<Operation *, Logical>(op)
      .Case<AndOp>([](auto) { return reference::logicalAnd; })
      .Case<OrOp>([](auto) { return reference::logicalOr; })
      .Case<XorOp>([](auto) { return reference::logicalXor; })
      .Default([](Operation *) { return nullptr; });
}

static reference::Predicate toPredicate(Predicate predicate) {
  switch (predicate) {
  case Predicate::eq:
    return reference::Predicate::eq;
  case Predicate::ne:
    return reference::Predicate::ne;
  case Predicate::lt:
    return reference::Predicate::lt;
  case Predicate::le:
    return reference::Predicate::le;
  case Predicate::gt:
    return reference::Predicate::gt;
  case Predicate::ge:
    return reference::Predicate::ge;
  }
  llvm_unreachable("all predicates are translated");
}

std::optional<Tensors> evaluateMath(Operation *op, const Tensors &in, const Place &place) {
  Precision precision = place.precision;
  if (Unary kernel = unaryKernel(op))
    return Tensors{kernel(in[0], precision)};
  if (Binary kernel = binaryKernel(op))
    return Tensors{kernel(in[0], in[1], precision)};
  if (Logical kernel = logicalKernel(op))
    return Tensors{kernel(in[0], in[1])};
  return TypeSwitch<Operation *, std::optional<Tensors>>(op)
      .Case([&](NotOp) { return Tensors{reference::logicalNot(in[0])}; })
      .Case([&](IsNanOp) { return Tensors{reference::isNaN(in[0])}; })
      .Case([&](StopGradientOp) { return in; })
      .Case([&](CompareOp compare) {
        return Tensors{reference::compare(in[0], in[1], toPredicate(compare.getPredicate()))};
      })
      .Case([&](SelectOp) { return Tensors{reference::select(in[0], in[1], in[2])}; })
      .Case([&](CastOp cast) {
        return Tensors{reference::cast(in[0], toElementType(cast.getType()), precision)};
      })
      .Case([&](ReduceSumOp reduce) {
        return Tensors{
            reference::reduceSum(in[0], reduce.getAxes(), reduce.getKeepdims(), precision)};
      })
      .Case([&](ReduceProdOp reduce) {
        return Tensors{
            reference::reduceProd(in[0], reduce.getAxes(), reduce.getKeepdims(), precision)};
      })
      .Case([&](ReduceMaxOp reduce) {
        return Tensors{reference::reduceMax(in[0], reduce.getAxes(), reduce.getKeepdims())};
      })
      .Case([&](ReduceMinOp reduce) {
        return Tensors{reference::reduceMin(in[0], reduce.getAxes(), reduce.getKeepdims())};
      })
      .Case([&](CumSumOp cumsum) {
        return Tensors{reference::cumsum(in[0], cumsum.getAxis(), cumsum.getExclusive(),
                                         cumsum.getReverse(), precision)};
      })
      .Case([&](EinsumOp einsum) {
        return Tensors{reference::einsum(einsum.getEquation().str(), in[0], in[1], precision)};
      })
      .Default([](Operation *) { return std::nullopt; });
}

} // namespace colrow
