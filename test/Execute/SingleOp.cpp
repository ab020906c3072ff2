#include "test/Execute/SingleOp.h"

#include "passes/localize/Passes.h"
#include "passes/raise/Passes.h"
#include "runtime/reference/Interpreter.h"
#include "runtime/reference/InterpreterTypes.h"

#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"

#include <gtest/gtest.h>
#include <random>

using namespace mlir;

namespace colrow::test {

using reference::Tensor;

MLIRContext &testContext() {
  static MLIRContext *context = [] {
    DialectRegistry registry;
    registry.insert<ColrowDialect, func::FuncDialect>();
    auto *made = new MLIRContext(registry);
    made->loadAllAvailableDialects();
    return made;
  }();
  return *context;
}

std::set<std::string> &executedOps() {
  static std::set<std::string> names;
  return names;
}

GridAttr makeGrid(ArrayRef<std::pair<const char *, int64_t>> axes) {
  SmallVector<StringAttr> names;
  SmallVector<int64_t> sizes;
  for (auto [name, size] : axes) {
    names.push_back(StringAttr::get(&testContext(), name));
    sizes.push_back(size);
  }
  return GridAttr::get(&testContext(), names, sizes);
}

//===----------------------------------------------------------------------===//
// The program
//===----------------------------------------------------------------------===//

/// The types between the parentheses of the functional type at the end; none without one.
static SmallVector<std::string> operandTypes(const std::string &text) {
  SmallVector<std::string> types;
  size_t arrow = text.rfind(") -> "), open = text.rfind(" : (", arrow);
  if (arrow == std::string::npos || open == std::string::npos)
    return types;
  int depth = 0;
  std::string current;
  for (char c : text.substr(open + 4, arrow - open - 4)) {
    depth += c == '<';
    depth -= c == '>';
    if (c == ',' && depth == 0) {
      types.push_back(current);
      current.clear();
    } else {
      current += c;
    }
  }
  if (!current.empty())
    types.push_back(current);
  return types;
}

SingleOp::SingleOp(MLIRContext &context, const Instance &instance, GridAttr grid)
    : constant(instance.constant) {
  std::string source = "func.func @f(";
  for (auto [i, type] : llvm::enumerate(operandTypes(instance.text)))
    source += (i ? ", %" : "%") + std::to_string(i) + ": " + type;
  source += ") {\n  %r:" + std::to_string(instance.results) + " = " + instance.text +
            "\n  return\n}\n";
  // A conversion is valid only once it has layouts.
  owner = parseSourceString<ModuleOp>(source, ParserConfig(&context, /*verifyAfterParse=*/false));
  if (!owner)
    throw std::runtime_error("does not parse: " + source);
  if (grid)
    (*owner)->setAttr(ColrowDialect::gridAttrName, grid);
  function = *owner->getOps<func::FuncOp>().begin();
  operation = &function.getBody().front().front();
  returnAlso(operation->getResults());
}

void SingleOp::returnAlso(ValueRange values) {
  Block &block = function.getBody().front();
  Operation *terminator = block.getTerminator();
  SmallVector<Value> all(terminator->getOperands());
  llvm::append_range(all, values);
  terminator->setOperands(all);
  function.setType(FunctionType::get(function.getContext(), block.getArgumentTypes(),
                                     ValueRange(all).getTypes()));
}

bool SingleOp::setTypes(ArrayRef<Type> operands, ArrayRef<Type> results) {
  for (auto [argument, type] : llvm::zip_equal(function.getArguments(), operands))
    argument.setType(type);
  for (auto [result, type] : llvm::zip_equal(operation->getResults(), results))
    result.setType(type);
  returnAlso({});
  ScopedDiagnosticHandler quiet(function.getContext(), [](Diagnostic &) { return success(); });
  return succeeded(verify(*owner));
}

bool SingleOp::addGradients() {
  Block &block = function.getBody().front();
  SmallVector<Operation *> big;
  do {
    big.clear();
    for (Operation &op : block)
      if (isa<DecomposableOpInterface>(op) && !isa<DifferentiableOpInterface>(op))
        big.push_back(&op);
    for (Operation *op : big)
      if (failed(replaceByDecomposition(op)))
        throw std::runtime_error("does not decompose");
  } while (!big.empty());

  // What depends on an argument through operations with gradients.
  SmallVector<BlockArgument> inputs(function.getArguments());
  llvm::DenseSet<Value> active;
  auto isFloat = [](Value value) { return isa<FloatType>(getElementTypeOrSelf(value.getType())); };
  for (BlockArgument input : inputs)
    if (isFloat(input) && static_cast<int>(input.getArgNumber()) != constant)
      active.insert(input);
  SmallVector<Operation *> steps;
  for (Operation &op : block.without_terminator()) {
    if (!isa<DifferentiableOpInterface>(op) ||
        llvm::none_of(op.getOperands(), [&](Value v) { return active.contains(v); }))
      continue;
    steps.push_back(&op);
    for (Value result : op.getResults())
      if (isFloat(result))
        active.insert(result);
  }
  Operation *terminator = block.getTerminator();
  SmallVector<Value> results(terminator->getOperands());
  if (llvm::none_of(results, [&](Value v) { return active.contains(v); }))
    return false;

  llvm::DenseMap<Value, Value> gradients;
  for (Value result : results)
    if (active.contains(result))
      gradients[result] =
          block.addArgument(gradientType(result.getType()), function.getLoc());
  for (Operation *step : llvm::reverse(steps)) {
    SmallVector<Value> upstream, mine(step->getNumOperands());
    SmallVector<Value> operands(step->getOperands());
    SmallVector<bool> needed;
    for (Value result : step->getResults())
      upstream.push_back(gradients.lookup(result));
    if (llvm::none_of(upstream, [](Value v) { return v; }))
      continue;
    for (Value operand : operands)
      needed.push_back(active.contains(operand));
    OpBuilderWithLayouts b(terminator);
    b.setLoc(step->getLoc());
    if (failed(cast<DifferentiableOpInterface>(step).buildGradient(b, upstream, needed, mine)) ||
        b.failed())
      throw std::runtime_error("has no gradient here");
    for (auto [operand, gradient] : llvm::zip_equal(operands, mine)) {
      if (!gradient)
        continue;
      if (gradient.getType() != gradientType(operand.getType()))
        throw std::runtime_error("builds a gradient of another type than that of its operand");
      Value &sum = gradients[operand];
      sum = sum ? b.create<AddOp>(sum, gradient).getResult() : gradient;
    }
  }
  SmallVector<Value> returned;
  for (BlockArgument input : inputs)
    if (Value gradient = gradients.lookup(input))
      returned.push_back(gradient);
  returnAlso(returned);
  if (failed(verify(*owner)))
    throw std::runtime_error("has a gradient that breaks a rule");
  return true;
}

std::vector<Tensor> SingleOp::run(const std::map<std::string, Tensor> &inputs,
                                  std::set<std::string> &executed) {
  auto note = [&](Operation *op) { executed.insert(op->getName().getStringRef().str()); };
  owner->walk(note);
  PassManager passes(owner->getContext());
  passes.addPass(createDecompose());
  passes.addPass(createLocalize());
  if (failed(passes.run(*owner)))
    throw std::runtime_error("cannot be localized");
  owner->walk(note);
  InterpreterOptions options;
  options.deadlockLimit = 20;
  std::vector<Tensor> results;
  for (NamedTensor &output : interpret(*owner, "f", inputs, options).outputs)
    results.push_back(output.value);
  return results;
}

//===----------------------------------------------------------------------===//
// Values and states
//===----------------------------------------------------------------------===//

std::map<std::string, Tensor> randomArguments(const SingleOp &single, const Instance &instance) {
  std::map<std::string, Tensor> arguments;
  std::mt19937_64 random(7);
  func::FuncOp function = *single.module().getOps<func::FuncOp>().begin();
  bool isDropout = StringRef(instance.text).contains(" random %");
  for (auto [i, type] : llvm::enumerate(function.getArgumentTypes())) {
    auto tensor = cast<RankedTensorType>(type);
    reference::ElementType element = toElementType(tensor);
    reference::Shape shape(tensor.getShape());
    Tensor &argument = arguments[tensorKey("", "", "arg", i)];
    if (reference::isFloat(element)) {
      std::normal_distribution<double> normal;
      std::vector<double> values(tensor.getNumElements());
      for (double &value : values)
        value = instance.positive ? std::exp(normal(random)) : normal(random);
      argument = Tensor::floats(shape, std::move(values), element);
    } else if (isDropout) {
      argument = Tensor::integers(shape, {7, 3, 2, 1}, element);
    } else {
      std::uniform_int_distribution<int64_t> uniform(0, instance.idsBelow - 1);
      std::vector<int64_t> values(tensor.getNumElements());
      for (int64_t &value : values)
        value = uniform(random);
      argument = Tensor::integers(shape, std::move(values), element);
    }
  }
  return arguments;
}

SmallVector<AxisState> allStates(Type type, StringAttr axis, int64_t ranks) {
  auto tensor = cast<RankedTensorType>(type);
  SmallVector<AxisState> states = {AxisState::invariant(axis), AxisState::replicated(axis),
                                   AxisState::partial(axis), AxisState::partialMax(axis)};
  for (auto [dim, size] : llvm::enumerate(tensor.getShape()))
    for (int64_t blocks : {1, 2, 3, 4, 6})
      for (int64_t unit : {1, 2, 3, 4, 6})
        if (size % (blocks * unit * ranks) == 0)
          states.push_back(AxisState::shard(axis, dim, blocks, unit));
  // L6: some element types have no gradient or no sum.
  ScopedDiagnosticHandler quiet(type.getContext(), [](Diagnostic &) { return success(); });
  auto emitError = [&] { return mlir::emitError(UnknownLoc::get(type.getContext())); };
  llvm::erase_if(states, [&](const AxisState &state) {
    LayoutAttr layout = getLayout(withState(type, state));
    return layout && failed(layout.verifyEncoding(tensor.getShape(), tensor.getElementType(),
                                                  emitError));
  });
  return states;
}

void expectSame(const std::vector<Tensor> &expected, const std::vector<Tensor> &got,
                const std::string &what) {
  ASSERT_EQ(expected.size(), got.size()) << what;
  for (size_t i = 0; i < expected.size(); ++i) {
    ASSERT_EQ(expected[i].shape(), got[i].shape()) << what << ": result " << i;
    double size = 1;
    for (double value : expected[i].toFloats())
      if (std::isfinite(value))
        size = std::max(size, std::abs(value));
    EXPECT_LE(maxDifference(expected[i], got[i]), 1e-11 * size)
        << what << ": result " << i << "\nexpected " << expected[i].toString() << "\ngot "
        << got[i].toString();
  }
}

} // namespace colrow::test
