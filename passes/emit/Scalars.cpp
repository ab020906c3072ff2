//===- Scalars.cpp - elementwise operations as C++ expressions ------------===//

#include "passes/emit/Scalars.h"
#include "dialect/Colrow.h"
#include "passes/emit/Text.h"
#include "llvm/ADT/TypeSwitch.h"

#include <fmt/format.h>

using namespace mlir;

namespace colrow {
namespace {

Type elementOf(Value value) { return cast<RankedTensorType>(value.getType()).getElementType(); }

/// Pieces of expressions over the operands of one operation.
class Writer {
public:
  Writer(Operation *op, ArrayRef<Scalar> x)
      : op(op), x(x),
        floating(isa<FloatType>(elementOf(op->getOperand(op->getNumOperands() - 1)))) {}

  Scalar call(const std::string &function) const {
    std::vector<std::string> arguments;
    for (const Scalar &operand : x)
      arguments.push_back(operand.text);
    return {fmt::format("{}({})", function, fmt::join(arguments, ", "))};
  }
  Scalar math(const std::string &name) const { return call("math::" + name); }
  /// The runtime's function for floats, the library's for integers.
  Scalar math(const std::string &name, const std::string &integers) const {
    return floating ? math(name) : call(integers);
  }

  Scalar infix(const std::string &symbol, Binding binding) const {
    // What is on the right binds tighter, so that a - (b - c) keeps its meaning.
    auto tighter = static_cast<Binding>(static_cast<int>(binding) + 1);
    return {fmt::format("{} {} {}", x[0].in(binding), symbol, x[1].in(tighter)), binding};
  }
  /// Comparisons and bits: few know how tightly those bind.
  Scalar grouped(const std::string &symbol) const {
    return {fmt::format("{} {} {}", x[0].in(Binding::unary), symbol, x[1].in(Binding::unary)),
            Binding::weakest};
  }
  Scalar prefix(const std::string &symbol) const {
    return {symbol + x[0].in(Binding::atom), Binding::unary};
  }
  /// The gradient of a result times a derivative at the input.
  Scalar chain(const std::string &derivative) const {
    return {fmt::format("{} * math::{}({})", x[0].in(Binding::product), derivative, x[1].text),
            Binding::product};
  }
  /// A pattern of operands as {0}, {1}, {2}, which stand for themselves.
  Scalar pattern(fmt::string_view text, Binding binding) const {
    std::string a[3];
    for (size_t i = 0; i < x.size() && i < 3; ++i)
      a[i] = x[i].in(Binding::atom);
    return {fmt::format(fmt::runtime(text), a[0], a[1], a[2]), binding};
  }

  Scalar mod(ModOp op) const {
    if (op.getFmod())
      return floating ? call("std::fmod") : infix("%", Binding::product);
    return floating ? pattern("{0} - {1} * math::floor({0} / {1})", Binding::sum)
                    : pattern("({0} % {1} + {1}) % {1}", Binding::product);
  }
  Scalar sign() const {
    return floating ? math("sign")
                    : pattern("int64_t({0} > 0) - int64_t({0} < 0)", Binding::sum);
  }
  Scalar castTo(Type type) const {
    return type.isInteger(1) ? pattern("{0} != 0", Binding::weakest) : call(variableType(type));
  }
  Scalar power() const {
    return {fmt::format("{}({})", variableType(elementOf(op->getResult(0))), call("std::pow").text)};
  }

private:
  Operation *op;
  ArrayRef<Scalar> x;
  bool floating;
};

std::string comparison(CompareOp compare) {
  static constexpr const char *symbols[] = {"==", "!=", "<", "<=", ">", ">="};
  return symbols[static_cast<unsigned>(compare.getPredicate())];
}

} // namespace

Scalar scalarExpression(Operation *op, ArrayRef<Scalar> operands) {
  Writer w(op, operands);
  return llvm::TypeSwitch<Operation *, Scalar>(op)
      .Case<NegOp>([&](auto) { return w.prefix("-"); })
      .Case<NotOp>([&](auto) { return w.prefix("!"); })
      .Case<AbsOp>([&](auto) { return w.math("abs", "std::abs"); })
      .Case<ExpOp>([&](auto) { return w.math("exp"); })
      .Case<LogOp>([&](auto) { return w.math("log"); })
      .Case<SqrtOp>([&](auto) { return w.math("sqrt"); })
      .Case<ReciprocalOp>([&](auto) { return w.pattern("1.0f / {0}", Binding::product); })
      .Case<TanhOp>([&](auto) { return w.math("tanh"); })
      .Case<ErfOp>([&](auto) { return w.math("erf"); })
      .Case<SinOp>([&](auto) { return w.math("sin"); })
      .Case<CosOp>([&](auto) { return w.math("cos"); })
      .Case<SigmoidOp>([&](auto) { return w.math("sigmoid"); })
      .Case<FloorOp>([&](auto) { return w.math("floor"); })
      .Case<CeilOp>([&](auto) { return w.math("ceil"); })
      .Case<RoundOp>([&](auto) { return w.math("round"); })
      .Case<SignOp>([&](auto) { return w.sign(); })
      .Case<IsNanOp>([&](auto) { return w.pattern("{0} != {0}", Binding::weakest); })
      .Case<StopGradientOp, BroadcastOp>([&](auto) { return operands[0]; })
      .Case<AddOp>([&](auto) { return w.infix("+", Binding::sum); })
      .Case<SubOp>([&](auto) { return w.infix("-", Binding::sum); })
      .Case<MulOp>([&](auto) { return w.infix("*", Binding::product); })
      .Case<DivOp>([&](auto) { return w.infix("/", Binding::product); })
      .Case<PowOp>([&](auto) { return w.power(); })
      .Case<MaxOp>([&](auto) { return w.math("maximum", "std::max"); })
      .Case<MinOp>([&](auto) { return w.math("minimum", "std::min"); })
      .Case<ModOp>([&](ModOp mod) { return w.mod(mod); })
      .Case<AndOp>([&](auto) { return w.grouped("&"); })
      .Case<OrOp>([&](auto) { return w.grouped("|"); })
      .Case<XorOp>([&](auto) { return w.grouped("^"); })
      .Case<CompareOp>([&](CompareOp compare) { return w.grouped(comparison(compare)); })
      .Case<SelectOp>([&](auto) { return w.pattern("{} ? {} : {}", Binding::weakest); })
      .Case<CastOp>([&](auto) { return w.castTo(elementOf(op->getResult(0))); })
      .Case<GeluOp>([&](GeluOp gelu) {
        return w.math(gelu.getForm() == GeluForm::tanh ? "geluTanh" : "gelu");
      })
      .Case<GeluGradOp>([&](GeluGradOp gelu) {
        return w.chain(gelu.getForm() == GeluForm::tanh ? "geluTanhDerivative" : "geluDerivative");
      })
      .Case<SiluOp>([&](auto) { return w.math("silu"); })
      .Case<SiluGradOp>([&](auto) { return w.chain("siluDerivative"); })
      .DefaultUnreachable("an elementwise operation without an expression");
}

} // namespace colrow
