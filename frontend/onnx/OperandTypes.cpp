//===- OperandTypes.cpp - element types, and which of them operators take --===//

#include "colrow/Error.h"
#include "frontend/onnx/OnnxNode.h"
#include "frontend/onnx/Weights.h"
#include "runtime/reference/InterpreterTypes.h"

#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using colrow::reference::ElementType;

namespace colrow {

namespace {
struct ImportedType {
  int32_t dtype; ///< onnx::TensorProto_DataType
  ElementType element;
};
} // namespace

static constexpr ImportedType importedTypes[] = {
    {onnx::TensorProto::FLOAT, ElementType::f32}, {onnx::TensorProto::DOUBLE, ElementType::f64},
    {onnx::TensorProto::INT64, ElementType::i64}, {onnx::TensorProto::INT32, ElementType::i32},
    {onnx::TensorProto::UINT8, ElementType::u8},  {onnx::TensorProto::BOOL, ElementType::b1},
};

ElementType onnxElementType(int32_t dtype) {
  for (const ImportedType &type : importedTypes)
    if (type.dtype == dtype)
      return type.element;
  throw Error("uses element type " + dtypeName(dtype) +
              "; imported are float, double, int64, int32, uint8 and bool: export the model in "
              "float32");
}

/// As ONNX calls it.
static std::string nameOf(ElementType element) {
  for (const ImportedType &type : importedTypes)
    if (type.element == element)
      return dtypeName(type.dtype);
  llvm_unreachable("all element types are imported");
}

/// Whether the class of types that a letter of OnnxOp::operands stands for has this one.
static bool isIn(char letter, ElementType type) {
  switch (letter) {
  case 'a':
    return true;
  case 'n':
    return type != ElementType::b1;
  case 's':
    return type != ElementType::b1 && type != ElementType::u8;
  case 'f':
    return isFloat(type);
  case 'i':
    return type == ElementType::i64 || type == ElementType::i32;
  case 'l':
    return type == ElementType::i64;
  case 'b':
    return type == ElementType::b1;
  default:
    llvm_unreachable("no class of element types");
  }
}

/// "float or double"
static std::string namesOf(char letter) {
  SmallVector<std::string> names;
  for (const ImportedType &type : importedTypes)
    if (isIn(letter, type.element))
      names.push_back(nameOf(type.element));
  std::string last = names.pop_back_val();
  return names.empty() ? last : llvm::join(names, ", ") + " or " + last;
}

bool takesOperandOf(const OnnxOp &op, size_t i, ElementType type) {
  return i < op.operandLimit() && isIn(llvm::toLower(op.operandClass(i)), type);
}

void checkOperandTypes(const OnnxNode &node, const OnnxOp &op) {
  if (node.numInputs() > op.operandLimit())
    node.fail("has " + Twine(node.numInputs()) + " operands, expected at most " +
              Twine(op.operandLimit()));
  auto named = [&](size_t i) {
    return ("operand " + Twine(i) + " '" + node.proto.input(static_cast<int>(i)) + "'").str();
  };
  std::optional<size_t> first; // of those that have to be of one type
  for (size_t i = 0; i < node.numInputs(); ++i) {
    if (!node.has(i))
      continue;
    ElementType type = toElementType(node.element(i));
    char letter = op.operandClass(i);
    if (!isIn(llvm::toLower(letter), type))
      node.fail(named(i) + " is " + nameOf(type) + ", expected " + namesOf(llvm::toLower(letter)) +
                "; cast it before the node");
    if (!llvm::isUpper(letter))
      continue;
    if (!first)
      first = i;
    else if (node.element(i) != node.element(*first))
      node.fail(named(i) + " is " + nameOf(type) + ", expected " +
                nameOf(toElementType(node.element(*first))) + " as " + named(*first) +
                " is; cast one of them before the node");
  }
}

} // namespace colrow
