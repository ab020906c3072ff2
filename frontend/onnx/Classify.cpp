//===- Classify.cpp - which float initializers are no parameters ----------===//

#include "frontend/onnx/ParameterSorter.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <fmt/format.h>

namespace colrow {
namespace {

bool endsWith(const std::string &text, const std::string &end) {
  return text.size() >= end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
}

/// Whether some element is so negative that softmax makes nothing of it. No weight is.
bool holdsMaskValues(const TensorInfo &tensor) {
  if (tensor.dtype != onnx::TensorProto::FLOAT || tensor.storage == Storage::Absent)
    return false;
  Bytes bytes = readTensor(tensor);
  for (size_t i = 0; i + sizeof(float) <= bytes.size; i += sizeof(float)) {
    float value;
    memcpy(&value, bytes.data + i, sizeof value);
    if (value < -1e9f)
      return true;
  }
  return false;
}

bool isFloatingCast(const onnx::NodeProto &cast) {
  for (const onnx::AttributeProto &attribute : cast.attribute())
    if (attribute.name() == "to")
      return attribute.i() == onnx::TensorProto::FLOAT ||
             attribute.i() == onnx::TensorProto::DOUBLE;
  return true;
}

} // namespace

/// Whether everything computed from the value goes through a sine or cosine first.
bool ParameterSorter::feedsOnlyRotary(const std::string &value, int depth) const {
  auto found = users.find(value);
  if (found == users.end() || captured.count(value) || depth > 16)
    return false;
  for (const Operand &at : found->second) {
    const onnx::NodeProto &user = node(at.node);
    if (isOneOf(user.op_type(), {"Sin", "Cos"}))
      continue;
    if (!isOneOf(user.op_type(), {"Mul", "Div", "MatMul", "Cast", "Concat", "Unsqueeze", "Reshape",
                                  "Expand", "Transpose", "Slice", "Identity", "Einsum"}) ||
        !feedsOnlyRotary(user.output(0), depth + 1))
      return false;
  }
  return true;
}

/// Whether what is computed from the value only decides between other values, so that no gradient
/// reaches it: a triangle of ones that is compared with 0.
bool ParameterSorter::feedsOnlyChoices(const std::string &value, int depth) const {
  auto found = users.find(value);
  if (found == users.end() || captured.count(value) || depth > 16)
    return false;
  for (const Operand &at : found->second) {
    const onnx::NodeProto &user = node(at.node);
    if (isOneOf(user.op_type(),
                {"Equal", "Less", "LessOrEqual", "Greater", "GreaterOrEqual", "Sign", "Floor",
                 "Ceil", "Round", "ArgMax", "ArgMin", "Shape", "Size"}) ||
        (user.op_type() == "Cast" && !isFloatingCast(user)))
      continue;
    if (!isOneOf(user.op_type(), {"Cast", "Concat", "Unsqueeze", "Squeeze", "Reshape", "Expand",
                                  "Transpose", "Slice", "Gather", "Trilu", "Identity"}) ||
        !feedsOnlyChoices(user.output(0), depth + 1))
      return false;
  }
  return true;
}

/// Whether torch names it as a parameter, or somewhere as none.
bool ParameterSorter::isNamed(const TensorInfo &tensor, const std::vector<Use> &uses) const {
  return names.isParameter(tensor.name) ||
         std::any_of(uses.begin(), uses.end(), [](const Use &use) {
           return use.evidence == Evidence::Call && !use.isNoParameter;
         });
}

std::optional<ParameterSorter::Reason>
ParameterSorter::notParameter(const TensorInfo &tensor, const std::vector<Use> &uses) const {
  auto all = [&](auto predicate) { return std::all_of(uses.begin(), uses.end(), predicate); };
  auto opOf = [&](const Use &use) -> const std::string & { return node(use.at.node).op_type(); };
  if (captured.count(tensor.name))
    return Reason{"it is an output of the graph or used by a nested graph"};
  if (names.isBuffer(tensor.name))
    return Reason{"torch has it as a buffer", true};
  for (const Use &use : uses)
    if (use.evidence == Evidence::Call && use.isNoParameter)
      return Reason{fmt::format("torch has it as the buffer or constant '{}'", use.name)};
  if (isNamed(tensor, uses))
    return std::nullopt;
  if (feedsOnlyChoices(tensor.name))
    return Reason{"it is only compared, so that no gradient reaches it", true};
  if (endsWith(tensor.name, "inv_freq") || feedsOnlyRotary(tensor.name))
    return Reason{"it holds frequencies of a rotary embedding"};
  if (tensor.byteSize <= elementSize(tensor.dtype)) {
    // A scalar is a parameter only if it is called like one where it is used.
    bool own = all([&](const Use &use) {
      auto module = moduleOfNodeName(node(use.at.node).name());
      return module && *module == moduleOf(tensor.name);
    });
    if (isGeneratedName(tensor.name) || !own)
      return Reason{"it is a scalar"};
    return std::nullopt;
  }
  // Torch's list of parameters is complete.
  std::vector<std::string> left = names.hasSignature() ? unclaimed() : std::vector<std::string>();
  if (names.hasSignature() && left.empty())
    return Reason{"torch's parameters are all others", true};
  if (all([](const Use &use) { return use.hasCall; }) &&
      !all([](const Use &use) { return use.folded.rfind("embedding", 0) == 0; }))
    return Reason{
        "the call that it came from names no parameter for it: torch computed it from constants"};
  if (all([&](const Use &use) {
        return isOneOf(opOf(use), {"Range", "Resize", "Pad", "ConstantOfShape", "Clip"});
      }))
    return Reason{"it is used by shapes only", true};
  bool elementwise =
      tensor.shape.size() >= 2 && all([&](const Use &use) {
        return isOneOf(opOf(use), {"Add", "Sub", "Mul", "Div", "Where", "Slice", "Cast"});
      });
  if (elementwise && holdsMaskValues(tensor))
    return Reason{"it is a mask", true};
  if (elementwise && isGeneratedName(tensor.name) && uses.size() > 1)
    return Reason{"it is a table without a name that several nodes share"};
  return std::nullopt;
}

} // namespace colrow
