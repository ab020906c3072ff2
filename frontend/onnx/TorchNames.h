//===- TorchNames.h - names that torch's exporters leave in a model -------===//
//
// The TorchScript exporter puts the module path into node names,
// `/transformer/h.0/attn/c_attn/Gemm`. The dynamo exporter puts into each node's metadata
//   pkg.torch.onnx.fx_node      %addmm : [num_users=1] = call_function[
//                                 target=torch.ops.aten.addmm.default](
//                                 args = (%p_h_0_c_attn_bias, %view, ...), kwargs = {})
//   pkg.torch.onnx.name_scopes  ['', 'transformer', ..., 'transformer.h.0.attn.c_attn', 'addmm']
// and into the graph's (torch 2.6 and newer)
//   pkg.torch.export.ExportedProgram.graph_signature
//                               p_transformer_wte_weight: PARAMETER target='transformer.wte.weight'
// None of it is needed for a correct import of a model that keeps its parameters apart.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "frontend/onnx/Metadata.h"

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace colrow {

/// What an operand is to the module it belongs to.
enum class Role { Weight, Bias, Other };

/// A call in torch's graph: from the metadata of the nodes that it became.
struct FxCall {
  std::string result; ///< `addmm`
  std::string target; ///< `addmm`; `torch.ops.` names without their library and overload
  std::vector<std::string> arguments; ///< as written: `%view`, `[64]`, `1e-05`
};

std::optional<FxCall> parseFxNode(const std::string &text);

/// Position of the argument that has the role in a call of this target; -1 if there is none.
int argumentOfRole(const std::string &target, Role role);

/// `transformer.h.0.attn` for `/transformer/h.0/attn/Add_1`; nothing for a name of another form.
std::optional<std::string> moduleOfNodeName(const std::string &name);

/// `a.b` for `a.b.weight`, empty for `weight`.
std::string moduleOf(const std::string &name);
/// `weight` for `a.b.weight`.
std::string leafOf(const std::string &name);
/// Whether `inner` is a module inside `outer` (not itself). The model itself, ``, holds all others.
bool isInside(const std::string &inner, const std::string &outer);

/// A name that an exporter made up: `onnx::MatMul_597`, `val_51`, `42`.
bool isGeneratedName(const std::string &name);

/// The names recoverable from a graph.
class TorchNames {
public:
  explicit TorchNames(const onnx::GraphProto &graph);

  enum class Kind { Parameter, NotParameter };
  struct Placeholder {
    Kind kind;
    std::string name; ///< dotted
  };

  /// Per node, in the order of the graph.
  const std::optional<FxCall> &call(int node) const { return calls[size_t(node)]; }
  /// Module path of a node. Repeated calls of one module, which TorchScript numbers
  /// (`/norm_1/...`), have the path of the first.
  const std::optional<std::string> &module(int node) const { return modules[size_t(node)]; }
  /// Whether no other module that has nodes is inside this one.
  bool isLeafModule(const std::string &module) const;

  /// What an argument of a call stands for: `%p_h_0_weight`. Nothing if it is a computed value.
  std::optional<Placeholder> placeholder(const std::string &argument) const;

  bool hasSignature() const { return !signature.empty(); }
  /// Whether the signature has a parameter of this dotted name.
  bool isParameter(const std::string &name) const { return parameterOrder.count(name); }
  bool isBuffer(const std::string &name) const { return buffers.count(name); }
  /// Position among torch's parameters; after all of them if it is none.
  size_t order(const std::string &name) const;
  const std::map<std::string, size_t> &parameters() const { return parameterOrder; }

private:
  void readSignature(const std::string &text);
  void readScopes(const onnx::GraphProto &graph);
  void completeCalls(const onnx::GraphProto &graph);
  void completeScopes();

  std::vector<std::optional<FxCall>> calls;
  std::vector<std::optional<std::string>> modules;
  std::set<std::string> knownModules;
  std::map<std::string, Placeholder> signature; // by placeholder
  std::map<std::string, size_t> parameterOrder;
  std::set<std::string> buffers;
  std::map<std::string, std::string> initializerByFxName;
};

} // namespace colrow
