//===- ParameterSorter.h - the steps of sortParameters --------------------===//
#pragma once

#include "frontend/onnx/Parameters.h"
#include "frontend/onnx/TorchNames.h"

#include <algorithm>
#include <initializer_list>
#include <list>
#include <map>
#include <optional>
#include <set>
#include <unordered_map>

namespace colrow {

inline bool isOneOf(const std::string &name, std::initializer_list<const char *> list) {
  return std::any_of(list.begin(), list.end(), [&](const char *other) { return name == other; });
}

/// One operand of one node.
struct Operand {
  int node = 0;
  int index = 0;
};

enum class Evidence {
  None,
  Scope,    ///< module path in the node's name
  Identity, ///< an Identity with a name of its own
  Call      ///< torch's call, by metadata
};

/// A use of an initializer by a node, directly or through Identity nodes.
struct Use {
  Operand at;
  std::string value; ///< what the node reads: the initializer, or the last Identity
  Role role = Role::Other;
  Evidence evidence = Evidence::None;
  std::string name;          ///< that the evidence gives the parameter
  std::string scopeName;     ///< made of the module path and the role; empty if there is no path
  bool isTransposed = false; ///< the evidence says torch holds it transposed
  bool hasCall = false; ///< the node has a torch call, whether it names a parameter here or not
  bool isNoParameter = false; ///< the call names a buffer or constant here
  std::string folded;         ///< the call reads a result that no node computes: its name
  Fold fold = Fold::None;     ///< what the node reads of the parameter that is named
  std::string reads;          ///< the value that the node reads in the end
};

/// A parameter being made out, and its uses.
struct Candidate {
  Parameter parameter;
  std::vector<Use> uses;
  bool isExact = false; ///< its name comes from a torch call
};

/// State shared by the steps, each in a file of its own.
class ParameterSorter {
public:
  ParameterSorter(const OnnxModel &model, const ParameterOptions &options);
  ParameterTable run();

private:
  // Uses.cpp
  std::vector<Use> usesOf(const std::string &initializer) const;
  void follow(const std::string &value, const TensorInfo &tensor, std::vector<Use> &uses) const;
  Use describeUse(Operand at, const std::string &value, const TensorInfo &tensor) const;
  void readCall(Use &use, const TensorInfo &tensor) const;
  void readScope(Use &use, const TensorInfo &tensor) const;
  // Folded.cpp
  std::string foldedArgument(const TensorInfo &tensor, const FxCall &call) const;
  void readFolded(Use &use, const TensorInfo &tensor, const FxCall &call) const;
  void readFoldedScope(Use &use, const TensorInfo &tensor) const;
  std::string unfold(const Parameter &parameter, const std::string &computed);
  Role roleOf(Operand at, size_t rank) const;
  bool isMatrixOperand(Operand at) const;

  // Classify.cpp
  /// Why an initializer is no parameter, and whether that is beyond doubt; nothing if it is one.
  struct Reason {
    std::string text;
    bool isCertain = false;
  };
  std::optional<Reason> notParameter(const TensorInfo &tensor, const std::vector<Use> &uses) const;
  bool isNamed(const TensorInfo &tensor, const std::vector<Use> &uses) const;
  bool feedsOnlyRotary(const std::string &value, int depth = 0) const;
  bool feedsOnlyChoices(const std::string &value, int depth = 0) const;

  // Separate.cpp
  void separate(const TensorInfo &tensor, std::vector<Use> uses);
  std::string separationKey(const Use &use, const TensorInfo &tensor, bool uniform) const;
  void nameCandidate(Candidate &candidate, const TensorInfo &tensor, bool ownsInitializer);
  void collectAliases(Candidate &candidate) const;

  // Ties.cpp
  void mergeEqualNames();
  void tieHeads();
  void applyTieOptions();
  void untieUses();
  bool isUntied(const Candidate &candidate);
  bool isTable(const Candidate &candidate) const;
  bool isMatrix(const Candidate &candidate) const;
  /// `from` ends. Its value is the transpose of `into`'s parameter in torch's orientation, or not.
  void merge(Candidate &into, Candidate &from, bool valueIsTransposed);
  void sortNames(Candidate &candidate) const;
  void sortAllNames();

  // Restore.cpp
  void restoreBiases();
  void restoreByCalls();
  void restoreByOptions();
  void restore(int node, const std::string &name, const std::string &why);
  bool lacksBias(int node) const;
  Candidate *weightOf(int node, bool &isReversed);
  void addBias(int node, Candidate &bias);
  std::vector<std::string> unclaimed() const;
  void reportUnclaimed();

  // Parameters.cpp
  void finish();
  Candidate *findCandidate(const std::string &name);
  const Candidate *findCandidate(const std::string &name) const;
  std::string uniqueValue(const std::string &wanted);
  void remark(ParameterRemark::Kind kind, const std::string &parameter, int node, std::string text);
  const onnx::NodeProto &node(int index) const { return table.graph.node(index); }

  const OnnxModel &model;
  const ParameterOptions &options;
  TorchNames names;
  ParameterTable table; // its graph is rewritten at the end; until then node indices are the file's
  std::list<Candidate> candidates;
  std::unordered_map<std::string, std::vector<Operand>> users; // by value
  std::set<std::string> values;                                // all names taken in the graph
  std::set<std::string> captured;        // used by nested graphs or as outputs
  std::vector<onnx::NodeProto> prologue; // to insert at the start
  std::map<int, onnx::NodeProto> after;  // to insert, by position
  std::set<std::string> calledNames;     // parameters that torch calls name
  std::set<std::string> callResults;     // results of torch calls that nodes came from
  std::set<std::string> usedUntie;       // patterns that had an effect
};

/// Whether a glob matches one of the names.
bool matchesAny(const std::string &pattern, const std::vector<std::string> &names);

/// All names of a parameter: torch's, aliases, values.
std::vector<std::string> namesOf(const Parameter &parameter);

} // namespace colrow
