//===- Loops.cpp - elementwise operations as one loop nest ----------------===//

#include "passes/emit/FunctionEmitter.h"
#include "passes/lower/Elementwise.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace colrow {
namespace {

Type elementOf(Value value) { return cast<RankedTensorType>(value.getType()).getElementType(); }
bool isFloat(Value value) { return isa<FloatType>(elementOf(value)); }

/// The C++ expression of one elementwise operation.
std::string scalarExpression(Operation *op, ArrayRef<std::string> x) {
  bool floating = isFloat(op->getOperand(op->getNumOperands() - 1));
  auto infix = [&](StringRef symbol) { return fmt::format("{} {} {}", x[0], symbol.str(), x[1]); };
  auto math = [&](StringRef name) {
    return fmt::format("math::{}({})", name.str(), fmt::join(x.begin(), x.end(), ", "));
  };
  return llvm::TypeSwitch<Operation *, std::string>(op)
      .Case<NegOp>([&](auto) { return "-" + x[0]; })
      .Case<AbsOp>([&](auto) { return floating ? math("abs") : fmt::format("std::abs({})", x[0]); })
      .Case<ExpOp>([&](auto) { return math("exp"); })
      .Case<LogOp>([&](auto) { return math("log"); })
      .Case<SqrtOp>([&](auto) { return math("sqrt"); })
      .Case<ReciprocalOp>([&](auto) { return "1.0f / " + x[0]; })
      .Case<TanhOp>([&](auto) { return math("tanh"); })
      .Case<ErfOp>([&](auto) { return math("erf"); })
      .Case<SinOp>([&](auto) { return math("sin"); })
      .Case<CosOp>([&](auto) { return math("cos"); })
      .Case<SigmoidOp>([&](auto) { return math("sigmoid"); })
      .Case<FloorOp>([&](auto) { return math("floor"); })
      .Case<CeilOp>([&](auto) { return math("ceil"); })
      .Case<RoundOp>([&](auto) { return math("round"); })
      .Case<SignOp>([&](auto) {
        return floating ? math("sign") : fmt::format("int64_t({0} > 0) - int64_t({0} < 0)", x[0]);
      })
      .Case<NotOp>([&](auto) { return "!" + x[0]; })
      .Case<IsNanOp>([&](auto) { return fmt::format("{0} != {0}", x[0]); })
      .Case<StopGradientOp, BroadcastOp>([&](auto) { return x[0]; })
      .Case<AddOp>([&](auto) { return infix("+"); })
      .Case<SubOp>([&](auto) { return infix("-"); })
      .Case<MulOp>([&](auto) { return infix("*"); })
      .Case<DivOp>([&](auto) { return infix("/"); })
      .Case<PowOp>([&](auto) {
        return fmt::format("{}(std::pow({}, {}))", variableType(elementOf(op->getResult(0))), x[0],
                           x[1]);
      })
      .Case<MaxOp>([&](auto) {
        return floating ? math("maximum") : fmt::format("std::max({}, {})", x[0], x[1]);
      })
      .Case<MinOp>([&](auto) {
        return floating ? math("minimum") : fmt::format("std::min({}, {})", x[0], x[1]);
      })
      .Case<ModOp>([&](ModOp mod) {
        if (mod.getFmod())
          return floating ? fmt::format("std::fmod({}, {})", x[0], x[1]) : infix("%");
        return floating ? fmt::format("{0} - {1} * math::floor({0} / {1})", x[0], x[1])
                        : fmt::format("({0} % {1} + {1}) % {1}", x[0], x[1]);
      })
      .Case<AndOp>([&](auto) { return infix("&"); })
      .Case<OrOp>([&](auto) { return infix("|"); })
      .Case<XorOp>([&](auto) { return infix("^"); })
      .Case<CompareOp>([&](CompareOp compare) {
        static constexpr const char *symbols[] = {"==", "!=", "<", "<=", ">", ">="};
        return infix(symbols[static_cast<unsigned>(compare.getPredicate())]);
      })
      .Case<SelectOp>([&](auto) { return fmt::format("{} ? {} : {}", x[0], x[1], x[2]); })
      .Case<CastOp>([&](auto) {
        Type to = elementOf(op->getResult(0));
        return to.isInteger(1) ? x[0] + " != 0" : fmt::format("{}({})", variableType(to), x[0]);
      })
      .Case<GeluOp>([&](GeluOp gelu) {
        return math(gelu.getForm() == GeluForm::tanh ? "geluTanh" : "gelu");
      })
      .Case<GeluGradOp>([&](GeluGradOp gelu) {
        return fmt::format("{} * math::{}({})", x[0],
                           gelu.getForm() == GeluForm::tanh ? "geluTanhDerivative" : "geluDerivative",
                           x[1]);
      })
      .Case<SiluOp>([&](auto) { return math("silu"); })
      .Case<SiluGradOp>([&](auto) {
        return fmt::format("{} * math::siluDerivative({})", x[0], x[1]);
      })
      .DefaultUnreachable("an elementwise operation without an expression");
}

/// Reads or writes of one loop: the same pointer and strides are one access.
struct Access {
  std::string pointer, type, variable;
  SmallVector<int64_t> strides;
};

class LoopEmitter {
public:
  LoopEmitter(FunctionEmitter &e, const Step &step) : e(e), step(step) {}

