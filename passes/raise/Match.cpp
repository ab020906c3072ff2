//===- Match.cpp - what recognisers look for ------------------------------===//

#include "passes/raise/Match.h"
#include "runtime/reference/Interpreter.h"
#include "runtime/reference/InterpreterTypes.h"

#include <cfloat>
#include <cmath>

using namespace mlir;

namespace colrow {

//===----------------------------------------------------------------------===//
// Numbers
//===----------------------------------------------------------------------===//

std::optional<double> numberOf(Value value) {
  auto constant = value.getDefiningOp<ConstantOp>();
  auto splat = constant ? dyn_cast<SplatElementsAttr>(constant.getValue()) : SplatElementsAttr();
  if (!splat || !isa<FloatType>(splat.getElementType()))
    return std::nullopt;
  return splat.getSplatValue<APFloat>().convertToDouble();
}

bool isAbout(double number, double expected) {
  // A product of two rounded numbers is off by as much as two roundings.
  return std::abs(number - expected) <= FLT_EPSILON * std::abs(expected);
}

std::optional<Scaled> scaledOf(Value value) {
  auto scaled = [&](Value x, double factor) -> std::optional<Scaled> {
    // The number must not broadcast x.
    return x.getType() == value.getType() ? std::optional(Scaled{x, factor}) : std::nullopt;
  };
  if (auto mul = value.getDefiningOp<MulOp>()) {
    if (std::optional<double> number = numberOf(mul.getRhs()))
      return scaled(mul.getLhs(), *number);
    if (std::optional<double> number = numberOf(mul.getLhs()))
      return scaled(mul.getRhs(), *number);
  }
  if (auto div = value.getDefiningOp<DivOp>())
    if (std::optional<double> number = numberOf(div.getRhs()))
      return scaled(div.getLhs(), 1 / *number);
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Polynomials
//===----------------------------------------------------------------------===//

bool isAbout(const Polynomial &polynomial, const Polynomial &expected) {
  return polynomial.size() == expected.size() &&
         llvm::all_of(llvm::zip(polynomial, expected), [](const auto &terms) {
           auto &[term, other] = terms;
           return term.first == other.first && isAbout(term.second, other.second);
         });
}

namespace {
/// Products of higher degree are of no formula here.
constexpr int maxDegree = 6;
/// Operations between a formula's result and its variable.
constexpr int maxDepth = 12;

std::optional<Polynomial> sum(const Polynomial &a, const Polynomial &b, double factor) {
  Polynomial result = a;
  for (auto [power, coefficient] : b) {
    double &total = result[power];
    total += factor * coefficient;
    if (total == 0)
      result.erase(power);
  }
  return result;
}

std::optional<Polynomial> product(const Polynomial &a, const Polynomial &b) {
  Polynomial result;
  for (auto [p, x] : a)
    for (auto [q, y] : b) {
      std::pair<int, int> power{p.first + q.first, p.second + q.second};
      if (power.first + power.second > maxDegree)
        return std::nullopt;
      result[power] += x * y;
    }
  return result;
}

class PolynomialFinder {
public:
  PolynomialFinder(Value x, Value y) : x(x), y(y) {}

  std::optional<Polynomial> find(Value value, int depth = 0) {
    if (value == x)
      return Polynomial{{{1, 0}, 1}};
    if (value == y)
      return Polynomial{{{0, 1}, 1}};
    if (std::optional<double> number = numberOf(value))
      return Polynomial{{{0, 0}, *number}};
    Operation *op = value.getDefiningOp();
    if (!op || depth > maxDepth || !isa<AddOp, SubOp, MulOp, DivOp, PowOp, NegOp>(op))
      return std::nullopt;
    std::optional<Polynomial> lhs = find(op->getOperand(0), depth + 1);
    if (!lhs)
      return std::nullopt;
    if (isa<NegOp>(op))
      return sum({}, *lhs, -1);
    if (isa<PowOp>(op))
      return power(*lhs, numberOf(op->getOperand(1)));
    std::optional<Polynomial> rhs = find(op->getOperand(1), depth + 1);
    if (!rhs)
      return std::nullopt;
    if (isa<AddOp, SubOp>(op))
      return sum(*lhs, *rhs, isa<AddOp>(op) ? 1 : -1);
    if (isa<MulOp>(op))
      return product(*lhs, *rhs);
    bool byNumber = rhs->size() == 1 && rhs->begin()->first == std::pair(0, 0);
    return byNumber ? product(*lhs, {{{0, 0}, 1 / rhs->begin()->second}}) : std::nullopt;
  }

private:
  static std::optional<Polynomial> power(const Polynomial &base, std::optional<double> exponent) {
    if (!exponent || *exponent != std::floor(*exponent) || *exponent < 1 || *exponent > maxDegree)
      return std::nullopt;
    std::optional<Polynomial> result = base;
    for (int i = 1; i < *exponent && result; ++i)
      result = product(*result, base);
    return result;
  }

  Value x, y;
};
} // namespace

std::optional<Polynomial> polynomialOf(Value value, Value x, Value y) {
  return PolynomialFinder(x, y).find(value);
}

Value findVariable(Value value, const Polynomial &polynomial) {
  // Nearest first: everything that the value may be a formula of.
  SmallVector<Value> candidates{value};
  for (size_t i = 0; i < candidates.size() && i < 2 * maxDepth; ++i) {
    std::optional<Polynomial> found = polynomialOf(value, candidates[i]);
    if (found && isAbout(*found, polynomial) && candidates[i].getType() == value.getType())
      return candidates[i];
    if (Operation *op = candidates[i].getDefiningOp())
      if (isa<AddOp, SubOp, MulOp, DivOp, PowOp, NegOp>(op))
        for (Value operand : op->getOperands())
          if (!llvm::is_contained(candidates, operand))
            candidates.push_back(operand);
  }
  return {};
}

Value findResult(Value x, Value y, const Polynomial &polynomial) {
  for (Value value = y; value;) {
    std::optional<Polynomial> found = polynomialOf(value, x, y);
    if (!found)
      return {};
    if (isAbout(*found, polynomial))
      return value.getType() == x.getType() ? value : Value();
    Operation *reader = onlyReader(value);
    value = reader && reader->getNumResults() == 1 ? reader->getResult(0) : Value();
  }
  return {};
}

Operation *onlyReader(Value value) {
  return value.hasOneUse() ? *value.user_begin() : nullptr;
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

const std::optional<reference::Tensor> &ConstantValues::of(Value value) {
  auto found = known.find(value);
  if (found == known.end()) {
    std::optional<reference::Tensor> executed = execute(value);
    found = known.insert({value, std::move(executed)}).first;
  }
  return found->second;
}

std::optional<reference::Tensor> ConstantValues::execute(Value value) {
  Operation *op = value.getDefiningOp();
  if (!op || op->getNumResults() != 1)
    return std::nullopt;
  try {
    if (auto constant = dyn_cast<ConstantOp>(op))
      return toTensor(constant.getValue());
    std::vector<reference::Tensor> operands;
    for (Value operand : op->getOperands()) {
      std::optional<reference::Tensor> executed = of(operand);
      if (!executed)
        return std::nullopt;
      operands.push_back(*executed);
    }
    return evaluate(op, operands)[0];
  } catch (const std::exception &) {
    return std::nullopt; // what the interpreter cannot execute is no constant here
  }
}

bool dependsOnParameter(Value value) {
  SmallVector<Value> work{value};
  DenseSet<Value> seen;
  while (!work.empty()) {
    Value next = work.pop_back_val();
    if (!seen.insert(next).second || !isa<FloatType>(getElementTypeOrSelf(next.getType())))
      continue;
    if (auto argument = dyn_cast<BlockArgument>(next)) {
      auto function = dyn_cast<func::FuncOp>(argument.getOwner()->getParentOp());
      if (!function || getRole(function, argument.getArgNumber()) == "parameter")
        return true;
      continue;
    }
    llvm::append_range(work, next.getDefiningOp()->getOperands());
  }
  return false;
}

} // namespace colrow
