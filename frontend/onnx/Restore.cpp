//===- Restore.cpp - biases that the exporter dropped because they were zero -===//

#include "colrow/Error.h"
#include "frontend/onnx/ParameterSorter.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace colrow {

void ParameterSorter::restoreBiases() {
  restoreByCalls();
  restoreByOptions();
  reportUnclaimed();
}

/// The parameter that a node multiplies by, as operand 1 or as the Transpose of a parameter there.
/// `isReversed`: the node reads the transpose of the parameter's value.
Candidate *ParameterSorter::weightOf(int index, bool &isReversed) {
  if (node(index).input_size() < 2)
    return nullptr;
  auto reading = [&](int at, int operand) -> Candidate * {
    for (Candidate &candidate : candidates)
      for (const Use &use : candidate.uses)
        if (use.at.node == at && use.at.index == operand)
          return &candidate;
    return nullptr;
  };
  isReversed = false;
  if (Candidate *direct = reading(index, 1)) {
    // A tied value in the other orientation is read through a Transpose that we add.
    for (const Use &use : direct->uses)
      if (use.at.node == index && use.at.index == 1)
        isReversed = use.reads != direct->parameter.valueName;
    return direct;
  }
  for (int i = 0; i < table.graph.node_size(); ++i)
    if (node(i).op_type() == "Transpose" && node(i).output(0) == node(index).input(1)) {
      isReversed = true;
      return reading(i, 0);
    }
  return nullptr;
}

/// A product or norm that could have a bias and has none.
bool ParameterSorter::lacksBias(int index) const {
  const onnx::NodeProto &user = node(index);
  if (user.op_type() == "Gemm" || user.op_type() == "LayerNormalization")
    return user.input_size() < 3 || user.input(2).empty();
  if (user.op_type() != "MatMul")
    return false;
  auto next = users.find(user.output(0));
  if (next == users.end() || next->second.size() != 1 || captured.count(user.output(0)))
    return true;
  const Operand &at = next->second.front();
  if (node(at.node).op_type() != "Add")
    return true;
  for (const Candidate &candidate : candidates)
    for (const Use &use : candidate.uses)
      if (use.at.node == at.node && candidate.parameter.shape.size() == 1)
        return false;
  return true;
}

void ParameterSorter::restoreByCalls() {
  for (int i = 0; i < table.graph.node_size(); ++i) {
    const std::optional<FxCall> &call = names.call(i);
    if (!call || !lacksBias(i))
      continue;
    int position = argumentOfRole(call->target, Role::Bias);
    if (position < 0 || position >= int(call->arguments.size()))
      continue;
    auto bias = names.placeholder(call->arguments[size_t(position)]);
    if (bias && bias->kind == TorchNames::Kind::Parameter)
      restore(i, bias->name,
              "its torch call has it, and the exporter dropped it because it is zero");
  }
}

void ParameterSorter::restoreByOptions() {
  std::map<std::string, std::vector<std::string>> available; // weight -> names
  std::set<std::string> matched;
  std::vector<int> silent;
  for (int i = 0; i < table.graph.node_size(); ++i) {
    bool isReversed;
    Candidate *weight = node(i).op_type() == "LayerNormalization" || !lacksBias(i)
                            ? nullptr
                            : weightOf(i, isReversed);
    if (!weight)
      continue;
    bool restoredAlready = after.count(i) != 0;
    for (const Candidate &candidate : candidates)
      for (const Use &use : candidate.uses)
        restoredAlready |= use.at.node == i && use.at.index == 2;
    if (restoredAlready)
      continue;
    std::vector<std::string> all = namesOf(weight->parameter);
    all.push_back(node(i).name());
    all.push_back(node(i).output(0));
    if (names.module(i))
      all.push_back(*names.module(i));
    const std::string &name = weight->parameter.name;
    available[name] = all;
    if (!names.call(i) && node(i).op_type() == "Gemm")
      silent.push_back(i);
    for (const std::string &pattern : options.restoreBias)
      if (matchesAny(pattern, all)) {
        matched.insert(pattern);
        std::string bias = leafOf(name) == "weight" ? moduleOf(name) + ".bias" : name + ".bias";
        restore(i, bias, "--restore-bias asks for it");
        silent.erase(std::remove(silent.begin(), silent.end(), i), silent.end());
        break;
      }
  }
  for (const std::string &pattern : options.restoreBias)
    if (!matched.count(pattern)) {
      std::vector<std::string> list;
      for (const auto &[name, all] : available)
        list.push_back(name);
      if (list.empty())
        list.push_back("none");
      throw Error(
          fmt::format("--restore-bias '{}' matches no product without bias in '{}'; those are: {}",
                      pattern, model.path().string(), fmt::join(list, ", ")));
    }
  if (!silent.empty())
    remark(ParameterRemark::Doubtful, "", silent.front(),
           fmt::format(
               "{} Gemm nodes have no bias; if the exporter dropped zero biases that are to be "
               "trained, give --restore-bias PATTERN",
               silent.size()));
}

