//===- OnnxNode.cpp - operands and attributes of a node -------------------===//

#include "frontend/onnx/OnnxNode.h"
#include "colrow/Error.h"
#include "frontend/onnx/Weights.h"

#include <charconv>

using namespace mlir;
using colrow::reference::Tensor;

namespace colrow {

void OnnxNode::fail(const Twine &message) const { throw Error(message.str()); }

Value OnnxNode::in(size_t i) const {
  if (!has(i))
    fail("lacks operand " + Twine(i));
  return inputs[i];
}

const Tensor &OnnxNode::known(size_t i, StringRef what) const {
  const Tensor *tensor = b.known(in(i));
  if (!tensor)
    fail("needs its " + what + " ('" + proto.input(static_cast<int>(i)) +
         "') to be known at compile time, but it depends on the graph's inputs or parameters; "
         "export the model with it constant");
  return *tensor;
}

SmallVector<int64_t> OnnxNode::integers(size_t i, StringRef what) const {
  return llvm::to_vector(ArrayRef(known(i, what).toIntegers()));
}

const Tensor &OnnxNode::knownScalar(size_t i, StringRef what) const {
  const Tensor &tensor = known(i, what);
  if (tensor.size() != 1)
    fail("expects one number as its " + what + ", got: " + tensor.describe());
  return tensor;
}

int64_t OnnxNode::integerIn(size_t i, StringRef what) const {
  return knownScalar(i, what).toIntegers().front();
}

double OnnxNode::numberIn(size_t i, StringRef what) const { return knownScalar(i, what).item(); }

const onnx::AttributeProto *OnnxNode::attribute(StringRef name) const {
  for (const onnx::AttributeProto &attribute : proto.attribute())
    if (attribute.name() == name)
      return &attribute;
  return nullptr;
}

/// Null where the node lacks it; an attribute of another type would read as zero or nothing.
const onnx::AttributeProto *OnnxNode::attribute(StringRef name, int type) const {
  const onnx::AttributeProto *found = attribute(name);
  if (found && found->type() != type && found->type() != onnx::AttributeProto::UNDEFINED)
    fail("has attribute '" + name + "' of type " +
         onnx::AttributeProto_AttributeType_Name(found->type()) + ", expected " +
         onnx::AttributeProto_AttributeType_Name(onnx::AttributeProto_AttributeType(type)));
  return found;
}

int64_t OnnxNode::integer(StringRef name) const {
  if (!hasAttribute(name))
    fail("lacks its attribute '" + name + "'");
  return integer(name, 0);
}

int64_t OnnxNode::integer(StringRef name, int64_t otherwise) const {
  const onnx::AttributeProto *found = attribute(name, onnx::AttributeProto::INT);
  return found ? found->i() : otherwise;
}

double shortestDecimal(float image) {
  char digits[64];
  *std::to_chars(digits, digits + sizeof(digits) - 1, image).ptr = '\0';
  return std::strtod(digits, nullptr);
}

double OnnxNode::number(StringRef name, double otherwise) const {
  const onnx::AttributeProto *found = attribute(name, onnx::AttributeProto::FLOAT);
  return found ? shortestDecimal(found->f()) : otherwise;
}

std::string OnnxNode::text(StringRef name, StringRef otherwise) const {
  const onnx::AttributeProto *found = attribute(name, onnx::AttributeProto::STRING);
  return found ? found->s() : otherwise.str();
}

SmallVector<int64_t> OnnxNode::integerList(StringRef name) const {
  const onnx::AttributeProto *found = attribute(name, onnx::AttributeProto::INTS);
  if (!found)
    return {};
  return SmallVector<int64_t>(found->ints().begin(), found->ints().end());
}

bool OnnxNode::isOperand(StringRef name, size_t i, int64_t since) const {
  bool operand = opset >= since;
  if (operand ? hasAttribute(name) : has(i))
    fail("has its " + name + " as an " + (operand ? "attribute" : "operand") +
         ", but the model has opset " + Twine(opset) + " and it is an operand from opset " +
         Twine(since) + " on");
  return operand;
}

std::optional<SmallVector<int64_t>> OnnxNode::integersOrAttribute(StringRef name, size_t i,
                                                                  int64_t since) const {
  if (isOperand(name, i, since))
    return has(i) ? std::optional(integers(i, name)) : std::nullopt;
  return hasAttribute(name) ? std::optional(integerList(name)) : std::nullopt;
}

int64_t OnnxNode::axis(int64_t axis, int64_t rank) const {
  if (axis < -rank || axis >= rank)
    fail("names axis " + Twine(axis) + " of " + Twine(rank));
  return axis < 0 ? axis + rank : axis;
}

SmallVector<int64_t> OnnxNode::axes(ArrayRef<int64_t> list, int64_t rank) const {
  SmallVector<int64_t> result;
  for (int64_t each : list)
    result.push_back(axis(each, rank));
  SmallVector<int64_t> sorted(result);
  llvm::sort(sorted);
  if (std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end())
    fail("names an axis twice");
  return result;
}

bool OnnxNode::wants(size_t i) const {
  return i < results.size() && !proto.output(static_cast<int>(i)).empty() &&
         state.used.count(proto.output(static_cast<int>(i)));
}

//===----------------------------------------------------------------------===//
// Tensors of the file
//===----------------------------------------------------------------------===//

Tensor tensorFromProto(const onnx::TensorProto &proto) {
  TensorInfo info = describeTensor(proto, {});
  reference::ElementType type = onnxElementType(info.dtype);
  Bytes bytes = readTensor(info);
  return Tensor::fromBytes(type, info.shape, bytes.data, bytes.size);
}

} // namespace colrow
