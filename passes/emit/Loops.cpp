//===- Loops.cpp - elementwise operations as one loop nest ----------------===//
//
// What is read once stands where it is read, so that a loop looks as a person would write it:
//
//   for (int64_t i = 0; i < 786432; ++i)
//     sum[i] = attn[i] + bias[i] + residual[i];
//
// A variable is declared for what is read more often, and for expressions that would get long.
//
//===----------------------------------------------------------------------===//

#include "passes/emit/FunctionEmitter.h"
#include "passes/emit/Scalars.h"
#include "passes/lower/Elementwise.h"

using namespace mlir;

namespace colrow {
namespace {

/// Expressions longer than this are not put into others.
constexpr size_t longestInlined = 64;

Type elementOf(Value value) { return cast<RankedTensorType>(value.getType()).getElementType(); }

/// Reads or writes of one loop: the same pointer and strides are one access.
struct Access {
  std::string pointer;
  Value value;
  SmallVector<int64_t> strides;
  unsigned uses = 0;   ///< of a read
  bool begins = false; ///< reads a gradient that the first microbatch begins
};

class LoopEmitter {
public:
  LoopEmitter(FunctionEmitter &e, const Step &step) : e(e), step(step) {}

  void run() {
    members.insert(step.ops.begin(), step.ops.end());
    for (Operation *op : step.ops) {
      for (Value operand : op->getOperands())
        countUse(operand, shapeOf(op->getResult(0)));
      if (op->hasAttr(beginsAttrName))
        findLoad(e.pointer(op->getOperand(0)), stridesOf(op->getOperand(0), shapeOf(op->getResult(0))))
            ->begins = true;
      Value result = op->getResult(0);
      if (e.plan.isStored(result))
        stores.push_back({e.pointer(result), result,
                          stridesOver(step.shape, shapeOf(result), shapeOf(result),
                                      e.plan.place(result).strides)});
    }
    if (!stores.empty())
      print();
  }

private:
  static ArrayRef<int64_t> shapeOf(Value value) {
    return cast<RankedTensorType>(value.getType()).getShape();
  }

  /// The value an operand shows: of this loop, a constant, or one in memory.
  Value source(Value operand) const {
    while (Operation *op = operand.getDefiningOp()) {
      if (members.contains(op))
        break;
      bool sees = isa<ReshapeOp>(op) || (isa<BroadcastOp>(op) && !e.plan.hasPlace(operand));
      if (!sees)
        break;
      operand = op->getOperand(0);
    }
    return operand;
  }
  bool isMember(Value value) const {
    return value.getDefiningOp() && members.contains(value.getDefiningOp());
  }
  bool isNumber(Value value) const {
    return value.getDefiningOp<ConstantOp>() && !e.plan.hasPlace(value);
  }

  SmallVector<int64_t> stridesOf(Value operand, ArrayRef<int64_t> result) const {
    return stridesOver(step.shape, result, shapeOf(operand), e.plan.place(operand).strides);
  }

  void countUse(Value operand, ArrayRef<int64_t> result) {
    Value value = source(operand);
    if (isMember(value)) {
      ++memberUses[value];
    } else if (!isNumber(value)) {
      Access access{e.pointer(operand), operand, stridesOf(operand, result)};
      Access *known = findLoad(access.pointer, access.strides);
      if (!known) {
        loads.push_back(access);
        known = &loads.back();
      }
      ++known->uses;
    }
  }

  Access *findLoad(const std::string &pointer, ArrayRef<int64_t> strides) {
    for (Access &load : loads)
      if (load.pointer == pointer && ArrayRef(load.strides) == strides)
        return &load;
    return nullptr;
  }

