//===- Folded.cpp - parameters of which the file holds what was computed ---===//
//
// An exporter computes what depends on constants alone, and to it parameters are such: W.T of a
// product written out, 1 + weight of a norm that is initialised with zeros (Gemma, Nemotron),
// exp(logit_scale). The initializer then is no parameter of torch's, under a name like `permute_3`
// or `onnx::Mul_759`. The dynamo exporter leaves the call that read the result, and in the
// signature the parameter that no call names: where the module of the call has just one such, it is
// that. Of 1 + weight the TorchScript exporter leaves the made-up name alone, which no vector has
// that is as torch holds it.
//
//===----------------------------------------------------------------------===//

#include "frontend/onnx/ParameterSorter.h"

namespace colrow {

/// `permute` for `permute_3`.
static std::string withoutNumber(const std::string &name) {
  size_t digits = name.find_last_not_of("0123456789");
  bool isNumbered = digits != std::string::npos && digits + 1 < name.size() && name[digits] == '_';
  return isNumbered ? name.substr(0, digits) : name;
}

static bool isTranspose(const std::string &target) {
  return isOneOf(target, {"permute", "transpose", "t", "numpy_t"});
}

/// The argument of a call that no node computes; empty where there is none, or more than one that
/// it could be.
std::string ParameterSorter::foldedArgument(const TensorInfo &tensor, const FxCall &call) const {
  std::string found;
  for (const std::string &argument : call.arguments) {
    if (argument.size() < 2 || argument[0] != '%' || names.placeholder(argument))
      continue;
    std::string name = argument.substr(1), target = withoutNumber(name);
    if (name == tensor.name)
      return name;
    if (callResults.count(name) ||
        !(isTranspose(target) || isOneOf(target, {"add", "exp", "embedding"})))
      continue;
    if (!found.empty())
      return "";
    found = name;
  }
  return found;
}

void ParameterSorter::readFolded(Use &use, const TensorInfo &tensor, const FxCall &call) const {
  use.folded = foldedArgument(tensor, call);
  const std::optional<std::string> &module = names.module(use.at.node);
  if (use.folded.empty() || !module)
    return;
  std::string found;
  for (const auto &[name, order] : names.parameters()) {
    if (moduleOf(name) != *module || calledNames.count(name) || model.findInitializer(name))
      continue;
    if (!found.empty())
      return;
    found = name;
  }
  if (found.empty())
    return;
  std::string target = withoutNumber(use.folded);
  if (tensor.shape.size() == 2 && isTranspose(target))
    use.isTransposed = true;
  else if (target == "add")
    use.fold = Fold::PlusOne;
  else if (target == "exp")
    use.fold = Fold::Exp;
  else
    return;
  use.evidence = Evidence::Call;
  use.name = found;
}

void ParameterSorter::readFoldedScope(Use &use, const TensorInfo &tensor) const {
  if (!names.hasSignature() && tensor.shape.size() == 1 && use.role == Role::Weight &&
      use.value == tensor.name && tensor.name.rfind("onnx::", 0) == 0 &&
      !model.findInitializer(use.scopeName))
    use.fold = Fold::PlusOne;
}

/// Puts the computation back in front of all nodes: from the parameter's value to `computed`.
std::string ParameterSorter::unfold(const Parameter &parameter, const std::string &computed) {
  onnx::NodeProto compute;
  compute.set_op_type(parameter.fold == Fold::Exp ? "Exp" : "Add");
  compute.set_name(uniqueValue(parameter.valueName + "_folded"));
  compute.add_input(parameter.valueName);
  compute.add_output(computed);
  if (parameter.fold == Fold::PlusOne) {
    onnx::NodeProto one;
    one.set_op_type("Constant");
    one.set_name(uniqueValue(parameter.valueName + "_one"));
    one.add_output(one.name());
    onnx::AttributeProto &value = *one.add_attribute();
    value.set_name("value");
    value.set_type(onnx::AttributeProto::TENSOR);
    value.mutable_t()->set_data_type(onnx::TensorProto::FLOAT);
    value.mutable_t()->add_float_data(1);
    compute.add_input(one.name());
    prologue.push_back(one);
  }
  prologue.push_back(compute);
  return computed;
}

} // namespace colrow
