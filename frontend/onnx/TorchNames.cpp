#include "frontend/onnx/TorchNames.h"

#include <algorithm>
#include <cctype>
#include <sstream>

namespace colrow {

std::string moduleOf(const std::string &name) {
  size_t dot = name.rfind('.');
  return dot == std::string::npos ? "" : name.substr(0, dot);
}

std::string leafOf(const std::string &name) {
  size_t dot = name.rfind('.');
  return dot == std::string::npos ? name : name.substr(dot + 1);
}

bool isInside(const std::string &inner, const std::string &outer) {
  if (outer.empty())
    return !inner.empty();
  return inner.size() > outer.size() && inner.compare(0, outer.size(), outer) == 0 &&
         inner[outer.size()] == '.';
}

bool isGeneratedName(const std::string &name) {
  auto allDigits = [](const std::string &text) {
    return !text.empty() && text.find_first_not_of("0123456789") == std::string::npos;
  };
  return name.rfind("onnx::", 0) == 0 || allDigits(name) ||
         (name.rfind("val_", 0) == 0 && allDigits(name.substr(4)));
}

std::optional<std::string> moduleOfNodeName(const std::string &name) {
  if (name.empty() || name[0] != '/')
    return std::nullopt;
  size_t last = name.rfind('/');
  std::string path = last == 0 ? "" : name.substr(1, last - 1);
  std::replace(path.begin(), path.end(), '/', '.');
  return path;
}

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

/// Splits at commas outside of brackets and quotes.
static std::vector<std::string> splitArguments(const std::string &text) {
  std::vector<std::string> result;
  std::string current;
  int depth = 0;
  char quote = 0;
  auto finish = [&] {
    size_t first = current.find_first_not_of(" \t\n"), last = current.find_last_not_of(" \t\n");
    if (first != std::string::npos)
      result.push_back(current.substr(first, last - first + 1));
    current.clear();
  };
  for (char c : text) {
    if (quote) {
      quote = c == quote ? 0 : quote;
    } else if (c == '\'' || c == '"') {
      quote = c;
    } else if (c == '(' || c == '[' || c == '{') {
      ++depth;
    } else if (c == ')' || c == ']' || c == '}') {
      if (--depth < 0)
        break; // the end of the list itself
    } else if (c == ',' && depth == 0) {
      finish();
      continue;
    }
    current += c;
  }
  finish();
  return result;
}

std::optional<FxCall> parseFxNode(const std::string &text) {
  size_t colon = text.find(" :"), target = text.find("[target="), arguments = text.find("args = (");
  if (text.empty() || text[0] != '%' || colon == std::string::npos || target == std::string::npos ||
      arguments == std::string::npos || target > arguments)
    return std::nullopt;
  FxCall call;
  call.result = text.substr(1, colon - 1);
  target += 8;
  call.target = text.substr(target, text.find(']', target) - target);
  if (call.target.rfind("torch.ops.", 0) == 0) { // torch.ops.aten.addmm.default
    std::string name = call.target.substr(call.target.find('.', 10) + 1);
    call.target = name.substr(0, name.find('.'));
  }
  call.arguments = splitArguments(text.substr(arguments + 8));
  return call;
}

int argumentOfRole(const std::string &target, Role role) {
  struct Signature {
    const char *target;
    int weight, bias;
  };
  // https://github.com/pytorch/pytorch/blob/main/aten/src/ATen/native/native_functions.yaml
  static const Signature known[] = {{"embedding", 0, -1},      {"linear", 1, 2},
                                    {"addmm", 2, 0},           {"mm", 1, -1},
                                    {"matmul", 1, -1},         {"bmm", 1, -1},
                                    {"layer_norm", 2, 3},      {"native_layer_norm", 2, 3},
                                    {"rms_norm", 2, -1},       {"group_norm", 2, 3},
                                    {"conv1d", 1, 2},          {"conv2d", 1, 2},
                                    {"conv3d", 1, 2},          {"convolution", 1, 2},
                                    {"_fused_rms_norm", 2, -1}};
  for (const Signature &signature : known)
    if (target == signature.target)
      return role == Role::Weight ? signature.weight : role == Role::Bias ? signature.bias : -1;
  return -1;
}

//===----------------------------------------------------------------------===//
// TorchNames
//===----------------------------------------------------------------------===//

/// torch.export's name of a dotted name: `bert.LayerNorm.weight` is `bert_layernorm_weight`.
static std::string fxName(const std::string &dotted) {
  std::string result;
  for (unsigned char c : dotted) {
    if (isalnum(c))
      result += char(tolower(c));
    else if (result.empty() || result.back() != '_')
      result += '_';
  }
  return result;
}

/// The strings of a Python list of strings, as written by repr().
static std::vector<std::string> parseStringList(const std::string &text) {
  std::vector<std::string> result;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\'' && text[i] != '"')
      continue;
    size_t end = text.find(text[i], i + 1);
    if (end == std::string::npos)
      break;
    result.push_back(text.substr(i + 1, end - i - 1));
    i = end;
  }
  return result;
}

