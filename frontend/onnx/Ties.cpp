//===- Ties.cpp - several initializers, one parameter ---------------------===//

#include "colrow/Error.h"
#include "frontend/onnx/ParameterSorter.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace colrow {

static std::vector<int64_t> reversed(const std::vector<int64_t> &shape) {
  return {shape.rbegin(), shape.rend()};
}

void ParameterSorter::merge(Candidate &into, Candidate &from, bool valueIsTransposed) {
  Parameter &p = into.parameter, &q = from.parameter;
  bool flips = valueIsTransposed != q.transposed;
  for (ParameterValue value : q.values) {
    value.transposed ^= flips;
    p.values.push_back(std::move(value));
  }
  if (valueIsTransposed != p.transposed) {
    onnx::NodeProto transpose;
    transpose.set_op_type("Transpose");
    transpose.set_name(uniqueValue(q.valueName + "_tied"));
    transpose.add_input(p.valueName);
    transpose.add_output(q.valueName);
    onnx::AttributeProto &perm = *transpose.add_attribute();
    perm.set_name("perm");
    perm.set_type(onnx::AttributeProto::INTS);
    perm.add_ints(1);
    perm.add_ints(0);
    // In front: another one may read this one's output.
    prologue.insert(prologue.begin(), transpose);
  } else {
    for (Use &use : from.uses)
      if (use.reads == q.valueName)
        use.reads = p.valueName;
    for (onnx::NodeProto &added : prologue)
      if (added.input(0) == q.valueName)
        added.set_input(0, p.valueName);
  }
  // Names made up by the exporter are no names of torch.
  std::vector<std::string> torchNames = q.aliases;
  bool isTorchName = from.isExact || q.values.empty() || q.name != q.valueName;
  if (isTorchName || (!isGeneratedName(q.name) && moduleOf(q.name) != ""))
    torchNames.insert(torchNames.begin(), q.name);
  for (const std::string &name : torchNames)
    if (name != p.name && std::find(p.aliases.begin(), p.aliases.end(), name) == p.aliases.end())
      p.aliases.push_back(name);
  into.uses.insert(into.uses.end(), from.uses.begin(), from.uses.end());
  candidates.remove_if([&](const Candidate &candidate) { return &candidate == &from; });
}

/// One parameter that two initializers hold, by the names found for them.
void ParameterSorter::mergeEqualNames() {
  std::map<std::string, Candidate *> byName; // torch's names and aliases
  for (auto next = candidates.begin(); next != candidates.end();) {
    Candidate &candidate = *next++;
    std::vector<std::string> all = candidate.parameter.aliases;
    all.push_back(candidate.parameter.name);
    auto same =
        std::find_if(all.begin(), all.end(), [&](auto &name) { return byName.count(name); });
    if (same == all.end()) {
      for (const std::string &name : all)
        byName[name] = &candidate;
      continue;
    }
    Candidate *first = byName[*same], *second = &candidate;
    if (first->parameter.transposed && !second->parameter.transposed)
      std::swap(first, second); // the one in torch's orientation stays
    Parameter &p = first->parameter, &q = second->parameter;
    const TensorInfo &a = *model.findInitializer(p.source), &b = *model.findInitializer(q.source);
    bool absent = a.storage == Storage::Absent || b.storage == Storage::Absent;
    bool flips = p.transposed != q.transposed;
    bool equal = flips ? equalTransposed(a, b) : equalTensors(a, b);
    bool known = first->isExact && second->isExact;
    if (p.shape == q.shape && (equal || (known && absent))) {
      remark(ParameterRemark::Tied, p.name, second->uses[0].at.node,
             fmt::format("is held by '{}' and by '{}'{}", p.valueName, q.valueName,
                         flips ? ", transposed" : ""));
      merge(*first, *second, q.transposed);
      for (const std::string &name : all)
        byName[name] = first;
      for (const std::string &name : first->parameter.aliases)
        byName[name] = first;
      continue;
    }
    remark(ParameterRemark::Doubtful, q.valueName, second->uses[0].at.node,
           fmt::format(
               "seems to be '{}' by its place, but '{}' is that too, with other values; trained "
               "apart, under the name '{}'",
               q.name, p.valueName, q.valueName));
    q.name = q.valueName;
    if (q.transposed) { // without torch's name it keeps the orientation of the file
      q.transposed = false;
      q.shape = reversed(q.shape);
      for (ParameterValue &value : q.values)
        value.transposed = false;
    }
    q.aliases.clear();
    byName[q.valueName] = second;
  }
}