void ParameterSorter::restore(int index, const std::string &name, const std::string &why) {
  bool isReversed = false;
  Candidate *weight = weightOf(index, isReversed);
  size_t rank = node(index).op_type() == "LayerNormalization" ? 1 : 2;
  if (!weight || weight->parameter.shape.size() < rank) {
    remark(ParameterRemark::Doubtful, name, index,
           "cannot be created again: its size is not known");
    return;
  }
  std::vector<int64_t> shape = weight->parameter.valueShape();
  if (isReversed)
    std::reverse(shape.begin(), shape.end());
  bool transB = false;
  for (const onnx::AttributeProto &attribute : node(index).attribute())
    transB |= node(index).op_type() == "Gemm" && attribute.name() == "transB" && attribute.i() != 0;
  int64_t size = transB ? shape.front() : shape.back();

  Candidate *existing = findCandidate(name);
  if (existing && existing->parameter.shape != std::vector<int64_t>{size}) {
    remark(ParameterRemark::Doubtful, name, index,
           fmt::format("is not added here: it has shape {}, needed is [{}]",
                       shapeText(existing->parameter.shape), size));
    return;
  }
  if (!existing) {
    Candidate created;
    created.isExact = true;
    created.parameter.name = name;
    created.parameter.shape = {size};
    created.parameter.dtype = weight->parameter.dtype;
    created.parameter.valueName = uniqueValue(name);
    candidates.push_back(std::move(created));
    existing = &candidates.back();
  }
  remark(ParameterRemark::Restored, name, index,
         fmt::format(
             "{}: {}",
             existing->parameter.restored() ? "is created again as zeros" : "is added again", why));
  addBias(index, *existing);
}

void ParameterSorter::addBias(int index, Candidate &bias) {
  Use use;
  use.at = {index, 2};
  use.role = Role::Bias;
  onnx::NodeProto &user = *table.graph.mutable_node(index);
  if (user.op_type() == "MatMul") {
    // The Add takes over the product's output and, so that the bias is found by the next import
    // too, its metadata.
    onnx::NodeProto add = user;
    add.set_op_type("Add");
    add.set_name(uniqueValue((user.name().empty() ? user.output(0) : user.name()) + "_bias"));
    add.clear_attribute();
    user.set_output(0, uniqueValue(user.output(0) + "_product"));
    add.set_input(0, user.output(0));
    add.set_input(1, bias.parameter.valueName);
    after[index] = add;
  } else {
    use.reads = bias.parameter.valueName;
    while (user.input_size() < 3)
      user.add_input("");
    // With two inputs beta had no effect.
    auto &attributes = *user.mutable_attribute();
    for (int i = attributes.size() - 1; i >= 0; --i)
      if (attributes[i].name() == "beta")
        attributes.DeleteSubrange(i, 1);
  }
  bias.uses.push_back(use);
}

/// Parameters of torch's list that no node is known to use.
std::vector<std::string> ParameterSorter::unclaimed() const {
  std::vector<std::string> result;
  for (const auto &[name, order] : names.parameters())
    if (!calledNames.count(name) && !findCandidate(name))
      result.push_back(name);
  return result;
}

/// Parameters that torch has and the graph does not hold.
void ParameterSorter::reportUnclaimed() {
  for (const std::string &name : calledNames)
    if (!findCandidate(name))
      remark(ParameterRemark::Doubtful, name, -1,
             "is a parameter in torch that the graph does not hold: the exporter folded or dropped "
             "it, so "
             "it is not trained");
  std::vector<std::string> unused = unclaimed();
  if (!unused.empty())
    remark(ParameterRemark::Doubtful, unused.front(), -1,
           fmt::format(
               "torch has parameters that no node uses: {}; each is unused, folded into a constant "
               "(then export with dynamic shapes, or with optimize=False, which folds nothing), or "
               "tied "
               "to another parameter, which --tie OTHER=NAME tells",
               fmt::join(unused, ", ")));
}

} // namespace colrow
