//===- Separate.cpp - one initializer, one or several parameters ----------===//

#include "frontend/onnx/ParameterSorter.h"

#include <algorithm>
#include <fmt/format.h>

namespace colrow {

/// Uses with the same key are uses of the same parameter; the empty key is the initializer's own.
std::string ParameterSorter::separationKey(const Use &use, const TensorInfo &tensor,
                                           bool uniform) const {
  if (use.evidence == Evidence::Call)
    return "call " + use.name;
  // TorchScript writes an Identity where it merged two parameters, and none where torch shares one.
  if (use.evidence == Evidence::Identity)
    return "value " + use.value;
  // Values that all differ are not equal by chance: what shares them is tied.
  if (!uniform)
    return "";
  if (use.evidence == Evidence::None)
    return fmt::format("use {} {}", use.at.node, use.at.index);
  std::string module = moduleOf(use.scopeName), own = moduleOf(tensor.name);
  bool isOwn = !isGeneratedName(tensor.name) && (module == own || isInside(own, module));
  return isOwn ? "" : "scope " + use.scopeName;
}

void ParameterSorter::separate(const TensorInfo &tensor, std::vector<Use> uses) {
  bool uniform = uses.size() > 1 && isUniform(tensor);
  std::vector<std::pair<std::string, Candidate>> groups; // in the order of first use
  for (Use &use : uses) {
    std::string key = separationKey(use, tensor, uniform);
    auto group =
        std::find_if(groups.begin(), groups.end(), [&](auto &g) { return g.first == key; });
    if (group == groups.end())
      group = groups.insert(groups.end(), {key, Candidate()});
    group->second.uses.push_back(std::move(use));
  }

  // The initializer stays with the parameter it is called after, else with the first that reads it.
  int owner = -1;
  for (int i = int(groups.size()) - 1; i >= 0; --i) {
    const auto &[key, candidate] = groups[size_t(i)];
    bool reads = std::any_of(candidate.uses.begin(), candidate.uses.end(),
                             [&](const Use &use) { return use.value == tensor.name; });
    bool sameName = key.empty() || key == "call " + tensor.name || key == "scope " + tensor.name;
    bool ownerHasName = owner >= 0 && (groups[size_t(owner)].first.empty() ||
                                       groups[size_t(owner)].first == "call " + tensor.name);
    if (reads && (sameName || !ownerHasName))
      owner = i;
  }
  for (size_t i = 0; i < groups.size(); ++i) {
    Candidate &candidate = groups[i].second;
    nameCandidate(candidate, tensor, int(i) == owner);
    collectAliases(candidate);
    if (groups.size() > 1 && int(i) != owner)
      remark(ParameterRemark::Separated, candidate.parameter.name, candidate.uses[0].at.node,
             fmt::format(
                 "starts as a copy of initializer '{}', which the exporter kept for {} parameters",
                 tensor.name, groups.size()));
    candidates.push_back(std::move(candidate));
  }
}

void ParameterSorter::nameCandidate(Candidate &candidate, const TensorInfo &tensor,
                                    bool ownsInitializer) {
  const Use &first = candidate.uses.front();
  Parameter &p = candidate.parameter;
  bool hasOwnName = ownsInitializer && !isGeneratedName(tensor.name);
  candidate.isExact = first.evidence == Evidence::Call;
  if (candidate.isExact)
    p.name = first.name;
  else if (first.evidence == Evidence::Identity && !first.name.empty())
    p.name = first.name;
  else if (hasOwnName)
    p.name = tensor.name;
  else if (!first.scopeName.empty())
    p.name = first.scopeName;
  else if (ownsInitializer)
    p.name = tensor.name;
  else if (first.evidence == Evidence::Identity)
    p.name = first.value;
  else
    p.name = fmt::format("{}@{}", tensor.name,
                         node(first.at.node).name().empty() ? std::to_string(first.at.node)
                                                            : node(first.at.node).name());
  p.dtype = tensor.dtype;
  p.source = tensor.name;
  p.transposed = first.isTransposed;
  p.shape = tensor.shape;
  if (p.transposed)
    std::swap(p.shape[0], p.shape[1]);

  if (first.fold != Fold::None) {
    p.fold = first.fold;
    p.valueName = uniqueValue(p.name);
    std::string computed = unfold(p, ownsInitializer ? tensor.name : uniqueValue(tensor.name));
    for (Use &use : candidate.uses)
      use.reads = computed;
    remark(candidate.isExact ? ParameterRemark::Renamed : ParameterRemark::Doubtful, p.name,
           first.at.node,
           fmt::format("is held by '{}' as {}, which the exporter computed{}", tensor.name,
                       p.fold == Fold::Exp ? "its exponential" : "1 + it",
                       candidate.isExact ? ""
                                         : ", as norms of this form have it; where the module "
                                           "computes something else of its parameter, export with "
                                           "do_constant_folding=False"));
    return;
  }
  if (ownsInitializer)
    p.valueName = tensor.name;
  else if (first.evidence == Evidence::Identity)
    p.valueName = first.value;
  else
    p.valueName = uniqueValue(p.name);
  if (ownsInitializer || first.evidence == Evidence::Identity)
    p.values.push_back({p.valueName, tensor.shape, p.transposed});
  for (Use &use : candidate.uses)
    use.reads = p.valueName;

  if (!p.values.empty() && p.name != p.valueName)
    remark(ParameterRemark::Renamed, p.name, first.at.node,
           fmt::format("is held by '{}'{}", p.valueName, p.transposed ? ", transposed" : ""));
}

/// Other names that the uses give a parameter which they share: `wte.weight` used by `lm_head`.
void ParameterSorter::collectAliases(Candidate &candidate) const {
  Parameter &p = candidate.parameter;
  auto add = [&](const std::string &alias) {
    if (alias != p.name && std::find(p.aliases.begin(), p.aliases.end(), alias) == p.aliases.end())
      p.aliases.push_back(alias);
  };
  for (const Use &use : candidate.uses) {
    const std::optional<std::string> &module = names.module(use.at.node);
    if (!module || module->empty())
      continue;
    if (names.hasSignature()) {
      // Of tied names torch's calls use one; the others are in the signature only.
      for (const std::string &alias : {*module + "." + leafOf(p.name), use.scopeName})
        if (names.isParameter(alias) && !calledNames.count(alias))
          add(alias);
      continue;
    }
    // Without a list of names: a module with a weight or bias of its own, not one that passes it
    // on.
    const std::string &op = node(use.at.node).op_type();
    bool hasPlace = !use.scopeName.empty() && op != "Mul" && names.isLeafModule(*module);
    std::string own = moduleOf(p.name);
    if (hasPlace && !isGeneratedName(p.name) && *module != own && !isInside(own, *module))
      add(use.scopeName);
  }
  sortNames(candidate);
}

/// Torch names a shared parameter after the module that has it first.
void ParameterSorter::sortNames(Candidate &candidate) const {
  Parameter &p = candidate.parameter;
  if (p.aliases.empty())
    return;
  auto firstUse = [&](const std::string &name) {
    for (size_t i = 0; i < candidate.uses.size(); ++i)
      if (candidate.uses[i].scopeName == name)
        return i;
    return candidate.uses.size();
  };
  // Without a list of names: by first use. A name that no use explains belongs to a module around
  // all of them, which was registered before them.
  bool ownFirst = firstUse(p.name) == candidate.uses.size();
  std::vector<std::pair<size_t, std::string>> all;
  auto add = [&](const std::string &name, size_t position) {
    all.emplace_back(names.hasSignature() ? names.order(name) : position, name);
  };
  add(p.name, ownFirst ? 0 : 1 + firstUse(p.name));
  for (const std::string &alias : p.aliases)
    add(alias, 1 + firstUse(alias));
  std::sort(all.begin(), all.end());
  p.name = all.front().second;
  p.aliases.clear();
  for (size_t i = 1; i < all.size(); ++i)
    p.aliases.push_back(all[i].second);
}

} // namespace colrow
