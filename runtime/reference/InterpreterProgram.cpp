#include "runtime/reference/InterpreterProgram.h"

using namespace mlir;

namespace colrow {

using reference::Tensor;

//===----------------------------------------------------------------------===//
// One operation
//===----------------------------------------------------------------------===//

std::optional<Tensors> evaluateByKernel(Operation *op, const Tensors &operands,
                                        const Place &place) {
  for (auto family : {evaluateMath, evaluateShape, evaluateNN, evaluateComm})
    if (std::optional<Tensors> results = family(op, operands, place))
      return results;
  return std::nullopt;
}

/// How messages name an operation: "'transformer/h.0/Add' (colrow.add)".
static std::string describe(Operation *op) {
  std::string name = op->getName().getStringRef().str();
  std::string user = op->getNumResults() ? getUserName(op->getResult(0)) : "";
  return user.empty() ? name : "'" + user + "' (" + name + ")";
}

Tensors evaluateOnRank(Operation *op, const Tensors &operands, const Place &place) {
  std::optional<Tensors> results;
  try {
    results = evaluateByKernel(op, operands, place);
  } catch (const reference::Error &error) {
    throw Error(describe(op) + ": " + error.what());
  }
  if (!results)
    throw Error("the interpreter has no kernel for " + describe(op) +
                (isa<DecomposableOpInterface>(op)
                     ? ": run colrow-decompose before colrow-localize"
                     : ""));
  // A rank that holds something else than its type says would go on to compute nonsense.
  for (auto [result, type] : llvm::zip_equal(*results, op->getResultTypes()))
    if (ArrayRef<int64_t>(result.shape()) != cast<RankedTensorType>(type).getShape())
      throw Error(describe(op) + " made a tensor of shape [" +
                  reference::toString(result.shape()) + "], which is not that of its type");
  return *results;
}

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

InterpreterProgram::Function InterpreterProgram::numbered(func::FuncOp op) {
  Function function;
  function.op = op;
  if (op.isExternal())
    return function;
  if (!op.getBody().hasOneBlock())
    throw Error("function '" + op.getName().str() + "' has control flow");
  llvm::DenseMap<Value, unsigned> numbers;
  auto define = [&](Value value) {
    if (getLayout(value.getType()))
      throw Error("function '" + op.getName().str() +
                  "' has types with layouts: run colrow-localize first");
    numbers[value] = function.values++;
    return numbers[value];
  };
  for (Value argument : op.getArguments())
    define(argument);
  for (Operation &inner : op.getBody().front()) {
    Step step{&inner, {}, {}, {}};
    for (Value operand : inner.getOperands())
      step.operands.push_back(numbers.lookup(operand));
    for (Value result : inner.getResults())
      step.results.push_back(define(result));
    function.steps.push_back(std::move(step));
  }
  // Backward: the first step met that reads a value is its last; a result never read dies at once.
  llvm::SmallVector<bool> read(function.values, false);
  for (Step &step : llvm::reverse(function.steps))
    for (ArrayRef<unsigned> values : {ArrayRef<unsigned>(step.operands), ArrayRef<unsigned>(step.results)})
      for (unsigned value : values)
        if (!read[value]) {
          read[value] = true;
          step.dead.push_back(value);
        }
  return function;
}

InterpreterProgram::InterpreterProgram(ModuleOp module) {
  for (func::FuncOp function : module.getOps<func::FuncOp>())
    functions[function.getName()] = numbered(function);
}

func::FuncOp InterpreterProgram::lookup(StringRef function) const {
  auto found = functions.find(function);
  return found == functions.end() ? func::FuncOp() : found->second.op;
}

std::string InterpreterProgram::names() const {
  SmallVector<StringRef> names(functions.keys());
  llvm::sort(names);
  std::string text;
  for (StringRef name : names)
    text += (text.empty() ? "'" : ", '") + name.str() + "'";
  return text;
}

Tensors InterpreterProgram::run(StringRef name, Tensors arguments, const Place &place) const {
  auto found = functions.find(name);
  if (found == functions.end())
    throw Error("there is no function '" + name.str() + "'");
  const Function &function = found->second;
  if (function.steps.empty())
    throw Error("function '" + name.str() + "' has no body");
  Tensors values(function.values);
  std::move(arguments.begin(), arguments.end(), values.begin());
  for (const Step &step : function.steps) {
    Tensors operands;
    for (unsigned number : step.operands)
      operands.push_back(values[number]);
    if (isa<func::ReturnOp>(step.op))
      return operands;
    for (unsigned number : step.dead)
      values[number] = Tensor();
    Tensors results;
    if (auto call = dyn_cast<func::CallOp>(step.op))
      results = run(call.getCallee(), std::move(operands), place);
    else
      results = evaluateOnRank(step.op, operands, place);
    for (auto [number, result] : llvm::zip_equal(step.results, results))
      if (!llvm::is_contained(step.dead, number))
        values[number] = std::move(result);
  }
  llvm_unreachable("a function ends in a return");
}

} // namespace colrow