bool ParameterSorter::isUntied(const Candidate &candidate) {
  bool result = false;
  for (const std::string &pattern : options.untie)
    if (matchesAny(pattern, namesOf(candidate.parameter))) {
      usedUntie.insert(pattern);
      result = true;
    }
  return result;
}

bool ParameterSorter::isTable(const Candidate &candidate) const {
  return candidate.parameter.shape.size() == 2 &&
         std::any_of(candidate.uses.begin(), candidate.uses.end(), [&](const Use &use) {
           return node(use.at.node).op_type() == "Gather" && use.at.index == 0;
         });
}

bool ParameterSorter::isMatrix(const Candidate &candidate) const {
  return candidate.parameter.shape.size() == 2 &&
         std::any_of(candidate.uses.begin(), candidate.uses.end(),
                     [&](const Use &use) { return isMatrixOperand(use.at); });
}

/// A head that is a copy of an embedding, as a rule transposed: by content.
void ParameterSorter::tieHeads() {
  std::vector<Candidate *> tables, matrices;
  for (Candidate &candidate : candidates)
    if (isTable(candidate))
      tables.push_back(&candidate);
    else if (isMatrix(candidate))
      matrices.push_back(&candidate);
  for (Candidate *matrix : matrices)
    for (Candidate *table : tables) {
      if (matrix->isExact && table->isExact)
        continue; // torch says that they are two
      const TensorInfo &a = *model.findInitializer(table->parameter.source);
      const TensorInfo &b = *model.findInitializer(matrix->parameter.source);
      bool fits = a.shape == b.shape || a.shape == reversed(b.shape);
      if (!fits)
        continue;
      const std::string head = matrix->parameter.name;
      int where = matrix->uses[0].at.node;
      if (a.storage == Storage::Absent || b.storage == Storage::Absent) {
        if (isGeneratedName(matrix->parameter.valueName))
          remark(
              ParameterRemark::Doubtful, head, where,
              fmt::format(
                  "may be tied to '{0}': its shape fits, its data is absent; if it is, give --tie "
                  "{0}={1}",
                  table->parameter.name, head));
        continue;
      }
      bool transposed = equalTransposed(a, b);
      if ((!transposed && !equalTensors(a, b)) || isUniform(a))
        continue;
      // Both, so that either pattern counts as used.
      bool tableUntied = isUntied(*table), matrixUntied = isUntied(*matrix);
      if (tableUntied || matrixUntied)
        continue;
      remark(ParameterRemark::Tied, table->parameter.name, where,
             fmt::format("'{}' is a {}copy of '{}': one parameter; --untie {} trains them apart",
                         matrix->parameter.valueName, transposed ? "transposed " : "",
                         table->parameter.valueName, table->parameter.name));
      merge(*table, *matrix, transposed != table->parameter.transposed);
      break;
    }
}