  void run() {
    members.insert(step.ops.begin(), step.ops.end());
    std::vector<std::string> statements;
    for (Operation *op : step.ops) {
      std::vector<std::string> operands;
      for (Value operand : op->getOperands())
        operands.push_back(scalar(operand, shapeOf(op->getResult(0))));
      Value result = op->getResult(0);
      std::string variable = e.names.unique(e.names.base(result) + (e.plan.isStored(result) ? "_i" : ""));
      variables[result] = variable;
      statements.push_back(fmt::format("const {} {} = {};", variableType(elementOf(result)),
                                       variable, scalarExpression(op, operands)));
      if (e.plan.isStored(result))
        stores.push_back({e.pointer(result), "", variable,
                          stridesOver(step.shape, shapeOf(result), shapeOf(result),
                                      e.plan.place(result).strides)});
    }
    if (!stores.empty())
      print(statements);
  }

private:
  static ArrayRef<int64_t> shapeOf(Value value) {
    return cast<RankedTensorType>(value.getType()).getShape();
  }

  /// An element of an operand, for an operation whose result has this shape.
  std::string scalar(Value operand, ArrayRef<int64_t> result) {
    Value source = operand;
    while (true) {
      Operation *op = source.getDefiningOp();
      if (op && members.contains(op))
        return variables[source];
      bool sees = isa_and_nonnull<ReshapeOp>(op) ||
                  (isa_and_nonnull<BroadcastOp>(op) && !e.plan.hasPlace(source));
      if (!sees)
        break;
      source = op->getOperand(0);
    }
    auto constant = source.getDefiningOp<ConstantOp>();
    if (constant && !e.plan.hasPlace(source)) {
      auto elements = cast<DenseElementsAttr>(constant.getValue());
      std::string text = literal(elements, 0);
      // Literals of type int would pick other overloads.
      return elements.getElementType().isInteger(64) ? fmt::format("int64_t({})", text) : text;
    }
    SmallVector<int64_t> strides =
        stridesOver(step.shape, result, shapeOf(operand), e.plan.place(operand).strides);
    std::string pointer = e.pointer(operand);
    for (const Access &load : loads)
      if (load.pointer == pointer && load.strides == strides)
        return load.variable;
    std::string variable = e.names.unique(e.names.base(operand) + "_x");
    loads.push_back({pointer, variableType(elementOf(operand)), variable, strides});
    return variable;
  }

  /// Dimensions that every access walks through without a jump become one.
  void collapse() {
    shape = step.shape;
    for (size_t d = shape.size(); d-- > 1;) {
      auto joins = [&](const Access &access) {
        return access.strides[d - 1] == access.strides[d] * shape[d];
      };
      if (!llvm::all_of(loads, joins) || !llvm::all_of(stores, joins))
        continue;
      shape[d - 1] *= shape[d];
      shape.erase(shape.begin() + d);
      for (auto *accesses : {&loads, &stores})
        for (Access &access : *accesses)
          access.strides.erase(access.strides.begin() + d - 1);
    }
  }

  std::string element(const Access &access) {
    std::string index;
    for (size_t d = 0; d < shape.size(); ++d) {
      if (access.strides[d] == 0)
        continue;
      if (!index.empty())
        index += " + ";
      index += loopVariables[d];
      if (access.strides[d] != 1)
        index += fmt::format(" * {}", access.strides[d]);
    }
    std::string base = access.pointer;
    if (base.find(' ') != std::string::npos)
      base = "(" + base + ")";
    return fmt::format("{}[{}]", base, index.empty() ? "0" : index);
  }

  void print(ArrayRef<std::string> statements) {
    collapse();
    static constexpr const char *letters[] = {"i", "j", "k", "l", "m", "n"};
    for (size_t d = 0; d < shape.size(); ++d)
      loopVariables.push_back(d < 6 ? letters[d] : fmt::format("i{}", d));
    unsigned outer = e.indent;
    if (shape.empty())
      e.line("{");
    for (size_t d = 0; d < shape.size(); ++d) {
      if (d + 1 == shape.size())
        e.line("COLROW_INDEPENDENT");
      e.line(fmt::format("for (int64_t {0} = 0; {0} < {1}; ++{0}){2}", loopVariables[d], shape[d],
                         d + 1 == shape.size() ? " {" : ""));
      if (d + 1 < shape.size())
        e.indent += 2;
    }
    e.indent += 2;
    for (const Access &load : loads)
      e.line(fmt::format("const {} {} = {};", load.type, load.variable, element(load)));
    for (const std::string &statement : statements)
      e.line(statement);
    // After all loads: a store may be to the memory of one of them.
    for (const Access &store : stores)
      e.line(fmt::format("{} = {};", element(store), store.variable));
    e.indent -= 2;
    e.line("}");
    e.indent = outer;
  }

  FunctionEmitter &e;
  const Step &step;
  llvm::SmallPtrSet<Operation *, 8> members;
  DenseMap<Value, std::string> variables;
  std::vector<Access> loads, stores;
  SmallVector<int64_t> shape;
  std::vector<std::string> loopVariables;
};

} // namespace

void emitLoop(FunctionEmitter &e, const Step &step) { LoopEmitter(e, step).run(); }

} // namespace colrow
