//===- Uses.cpp - who uses an initializer, as what, and which name that gives it -===//

#include "frontend/onnx/ParameterSorter.h"

namespace colrow {

static int64_t intAttribute(const onnx::NodeProto &node, const char *name, int64_t otherwise) {
  for (const onnx::AttributeProto &attribute : node.attribute())
    if (attribute.name() == name)
      return attribute.i();
  return otherwise;
}

std::vector<Use> ParameterSorter::usesOf(const std::string &initializer) const {
  std::vector<Use> uses;
  follow(initializer, *model.findInitializer(initializer), uses);
  return uses;
}

void ParameterSorter::follow(const std::string &value, const TensorInfo &tensor,
                             std::vector<Use> &uses) const {
  auto found = users.find(value);
  if (found == users.end())
    return;
  for (const Operand &at : found->second) {
    const onnx::NodeProto &user = node(at.node);
    if (user.op_type() == "Identity" && !captured.count(user.output(0)))
      follow(user.output(0), tensor, uses);
    else
      uses.push_back(describeUse(at, value, tensor));
  }
}

Use ParameterSorter::describeUse(Operand at, const std::string &value,
                                 const TensorInfo &tensor) const {
  Use use;
  use.at = at;
  use.value = use.reads = value;
  use.role = roleOf(at, tensor.shape.size());
  readScope(use, tensor);
  if (value != tensor.name) {
    use.evidence = Evidence::Identity;
    use.name = isGeneratedName(value) ? use.scopeName : value;
    use.isTransposed = use.isTransposed && isGeneratedName(value);
  }
  readCall(use, tensor);
  if (use.evidence == Evidence::Scope)
    readFoldedScope(use, tensor);
  return use;
}

Role ParameterSorter::roleOf(Operand at, size_t rank) const {
  const onnx::NodeProto &user = node(at.node);
  const std::string &op = user.op_type();
  if (op == "LayerNormalization" || op == "RMSNormalization" || op == "GroupNormalization" ||
      op == "InstanceNormalization" || op == "Conv" || op == "Gemm")
    return at.index == 1 ? Role::Weight : at.index == 2 ? Role::Bias : Role::Other;
  if (op == "Gather")
    return at.index == 0 ? Role::Weight : Role::Other;
  if (op == "MatMul" || op == "Transpose")
    return rank >= 2 ? Role::Weight : Role::Other;
  if (op == "Mul" && rank == 1) // the last step of a norm
    return Role::Weight;
  if (op == "Add" && rank == 1)
    return Role::Bias;
  return Role::Other;
}

bool ParameterSorter::isMatrixOperand(Operand at) const {
  const std::string &op = node(at.node).op_type();
  return ((op == "MatMul" || op == "Gemm") && at.index == 1) || op == "Transpose";
}

/// Whether a product reads the transpose of what nn.Linear holds, which is [out, in].
static bool readsLinearTransposed(const onnx::NodeProto &user, Operand at) {
  if (user.op_type() == "MatMul")
    return at.index == 1;
  return user.op_type() == "Gemm" && at.index == 1 && intAttribute(user, "transB", 0) == 0;
}

void ParameterSorter::readScope(Use &use, const TensorInfo &tensor) const {
  const std::optional<std::string> &module = names.module(use.at.node);
  if (!module || module->empty() || use.role == Role::Other)
    return;
  use.evidence = Evidence::Scope;
  use.scopeName = use.name = *module + (use.role == Role::Weight ? ".weight" : ".bias");
  // A matrix under its own name is as torch holds it; only nn.Linear's are rewritten.
  use.isTransposed = isGeneratedName(tensor.name) && tensor.shape.size() == 2 &&
                     readsLinearTransposed(node(use.at.node), use.at);
}

void ParameterSorter::readCall(Use &use, const TensorInfo &tensor) const {
  const std::optional<FxCall> &call = names.call(use.at.node);
  if (!call)
    return;
  use.hasCall = true;
  std::vector<std::optional<TorchNames::Placeholder>> arguments;
  int count = 0, only = -1;
  std::optional<TorchNames::Placeholder> choice;
  for (const std::string &text : call->arguments) {
    arguments.push_back(names.placeholder(text));
    if (!arguments.back())
      continue;
    only = ++count == 1 ? int(arguments.size()) - 1 : -1;
    if (arguments.back()->name == tensor.name)
      choice = arguments.back();
  }
  int position = argumentOfRole(call->target, use.role);
  bool isScalar = tensor.shape.empty() || tensor.byteSize == elementSize(tensor.dtype);
  if (!choice && position >= 0) {
    if (position < int(arguments.size()))
      choice = arguments[size_t(position)];
  } else if (!choice && only >= 0 && !isScalar) {
    // An elementwise call has one parameter at most; scalars beside it are constants.
    choice = arguments[size_t(only)];
  }
  if (!choice)
    return readFolded(use, tensor, *call);
  use.evidence = Evidence::Call;
  use.name = choice->name;
  use.isNoParameter = choice->kind == TorchNames::Kind::NotParameter;
  use.isTransposed = call->target == "linear" && use.role == Role::Weight &&
                     tensor.shape.size() == 2 && readsLinearTransposed(node(use.at.node), use.at);
}

} // namespace colrow