  /// An element of an operand, for an operation whose result has this shape.
  Scalar scalar(Value operand, ArrayRef<int64_t> result) {
    Value value = source(operand);
    if (isMember(value))
      return scalars[value];
    if (isNumber(value)) {
      auto elements = cast<DenseElementsAttr>(value.getDefiningOp<ConstantOp>().getValue());
      std::string text = literal(elements, 0);
      // Literals of type int would pick other overloads.
      if (elements.getElementType().isInteger(64))
        return {fmt::format("int64_t({})", text)};
      return {text, text[0] == '-' ? Binding::unary : Binding::atom};
    }
    Access *load = findLoad(e.pointer(operand), collapsed(stridesOf(operand, result)));
    return loadScalars[load - loads.data()];
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
      joined.push_back(d);
      for (auto *accesses : {&loads, &stores})
        for (Access &access : *accesses)
          access.strides.erase(access.strides.begin() + d - 1);
    }
  }
  SmallVector<int64_t> collapsed(SmallVector<int64_t> strides) const {
    for (size_t d : joined)
      strides.erase(strides.begin() + d - 1);
    return strides;
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
  std::string loaded(const Access &access) {
    return access.begins ? fmt::format("(accumulates ? {} : 0)", element(access)) : element(access);
  }

  void declare(Value value, const std::string &variable, const std::string &text) {
    statements.push_back(
        fmt::format("const {} {} = {};", variableType(elementOf(value)), variable, text));
  }

  /// Whether one of several stores may be to memory that is still to be read.
  bool isOverwritten(const Access &load) const {
    return stores.size() > 1 && llvm::any_of(stores, [&](const Access &store) {
             return e.plan.place(store.value).buffer == e.plan.place(load.value).buffer;
           });
  }

  void printLoads() {
    for (const Access &load : loads) {
      if (load.uses == 1 && !isOverwritten(load)) {
        bool isBool = elementOf(load.value).isInteger(1);
        loadScalars.push_back({isBool ? "bool(" + element(load) + ")" : loaded(load)});
        continue;
      }
      std::string variable = e.names.unique(e.names.base(load.value) + "_x");
      declare(load.value, variable, loaded(load));
      loadScalars.push_back({variable});
    }
  }

  void printOperations() {
    for (Operation *op : step.ops) {
      Value result = op->getResult(0);
      std::vector<Scalar> operands;
      for (Value operand : op->getOperands())
        operands.push_back(scalar(operand, shapeOf(result)));
      Scalar expression = scalarExpression(op, operands);
      bool stored = e.plan.isStored(result);
      unsigned uses = memberUses.lookup(result);
      bool inlined = uses <= (stored ? 0 : 1) && expression.text.size() <= longestInlined;
      if (!inlined && uses > 0) {
        std::string variable = e.names.unique(e.names.base(result) + (stored ? "_i" : ""));
        declare(result, variable, expression.text);
        expression = {variable};
      }
      scalars[result] = expression;
    }
    // After all reads: a store may be to the memory of one of them.
    for (const Access &store : stores)
      statements.push_back(fmt::format("{} = {};", element(store), scalars[store.value].text));
  }

  void print() {
    collapse();
    static constexpr const char *letters[] = {"i", "j", "k", "l", "m", "n"};
    for (size_t d = 0; d < shape.size(); ++d)
      loopVariables.push_back(d < 6 ? letters[d] : fmt::format("i{}", d));
    printLoads();
    printOperations();
    unsigned outer = e.indent;
    bool braces = statements.size() > 1;
    if (shape.empty() && braces)
      e.line("{");
    for (size_t d = 0; d < shape.size(); ++d) {
      if (d + 1 == shape.size())
        e.line("COLROW_INDEPENDENT");
      e.line(fmt::format("for (int64_t {0} = 0; {0} < {1}; ++{0}){2}", loopVariables[d], shape[d],
                         d + 1 == shape.size() && braces ? " {" : ""));
      if (d + 1 < shape.size())
        e.indent += 2;
    }
    if (!shape.empty() || braces)
      e.indent += 2;
    for (const std::string &statement : statements)
      e.line(statement);
    e.indent = shape.empty() ? outer : outer + 2 * (shape.size() - 1);
    if (braces)
      e.line("}");
    e.indent = outer;
  }

  FunctionEmitter &e;
  const Step &step;
  llvm::SmallPtrSet<Operation *, 8> members;
  DenseMap<Value, unsigned> memberUses;  ///< by operations of this loop
  DenseMap<Value, Scalar> scalars;       ///< of the results of its operations
  std::vector<Access> loads, stores;
  std::vector<Scalar> loadScalars;       ///< for each load
  SmallVector<int64_t> shape;
  SmallVector<size_t> joined;            ///< dimensions that became part of the one before
  std::vector<std::string> loopVariables, statements;
};

} // namespace

void emitLoop(FunctionEmitter &e, const Step &step) { LoopEmitter(e, step).run(); }

} // namespace colrow
