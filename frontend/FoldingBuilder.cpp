//===- FoldingBuilder.cpp - builds operations, and runs those it can ------===//

#include "frontend/FoldingBuilder.h"
#include "colrow/Error.h"
#include "mlir/IR/Diagnostics.h"
#include "runtime/reference/Interpreter.h"
#include "runtime/reference/InterpreterTypes.h"
#include "runtime/reference/Shape.h"
#include "runtime/reference/Walk.h"
#include "llvm/ADT/ScopeExit.h"

#include <cmath>
#include <cstring>

using namespace mlir;
using colrow::reference::Tensor;

namespace colrow {

FoldingBuilder::FoldingBuilder(MLIRContext *context, Block *body)
    : context(context), builder(OpBuilder::atBlockEnd(body)), location(builder.getUnknownLoc()) {}

//===----------------------------------------------------------------------===//
// Known values
//===----------------------------------------------------------------------===//

const Tensor *FoldingBuilder::known(Value value) const {
  auto it = tensors.find(value);
  return it == tensors.end() ? nullptr : &it->second;
}

Value FoldingBuilder::constant(Tensor tensor) {
  Value value = scratch.addArgument(
      RankedTensorType::get(tensor.shape(), fromElementType(context, tensor.type())), location);
  tensors.try_emplace(value, std::move(tensor));
  temporaries.push_back(value);
  return value;
}

void FoldingBuilder::forget(Value value) { tensors.erase(value); }

void FoldingBuilder::forgetTemporaries(ValueRange kept) {
  for (Value value : temporaries)
    if (!llvm::is_contained(kept, value))
      tensors.erase(value);
  temporaries.clear();
}

Value FoldingBuilder::integers(Shape values) {
  return constant(Tensor::integers({static_cast<int64_t>(values.size())}, values.vec()));
}
Value FoldingBuilder::scalar(double value, Type element) {
  return constant(Tensor::scalar(toElementType(element), value));
}
Value FoldingBuilder::scalarLike(double value, Value like) {
  return scalar(value, elementOf(like));
}

/// Whether the elements at every index of a dimension are those at index 0.
template <typename T> static bool repeatsAlong(const Tensor &tensor, size_t dim) {
  reference::Shape shape = tensor.shape(), none = tensor.strides();
  none[dim] = 0;
  bool equal = true;
  reference::walk<2>(shape, {tensor.strides(), none}, {tensor.offset(), tensor.offset()},
                     [&](const reference::Positions<2> &at) {
                       equal = equal && std::memcmp(tensor.data<T>() + at[0],
                                                    tensor.data<T>() + at[1], sizeof(T)) == 0;
                     });
  return equal;
}

Tensor withoutRepetition(const Tensor &tensor) {
  Tensor result = tensor;
  for (size_t dim = 0; dim < tensor.shape().size(); ++dim) {
    if (tensor.shape()[dim] <= 1)
      continue;
    bool repeats =
        tensor.strides()[dim] == 0 ||
        (tensor.isFloat() ? repeatsAlong<double>(result, dim) : repeatsAlong<int64_t>(result, dim));
    if (!repeats)
      continue;
    reference::Shape shape = result.shape();
    shape[dim] = 1;
    result = result.view(shape, result.strides(), result.offset());
  }
  return result;
}

/// The elements as an attribute: in double where float32 would round them, so that an interpreter
/// in fp64 sees all of a scale or rotary table.
static DenseElementsAttr constantAttribute(MLIRContext *context, const Tensor &tensor) {
  if (tensor.type() == reference::ElementType::f32) {
    std::vector<double> values = tensor.toFloats();
    bool isRounded = llvm::any_of(values, [](double value) {
      return !std::isnan(value) && static_cast<double>(static_cast<float>(value)) != value;
    });
    if (isRounded)
      return toElementsAttr(
          context, Tensor::floats(tensor.shape(), std::move(values), reference::ElementType::f64));
  }
  return toElementsAttr(context, tensor);
}

Value FoldingBuilder::emitConstant(DenseElementsAttr attribute, Type element) {
  Value &value = constants[{attribute, element}];
  if (!value)
    value = ConstantOp::create(builder, location, attribute.getType().clone(element), attribute);
  return value;
}

Value FoldingBuilder::materialize(Value value) {
  const Tensor *tensor = known(value);
  if (!tensor)
    return value;
  if (tensor->size() == 0)
    throw Error("needs a tensor without elements (" + tensor->describe() + ") at run time");
  Tensor small = withoutRepetition(*tensor);
  if (small.size() == 1) {
    auto scalar = constantAttribute(context, small.view({}, {}, small.offset()));
    auto type = typeOf(value).clone(scalar.getElementType());
    return emitConstant(DenseElementsAttr::get(type, scalar.getSplatValue<Attribute>()),
                        elementOf(value));
  }
  int64_t bytes = small.size() * static_cast<int64_t>(reference::byteSize(small.type()));
  if (bytes > largestConstant)
    throw Error(("would put a constant of " + Twine(bytes >> 20) + " MiB into the program (" +
                 small.describe() + "); bind a shorter sequence or make it a graph input")
                    .str());
  Value core = emitConstant(constantAttribute(context, small), elementOf(value));
  if (core.getType() == value.getType())
    return core;
  return BroadcastOp::create(builder, location, value.getType(), core);
}

//===----------------------------------------------------------------------===//
// Building
//===----------------------------------------------------------------------===//

namespace {
/// Collects what is reported while it lives.
class MessageCapture {
public:
  explicit MessageCapture(MLIRContext *context)
      : handler(context, [this](Diagnostic &diagnostic) {
          if (text.empty())
            text = diagnostic.str();
          return success();
        }) {}
  std::string text;

private:
  ScopedDiagnosticHandler handler;
};
} // namespace

/// "'colrow.add' op shapes ..." without the part about the operation.
static std::string withoutOpName(StringRef message) {
  if (message.consume_front("'"))
    message = message.substr(message.find("' op ") + 5);
  return message.str();
}

Operation *FoldingBuilder::createOp(StringRef name, ValueRange operands, Attributes attributes,
                                    Type result) {
  MessageCapture messages(context);
  OperationState state(location, name);
  state.addOperands(operands);
  state.addAttributes(attributes);
  RegisteredOperationName info = *RegisteredOperationName::lookup(name, context);
  if (result) {
    state.addTypes(result);
  } else {
    DictionaryAttr dictionary = state.attributes.getDictionary(context);
    std::unique_ptr<char[]> storage;
    OpaqueProperties properties(nullptr);
    if (info.getOpPropertyByteSize() > 0) {
      storage = std::make_unique<char[]>(info.getOpPropertyByteSize());
      properties = OpaqueProperties(storage.get());
      info.initOpProperties(properties, OpaqueProperties(nullptr));
      if (failed(info.setOpPropertiesFromAttribute(info, properties, dictionary,
                                                   [&] { return emitError(location); })))
        throw Error(withoutOpName(messages.text));
    }
    llvm::scope_exit destroy([&] {
      if (storage)
        info.destroyOpProperties(properties);
    });
    SmallVector<Type> types;
    if (failed(info.getInterface<InferTypeOpInterface>()->inferReturnTypes(
            context, location, operands, dictionary, properties, {}, types)))
      throw Error(withoutOpName(messages.text));
    state.addTypes(types);
  }
  Operation *op = Operation::create(state);
  if (failed(info.verifyInvariants(op))) {
    op->destroy();
    throw Error(withoutOpName(messages.text));
  }
  return op;
}

/// Of an elementwise operation on known tensors: runs it once along dimensions in which all only
/// repeat, so that broadcasts stay lazy.
static Tensor evaluateLazily(Operation *op, const std::vector<Tensor> &operands) {
  auto type = llvm::cast<RankedTensorType>(op->getResult(0).getType());
  if (!op->hasTrait<NumpyElementwise>())
    return evaluate(op, operands).front();
  std::vector<Tensor> reduced;
  for (const Tensor &operand : operands) {
    reference::Shape shape = operand.shape();
    size_t missing = type.getRank() - shape.size();
    for (size_t dim = 0; dim < shape.size(); ++dim) {
      bool repeats = llvm::all_of(operands, [&](const Tensor &other) {
        size_t lacks = type.getRank() - other.shape().size();
        if (missing + dim < lacks)
          return true;
        size_t mine = missing + dim - lacks;
        return other.shape()[mine] == 1 || other.strides()[mine] == 0;
      });
      if (repeats && shape[dim] > 1)
        shape[dim] = 1;
    }
    reduced.push_back(operand.view(shape, operand.strides(), operand.offset()));
  }
  reference::Shape shape;
  for (const Tensor &operand : reduced)
    shape = reference::broadcastShapes("fold", shape, operand.shape());
  op->getResult(0).setType(type.clone(ArrayRef<int64_t>(shape)));
  return reference::broadcastTo(evaluate(op, reduced).front(), type.getShape().vec());
}

/// Operands of an elementwise operation may stay small where it broadcasts them itself.
void FoldingBuilder::dropBroadcasts(Operation *op) {
  auto result = llvm::cast<RankedTensorType>(op->getResult(0).getType());
  for (OpOperand &operand : op->getOpOperands()) {
    const Tensor *tensor = known(operand.get());
    if (!tensor)
      continue;
    Tensor small = withoutRepetition(*tensor);
    if (small.size() == 1)
      small = small.view({}, {}, small.offset());
    if (small.shape() == tensor->shape())
      continue;
    SmallVector<int64_t> shape;
    bool fits = true;
    for (OpOperand &other : op->getOpOperands()) {
      ArrayRef<int64_t> mine =
          &other == &operand ? ArrayRef<int64_t>(small.shape()) : typeOf(other.get()).getShape();
      SmallVector<int64_t> merged;
      fits &= OpTrait::util::getBroadcastedShape(shape, mine, merged);
      shape = merged;
    }
    if (fits && ArrayRef(shape) == result.getShape())
      operand.set(constant(std::move(small)));
  }
}

Value FoldingBuilder::build(StringRef name, ValueRange operands, Attributes attributes,
                            Type result) {
  Operation *op = createOp(name, operands, attributes, result);
  llvm::scope_exit destroy([&] {
    if (op)
      op->destroy();
  });
  std::vector<Tensor> inputs;
  for (Value operand : operands)
    if (const Tensor *tensor = known(operand))
      inputs.push_back(*tensor);
  if (inputs.size() == operands.size()) {
    try {
      return constant(evaluateLazily(op, inputs));
    } catch (const reference::Error &error) {
      throw Error(error.what());
    }
  }
  if (op->hasTrait<NumpyElementwise>())
    dropBroadcasts(op);
  for (OpOperand &operand : op->getOpOperands())
    operand.set(materialize(operand.get()));
  builder.insert(op);
  return std::exchange(op, nullptr)->getResult(0);
}

//===----------------------------------------------------------------------===//
// Short forms
//===----------------------------------------------------------------------===//

NamedAttribute FoldingBuilder::attr(StringRef name, Attribute value) {
  return builder.getNamedAttr(name, value);
}
NamedAttribute FoldingBuilder::dims(StringRef name, Shape values) {
  return attr(name, builder.getDenseI64ArrayAttr(values));
}
NamedAttribute FoldingBuilder::integer(StringRef name, int64_t value) {
  return attr(name, builder.getI64IntegerAttr(value));
}
NamedAttribute FoldingBuilder::number(StringRef name, double value) {
  return attr(name, builder.getF64FloatAttr(value));
}
NamedAttribute FoldingBuilder::unit(StringRef name) { return attr(name, builder.getUnitAttr()); }

Value FoldingBuilder::compare(Predicate predicate, Value a, Value b) {
  return create<CompareOp>({a, b}, {attr("predicate", PredicateAttr::get(context, predicate))});
}
Value FoldingBuilder::compare(Predicate predicate, Value a, double b) {
  return compare(predicate, a, scalarLike(b, a));
}
Value FoldingBuilder::select(Value condition, Value a, Value b) {
  return create<SelectOp>({condition, a, b});
}
Value FoldingBuilder::cast(Value x, Type element) {
  if (elementOf(x) == element)
    return x;
  return create<CastOp>({x}, {}, typeOf(x).clone(element));
}
Value FoldingBuilder::reshape(Value x, Shape shape) {
  if (typeOf(x).getShape() == shape)
    return x;
  return create<ReshapeOp>({x}, {}, RankedTensorType::get(shape, elementOf(x)));
}
Value FoldingBuilder::transpose(Value x, Shape permutation) {
  if (llvm::equal(permutation, llvm::seq<int64_t>(0, rankOf(x))))
    return x;
  return create<TransposeOp>({x}, {dims("permutation", permutation)});
}
Value FoldingBuilder::broadcast(Value x, Shape shape) {
  if (typeOf(x).getShape() == shape)
    return x;
  return create<BroadcastOp>({x}, {}, RankedTensorType::get(shape, elementOf(x)));
}
Value FoldingBuilder::slice(Value x, int64_t axis, int64_t start, int64_t limit) {
  SmallVector<int64_t> starts(rankOf(x), 0), limits = shapeOf(x), steps(rankOf(x), 1);
  if (start == 0 && limit == limits[axis])
    return x;
  starts[axis] = start;
  limits[axis] = limit;
  return create<SliceOp>({x},
                         {dims("starts", starts), dims("limits", limits), dims("steps", steps)});
}
Value FoldingBuilder::concat(ValueRange parts, int64_t axis) {
  if (parts.size() == 1)
    return parts[0];
  return create<ConcatOp>(parts, {integer("dimension", axis)});
}
Value FoldingBuilder::take(Value table, Value ids, int64_t axis) {
  return create<TakeOp>({table, ids}, {integer("axis", axis)});
}
Value FoldingBuilder::einsum(StringRef equation, Value a, Value b) {
  return create<EinsumOp>({a, b}, {attr("equation", builder.getStringAttr(equation))});
}
Value FoldingBuilder::iota(Shape shape, int64_t dimension, Type element) {
  return create<IotaOp>({}, {integer("dimension", dimension)},
                        RankedTensorType::get(shape, element));
}
Value FoldingBuilder::indices(int64_t count) {
  return iota({count}, 0, IntegerType::get(context, 64));
}

} // namespace colrow