void ParameterSorter::applyTieOptions() {
  for (const std::string &text : options.tie) {
    size_t equals = text.find('=');
    if (equals == std::string::npos)
      throw Error(fmt::format("--tie '{}' is not of the form A=B", text));
    std::string sides[] = {text.substr(0, equals), text.substr(equals + 1)};
    Candidate *found[2];
    for (int i = 0; i < 2; ++i)
      found[i] = findCandidate(sides[i]);
    if (found[0] && !found[1] && names.isParameter(sides[1])) {
      found[0]->parameter.aliases.push_back(sides[1]); // known by name only
      continue;
    }
    for (int i = 0; i < 2; ++i)
      if (!found[i])
        throw Error(fmt::format("--tie '{}': no parameter of '{}' is called '{}'", text,
                                model.path().string(), sides[i]));
    if (found[0] == found[1])
      continue;
    Parameter &p = found[0]->parameter, &q = found[1]->parameter;
    bool same = p.shape == q.shape, reverse = p.shape == reversed(q.shape) && p.shape.size() == 2;
    if (!same && !reverse)
      throw Error(fmt::format("--tie '{}': shapes {} and {} are neither equal nor transposed", text,
                              shapeText(p.shape), shapeText(q.shape)));
    // Orientation of q's value in p's terms: by the shapes, for square ones by the data.
    bool valueIsTransposed = q.transposed;
    if (!same) {
      valueIsTransposed = !q.transposed;
    } else if (reverse) {
      const TensorInfo &a = *model.findInitializer(p.source), &b = *model.findInitializer(q.source);
      if (equalTensors(a, b))
        valueIsTransposed = p.transposed;
      else if (equalTransposed(a, b))
        valueIsTransposed = !p.transposed;
    }
    remark(ParameterRemark::Tied, p.name, found[1]->uses[0].at.node,
           fmt::format("'{}' is tied to it by --tie", q.name));
    merge(*found[0], *found[1], valueIsTransposed);
  }
}

/// Splits a value that several modules share, where --untie names it.
void ParameterSorter::untieUses() {
  for (auto next = candidates.begin(); next != candidates.end();) {
    auto current = next++;
    std::map<std::string, std::vector<Use>> byModule;
    for (const Use &use : current->uses)
      byModule[use.scopeName].push_back(use);
    bool oneValue = current->parameter.values.size() <= 1;
    if (byModule.size() < 2 || !oneValue || byModule.count("") || !isUntied(*current))
      continue;
    Parameter original = current->parameter;
    // The file's initializer stays with the module that is called like it, else with the first use.
    std::string keeper =
        byModule.count(original.valueName) ? original.valueName : current->uses.front().scopeName;
    for (auto &[name, uses] : byModule) {
      Candidate part;
      part.isExact = current->isExact;
      part.parameter = original;
      part.parameter.name = name;
      part.parameter.aliases.clear();
      part.uses = uses;
      if (name != keeper) {
        part.parameter.values.clear();
        part.parameter.valueName = uniqueValue(name);
        for (Use &use : part.uses)
          use.reads = part.parameter.valueName;
      }
      remark(ParameterRemark::Separated, name, uses[0].at.node,
             fmt::format("is apart from the other uses of '{}' by --untie", original.valueName));
      candidates.insert(next, std::move(part));
    }
    candidates.erase(current);
  }
  for (const std::string &pattern : options.untie)
    if (!usedUntie.count(pattern)) {
      std::vector<std::string> tied;
      for (const Candidate &candidate : candidates)
        if (!candidate.parameter.aliases.empty() || candidate.parameter.values.size() > 1)
          tied.push_back(candidate.parameter.name);
      if (tied.empty())
        tied.push_back("none");
      throw Error(fmt::format("--untie '{}' matches no tied parameter of '{}'; tied are: {}",
                              pattern, model.path().string(), fmt::join(tied, ", ")));
    }
}

void ParameterSorter::sortAllNames() {
  for (Candidate &candidate : candidates) {
    std::sort(candidate.uses.begin(), candidate.uses.end(), [](const Use &a, const Use &b) {
      return std::pair(a.at.node, a.at.index) < std::pair(b.at.node, b.at.index);
    });
    sortNames(candidate);
  }
}

} // namespace colrow