TorchNames::TorchNames(const onnx::GraphProto &graph) {
  Metadata properties = graphMetadata(graph);
  readSignature(properties["pkg.torch.export.ExportedProgram.graph_signature"]);
  for (const onnx::TensorProto &tensor : graph.initializer()) {
    initializerByFxName[fxName(tensor.name())] = tensor.name();
    knownModules.insert(moduleOf(tensor.name()));
  }
  readScopes(graph);
  completeCalls(graph);
  completeScopes();
  for (const std::optional<std::string> &module : modules)
    if (module)
      knownModules.insert(*module);
}

void TorchNames::readSignature(const std::string &text) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    size_t colon = line.find(": "), target = line.find(" target='");
    if (colon == std::string::npos || target == std::string::npos)
      continue;
    std::string placeholder = line.substr(0, colon),
                kind = line.substr(colon + 2, target - colon - 2);
    target += 9;
    std::string name = line.substr(target, line.find('\'', target) - target);
    bool isParameter = kind == "PARAMETER";
    signature[placeholder] = {isParameter ? Kind::Parameter : Kind::NotParameter, name};
    if (isParameter)
      parameterOrder.emplace(name, parameterOrder.size());
    else
      buffers.insert(name);
  }
}

void TorchNames::readScopes(const onnx::GraphProto &graph) {
  std::set<std::string> paths; // of TorchScript, and all their parents
  for (const onnx::NodeProto &node : graph.node()) {
    Metadata properties = nodeMetadata(node);
    auto call = properties.find("pkg.torch.onnx.fx_node");
    calls.push_back(call == properties.end() ? std::nullopt : parseFxNode(call->second));
    auto scopes = properties.find("pkg.torch.onnx.name_scopes");
    std::optional<std::string> module;
    if (scopes != properties.end()) {
      std::vector<std::string> list = parseStringList(scopes->second);
      if (list.size() > 1)
        module = list[list.size() - 2]; // the last one is the call
    } else if ((module = moduleOfNodeName(node.name()))) {
      for (std::string path = *module; paths.insert(path).second && !path.empty();)
        path = moduleOf(path);
    }
    modules.push_back(module);
  }
  for (size_t i = 0; i < modules.size(); ++i) {
    std::optional<std::string> &module = modules[i];
    if (!module)
      continue;
    if (!paths.empty()) { // TorchScript: `norm_1` is a repeated call of `norm` if that exists
      std::string first;
      std::istringstream parts(*module);
      for (std::string part; std::getline(parts, part, '.');) {
        std::string path = first.empty() ? part : first + "." + part;
        size_t digits = path.find_last_not_of("0123456789");
        if (digits != std::string::npos && digits + 1 < path.size() && path[digits] == '_' &&
            paths.count(path.substr(0, digits)))
          path.resize(digits);
        first = path;
      }
      module = first;
    }
  }
}

