#include "runtime/reference/Interpreter.h"

#include "mlir/IR/IRMapping.h"
#include "runtime/reference/InterpreterProgram.h"

#include "colrow/ThreadRanks.h"

using namespace mlir;

namespace colrow {

using reference::Tensor;

std::string tensorKey(StringRef role, StringRef name, StringRef fallback, unsigned number) {
  if (name.empty())
    return fallback.str() + std::to_string(number);
  return name.str() + (role == "gradient" ? ".gradient" : "");
}

const Tensor &InterpreterResult::get(StringRef key) const {
  std::string known;
  for (const NamedTensor &output : outputs) {
    if (output.key == key)
      return output.value;
    known += (known.empty() ? "" : ", ") + output.key;
  }
  throw Error("there is no result '" + key.str() + "' among: " + known);
}

//===----------------------------------------------------------------------===//
// Whole tensors in and out
//===----------------------------------------------------------------------===//

namespace {

enum class Kind { real, integer, boolean };

Kind kindOf(reference::ElementType type) {
  if (reference::isFloat(type))
    return Kind::real;
  return type == reference::ElementType::b1 ? Kind::boolean : Kind::integer;
}

/// One function of a program, seen from outside.
class Call {
public:
  Call(ModuleOp module, func::FuncOp function, const InterpreterOptions &options)
      : function(function), options(options), grid(getGrid(module)), axes(gridAxes(grid)) {}

  /// What each rank holds of each argument: result[rank][argument].
  std::vector<Tensors> distribute(const std::map<std::string, Tensor> &inputs) {
    std::vector<Tensors> locals(gridSize(axes));
    std::mt19937_64 random(options.seed);
    for (unsigned i = 0; i < function.getNumArguments(); ++i) {
      std::string key = tensorKey(getRole(function, i), getName(function, i), "arg", i);
      RankedTensorType type = globalType(
          function.getArgumentTypes()[i],
          function.getArgAttrOfType<TypeAttr>(i, ColrowDialect::globalTypeAttrName));
      auto input = inputs.find(key);
      if (input == inputs.end())
        throw Error("function '" + function.getName().str() + "' needs a tensor '" + key +
                    "' of shape [" + reference::toString(reference::Shape(type.getShape())) + "]");
      Tensor whole = fitted(input->second, key, type);
      std::vector<Tensor> parts = reference::distribute(whole, placementOf(type, grid), axes,
                                                        random, options.precision);
      for (auto [local, part] : llvm::zip_equal(locals, parts))
        local.push_back(std::move(part));
    }
    return locals;
  }

  InterpreterResult collect(const std::vector<Tensors> &locals) {
    InterpreterResult result;
    for (unsigned i = 0; i < function.getNumResults(); ++i) {
      StringRef role = getResultRole(function, i), name = getResultName(function, i);
      std::string key = tensorKey(role, name, "result", i);
      RankedTensorType type = globalType(
          function.getResultTypes()[i],
          function.getResultAttrOfType<TypeAttr>(i, ColrowDialect::globalTypeAttrName));
      std::vector<Tensor> parts;
      for (const Tensors &local : locals)
        parts.push_back(local[i]);
      try {
        Tensor whole =
            reference::collect(parts, placementOf(type, grid), axes, options.precision);
        result.outputs.push_back({key, role.str(), name.str(), whole});
      } catch (const reference::Error &error) {
        throw Error("result '" + key + "': " + error.what());
      }
    }
    return result;
  }

  std::vector<Tensors> run(const InterpreterProgram &program, std::vector<Tensors> locals) {
    std::vector<Tensors> results(locals.size());
    ThreadRankOptions ranks;
    ranks.waitLimit = options.deadlockLimit;
    runRanks(
        axes,
        [&](Rank &rank) {
          Place place{options.precision, grid, &rank};
          results[rank.index()] =
              program.run(function.getName(), std::move(locals[rank.index()]), place);
        },
        ranks);
    return results;
  }

private:
  static RankedTensorType globalType(Type local, TypeAttr kept) {
    return cast<RankedTensorType>(kept ? kept.getValue() : local);
  }

  /// The input as a tensor of the argument's element type: other widths of the same kind are
  /// taken too (fp64 values for an f32 argument keep their digits under fp64).
  Tensor fitted(const Tensor &input, const std::string &key, RankedTensorType type) {
    reference::ElementType element = toElementType(type);
    if (ArrayRef<int64_t>(input.shape()) != type.getShape() ||
        kindOf(input.type()) != kindOf(element))
      throw Error("tensor '" + key + "' must be " + reference::toString(element) + "[" +
                  reference::toString(reference::Shape(type.getShape())) + "], got: " +
                  input.describe());
    Tensor result = input;
    if (input.type() != element)
      result = input.isFloat() ? Tensor::floats(input.shape(), input.toFloats(), element)
                               : Tensor::integers(input.shape(), input.toIntegers(), element);
    return reference::rounded(result, options.precision);
  }

  func::FuncOp function;
  const InterpreterOptions &options;
  GridAttr grid;
  std::vector<GridAxis> axes;
};

} // namespace

InterpreterResult interpret(ModuleOp module, StringRef function,
                            const std::map<std::string, Tensor> &inputs,
                            const InterpreterOptions &options) {
  InterpreterProgram program(module);
  func::FuncOp found = program.lookup(function);
  if (!found)
    throw Error("there is no function '" + function.str() + "' among: " + program.names());
  Call call(module, found, options);
  return call.collect(call.run(program, call.distribute(inputs)));
}

//===----------------------------------------------------------------------===//
// One operation
//===----------------------------------------------------------------------===//

/// Decomposes big operations, those of decompositions too.
static void decomposeAll(func::FuncOp function) {
  SmallVector<Operation *> big;
  do {
    big.clear();
    for (Operation &op : function.getBody().front())
      if (isa<DecomposableOpInterface>(op))
        big.push_back(&op);
    for (Operation *op : big)
      if (failed(replaceByDecomposition(op)))
        throw Error("an operation cannot be decomposed");
  } while (!big.empty());
}

std::vector<Tensor> evaluate(Operation *op, const std::vector<Tensor> &operands,
                             reference::Precision precision) {
  Place place;
  place.precision = precision;
  if (!isa<DecomposableOpInterface>(op))
    return evaluateOnRank(op, operands, place);
  OpBuilder builder(op->getContext());
  OwningOpRef<ModuleOp> module = ModuleOp::create(builder, op->getLoc());
  builder.setInsertionPointToEnd(module->getBody());
  auto type = FunctionType::get(op->getContext(), op->getOperandTypes(), op->getResultTypes());
  auto function = func::FuncOp::create(builder, op->getLoc(), "op", type);
  builder.setInsertionPointToEnd(function.addEntryBlock());
  IRMapping mapping;
  for (auto [operand, argument] : llvm::zip_equal(op->getOperands(), function.getArguments()))
    mapping.map(operand, argument);
  Operation *copy = builder.clone(*op, mapping);
  // Two operands that are one value have been mapped to the last of them.
  copy->setOperands(function.getArguments());
  func::ReturnOp::create(builder, op->getLoc(), copy->getResults());
  decomposeAll(function);
  return InterpreterProgram(*module).run("op", operands, place);
}

} // namespace colrow
