#include "frontend/onnx/Parameters.h"
#include "frontend/onnx/ParameterSorter.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <fnmatch.h>
#include <utility>

namespace colrow {

const char *remarkKindName(ParameterRemark::Kind kind) {
  switch (kind) {
  case ParameterRemark::Tied:
    return "tied";
  case ParameterRemark::Separated:
    return "separated";
  case ParameterRemark::Restored:
    return "restored";
  case ParameterRemark::Renamed:
    return "renamed";
  case ParameterRemark::Constant:
    return "constant";
  case ParameterRemark::Doubtful:
    return "doubtful";
  }
  return "";
}

std::vector<std::string> namesOf(const Parameter &parameter) {
  std::vector<std::string> result{parameter.name};
  result.insert(result.end(), parameter.aliases.begin(), parameter.aliases.end());
  for (const ParameterValue &value : parameter.values)
    result.push_back(value.name);
  return result;
}

bool matchesAny(const std::string &pattern, const std::vector<std::string> &names) {
  return std::any_of(names.begin(), names.end(), [&](const std::string &name) {
    return fnmatch(pattern.c_str(), name.c_str(), 0) == 0;
  });
}

static bool isNamed(const Parameter &parameter, const std::string &name) {
  std::vector<std::string> all = namesOf(parameter);
  return std::find(all.begin(), all.end(), name) != all.end();
}

const Parameter *ParameterList::find(const std::string &name) const {
  for (const Parameter &parameter : parameters)
    if (isNamed(parameter, name))
      return &parameter;
  return nullptr;
}

const Candidate *ParameterSorter::findCandidate(const std::string &name) const {
  for (const Candidate &candidate : candidates)
    if (colrow::isNamed(candidate.parameter, name))
      return &candidate;
  return nullptr;
}

Candidate *ParameterSorter::findCandidate(const std::string &name) {
  return const_cast<Candidate *>(std::as_const(*this).findCandidate(name));
}

static void collectNestedNames(const onnx::GraphProto &graph, std::set<std::string> &names) {
  for (const onnx::NodeProto &node : graph.node()) {
    names.insert(node.input().begin(), node.input().end());
    for (const onnx::AttributeProto &attribute : node.attribute()) {
      if (attribute.has_g())
        collectNestedNames(attribute.g(), names);
      for (const onnx::GraphProto &nested : attribute.graphs())
        collectNestedNames(nested, names);
    }
  }
  for (const onnx::ValueInfoProto &output : graph.output())
    names.insert(output.name());
}

ParameterSorter::ParameterSorter(const OnnxModel &model, const ParameterOptions &options)
    : model(model), options(options), names(model.graph()) {
  const onnx::GraphProto &original = model.graph();
  table.graph.set_name(original.name());
  *table.graph.mutable_node() = original.node();
  *table.graph.mutable_output() = original.output();
  for (const onnx::ValueInfoProto &input : original.input()) {
    values.insert(input.name());
    if (!model.findInitializer(input.name()))
      *table.graph.add_input() = input;
  }
  for (const TensorInfo &tensor : model.initializers())
    values.insert(tensor.name);
  for (int i = 0; i < original.node_size(); ++i) {
    const onnx::NodeProto &user = original.node(i);
    for (int k = 0; k < user.input_size(); ++k)
      users[user.input(k)].push_back({i, k});
    values.insert(user.output().begin(), user.output().end());
    for (const onnx::AttributeProto &attribute : user.attribute()) {
      if (attribute.has_g())
        collectNestedNames(attribute.g(), captured);
      for (const onnx::GraphProto &nested : attribute.graphs())
        collectNestedNames(nested, captured);
    }
    if (names.call(i))
      callResults.insert(names.call(i)->result);
    if (names.call(i))
      for (const std::string &argument : names.call(i)->arguments)
        if (auto named = names.placeholder(argument);
            named && named->kind == TorchNames::Kind::Parameter)
          calledNames.insert(named->name);
  }
  for (const onnx::ValueInfoProto &output : original.output())
    captured.insert(output.name());
}

std::string ParameterSorter::uniqueValue(const std::string &wanted) {
  std::string name = wanted;
  for (int i = 2; !values.insert(name).second; ++i)
    name = fmt::format("{}.{}", wanted, i);
  return name;
}

void ParameterSorter::remark(ParameterRemark::Kind kind, const std::string &parameter, int index,
                             std::string text) {
  std::string where;
  if (index >= 0)
    where = node(index).name().empty() ? node(index).output(0) : node(index).name();
  table.remarks.push_back({kind, parameter, where, std::move(text)});
}

/// Whether an initializer is called as torch calls parameters and buffers.
static bool looksTrained(const std::string &name) {
  return !isGeneratedName(name) && !moduleOf(name).empty() && leafOf(name) != "inv_freq";
}

ParameterTable ParameterSorter::run() {
  // Those that torch names first: what is left of its list decides about the others.
  std::vector<std::pair<const TensorInfo *, std::vector<Use>>> others;
  for (const TensorInfo &tensor : model.initializers()) {
    if (!tensor.isFloat())
      continue;
    std::vector<Use> uses = usesOf(tensor.name);
    if (uses.empty() && !captured.count(tensor.name))
      continue;
    if (isNamed(tensor, uses) && !notParameter(tensor, uses))
      separate(tensor, std::move(uses));
    else
      others.emplace_back(&tensor, std::move(uses));
  }
  for (auto &[info, uses] : others) {
    const TensorInfo &tensor = *info;
    std::optional<Reason> reason = notParameter(tensor, uses);
    bool isScalar = tensor.byteSize <= elementSize(tensor.dtype);
    if (!reason)
      separate(tensor, std::move(uses));
    else if (looksTrained(tensor.name) && !reason->isCertain)
      remark(
          ParameterRemark::Doubtful, tensor.name, uses.empty() ? -1 : uses[0].at.node,
          fmt::format("is not trained: {}; if torch trains it, the results differ", reason->text));
    else if (!isScalar) // scalars are epsilons, scales and halves: no news
      remark(ParameterRemark::Constant, tensor.name, uses.empty() ? -1 : uses[0].at.node,
             fmt::format("is not trained: {}", reason->text));
  }
  mergeEqualNames();
  tieHeads();
  applyTieOptions();
  untieUses();
  restoreBiases();
  sortAllNames();
  finish();
  return std::move(table);
}

void ParameterSorter::finish() {
  candidates.sort([](const Candidate &a, const Candidate &b) {
    const Operand &x = a.uses.front().at, &y = b.uses.front().at;
    return std::pair(x.node, x.index) < std::pair(y.node, y.index);
  });
  std::set<std::string> defined;
  for (Candidate &candidate : candidates) {
    for (const Use &use : candidate.uses)
      if (!use.reads.empty())
        table.graph.mutable_node(use.at.node)->set_input(use.at.index, use.reads);
    defined.insert(candidate.parameter.valueName);
    table.parameters.push_back(std::move(candidate.parameter));
  }

  // Identity nodes that kept merged parameters apart: their outputs are parameters now, or unused.
  for (const onnx::NodeProto &added : prologue)
    defined.insert(added.output(0));
  std::set<int> removed;
  std::set<std::string> needed = captured;
  for (int i = table.graph.node_size() - 1; i >= 0; --i) {
    bool isDone = defined.count(node(i).output(0)) || !needed.count(node(i).output(0));
    if (node(i).op_type() == "Identity" && isDone)
      removed.insert(i);
    else
      needed.insert(node(i).input().begin(), node(i).input().end());
  }

  google::protobuf::RepeatedPtrField<onnx::NodeProto> nodes;
  for (onnx::NodeProto &added : prologue)
    *nodes.Add() = std::move(added);
  for (int i = 0; i < table.graph.node_size(); ++i) {
    if (!removed.count(i))
      *nodes.Add() = std::move(*table.graph.mutable_node(i));
    if (auto added = after.find(i); added != after.end())
      *nodes.Add() = std::move(added->second);
  }
  *table.graph.mutable_node() = std::move(nodes);

  std::set<std::string> used = captured;
  for (const onnx::NodeProto &user : table.graph.node()) {
    used.insert(user.input().begin(), user.input().end());
    defined.insert(user.output().begin(),
                   user.output().end()); // a tied initializer is computed now
  }
  for (const TensorInfo &tensor : model.initializers())
    if (used.count(tensor.name) && !defined.count(tensor.name))
      table.constants.push_back(tensor.name);
}

std::vector<float> initialData(const OnnxModel &model, const Parameter &parameter) {
  if (parameter.restored())
    return std::vector<float>(
        size_t(elementCount(parameter.shape, fmt::format("parameter '{}'", parameter.name))));
  std::vector<float> values = readFloats(*model.findInitializer(parameter.source));
  for (float &value : values) {
    if (parameter.fold == Fold::PlusOne)
      value -= 1;
    else if (parameter.fold == Fold::Exp)
      value = std::log(value);
  }
  return values;
}

ParameterTable sortParameters(const OnnxModel &model, const ParameterOptions &options) {
  return ParameterSorter(model, options).run();
}

} // namespace colrow