/// A model that calls `block.qkv(...)` of a container leaves `blocks.0` out of TorchScript's paths: its
/// calls are `/qkv`, `/qkv_1`. An initializer with a name that one of a call's nodes reads, such as
/// `blocks.0.qkv.bias`, has the whole path of all of them.
void TorchNames::completeCalls(const onnx::GraphProto &graph) {
  std::map<std::string, std::set<std::string>> owners; // by the path of a call
  std::set<std::string> initializers;
  for (const onnx::TensorProto &tensor : graph.initializer())
    initializers.insert(tensor.name());
  auto endsWithPath = [](const std::string &text, const std::string &path) {
    return text == path ||
           (text.size() > path.size() &&
            text.compare(text.size() - path.size() - 1, std::string::npos, "." + path) == 0);
  };
  auto callOf = [&](int index) {
    return modules[index] ? moduleOfNodeName(graph.node(index).name()) : std::nullopt;
  };
  for (int i = 0; i < graph.node_size(); ++i)
    if (std::optional<std::string> call = callOf(i); call && !call->empty())
      for (const std::string &input : graph.node(i).input())
        if (initializers.count(input) && endsWithPath(moduleOf(input), *modules[i]))
          owners[*call].insert(moduleOf(input));
  for (int i = 0; i < graph.node_size(); ++i)
    if (std::optional<std::string> call = callOf(i))
      if (auto owner = owners.find(*call); owner != owners.end() && owner->second.size() == 1)
        modules[i] = *owner->second.begin();
}

/// A model that calls `self.model.decoder(...)`, past the forward of `self.model`, leaves `model`
/// out of TorchScript's paths. The initializers beside have the whole path.
void TorchNames::completeScopes() {
  std::map<std::string, std::set<std::string>> missing; // by the first part of a path
  auto firstPart = [](const std::string &path) { return path.substr(0, path.find('.')); };
  for (const std::string &known : knownModules)
    missing[firstPart(known)].insert(""); // complete
  for (const std::optional<std::string> &module : modules) {
    if (!module || module->empty() || missing[firstPart(*module)].count(""))
      continue;
    for (const std::string &known : knownModules) {
      size_t length = known.size() - std::min(known.size(), module->size() + 1);
      if (length && known.compare(length, std::string::npos, "." + *module) == 0)
        missing[firstPart(*module)].insert(known.substr(0, length));
    }
  }
  for (std::optional<std::string> &module : modules) {
    if (!module || module->empty())
      continue;
    const std::set<std::string> &prefixes = missing[firstPart(*module)];
    if (prefixes.size() == 1 && !prefixes.begin()->empty())
      module = *prefixes.begin() + "." + *module;
  }
}

bool TorchNames::isLeafModule(const std::string &module) const {
  if (module.empty())
    return false;
  auto next = knownModules.upper_bound(module + ".");
  return next == knownModules.end() || !isInside(*next, module);
}

std::optional<TorchNames::Placeholder> TorchNames::placeholder(const std::string &argument) const {
  if (argument.size() < 4 || argument[0] != '%')
    return std::nullopt;
  std::string name = argument.substr(1);
  if (hasSignature()) {
    auto found = signature.find(name);
    return found == signature.end() ? std::nullopt : std::optional<Placeholder>(found->second);
  }
  // Torch before 2.6 writes no signature: undo the spelling by names that are known.
  std::string prefix = name.substr(0, 2), rest = name.substr(2);
  if (prefix != "p_" && prefix != "b_" && prefix != "c_")
    return std::nullopt;
  Placeholder result{prefix == "p_" ? Kind::Parameter : Kind::NotParameter, rest};
  auto initializer = initializerByFxName.find(rest);
  if (initializer != initializerByFxName.end()) {
    result.name = initializer->second;
    return result;
  }
  size_t longest = 0;
  for (const std::string &module : knownModules) {
    std::string spelled = fxName(module) + "_";
    if (spelled.size() > longest && !module.empty() &&
        rest.compare(0, spelled.size(), spelled) == 0) {
      longest = spelled.size();
      result.name = module + "." + rest.substr(longest);
    }
  }
  return result;
}

size_t TorchNames::order(const std::string &name) const {
  auto found = parameterOrder.find(name);
  return found == parameterOrder.end() ? parameterOrder.size() : found->second;
}

} // namespace colrow
