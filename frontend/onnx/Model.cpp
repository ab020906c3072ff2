#include "frontend/onnx/Model.h"
#include "colrow/Error.h"
#include "colrow/File.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <google/protobuf/io/coded_stream.h>

#include <algorithm>

namespace fs = std::filesystem;

namespace colrow {

std::string describeNode(const onnx::NodeProto &node, int index) {
  if (!node.name().empty())
    return fmt::format("node '{}' ({})", node.name(), node.op_type());
  std::string text = fmt::format("node {} ({})", index, node.op_type());
  if (node.output_size())
    text += fmt::format(", which computes '{}'", node.output(0));
  return text;
}

//===----------------------------------------------------------------------===//
// Reading the file
//===----------------------------------------------------------------------===//

namespace {

std::string readFile(const fs::path &path) {
  std::error_code code;
  fs::file_status status = fs::status(path, code);
  if (status.type() == fs::file_type::not_found)
    throw Error(fmt::format("model '{}' does not exist", path.string()));
  if (status.type() == fs::file_type::directory)
    throw Error(fmt::format("'{}' is a folder; name the .onnx file in it", path.string()));
  if (status.type() != fs::file_type::regular)
    throw Error(fmt::format("model '{}' is not a regular file", path.string()));
  uint64_t size = fs::file_size(path, code);
  if (size == 0)
    throw Error(fmt::format("model '{}' is empty", path.string()));
  if (size >= (uint64_t(1) << 31))
    throw Error(
        fmt::format("model '{}' has {} bytes, more than the 2 GiB of a protobuf file; export it "
                    "with external data",
                    path.string(), size));
  return readTextFile(path.string());
}

enum class Outline { Model, Truncated, NotOnnx };

/// Walks the top-level fields only: they tell a cut-off model from a file of another kind, for
/// which protobuf has the same answer.
Outline outline(const std::string &text) {
  constexpr uint32_t lastField = 26; // `configuration`, the newest in 2025
  google::protobuf::io::CodedInputStream in(reinterpret_cast<const uint8_t *>(text.data()),
                                            int(text.size()));
  bool first = true;
  while (size_t(in.CurrentPosition()) < text.size()) {
    uint32_t tag = in.ReadTag();
    uint32_t wire = tag & 7, field = tag >> 3;
    // Every writer puts ir_version, a varint in field 1, first.
    if (first && tag != 8)
      return Outline::NotOnnx;
    if (tag == 0 && size_t(in.CurrentPosition()) == text.size())
      return Outline::Truncated;
    if (tag == 0 || field > lastField || (wire != 0 && wire != 2))
      return Outline::NotOnnx;
    uint64_t value = 0; // of the varint, or the length of the bytes that follow
    if (!in.ReadVarint64(&value))
      return Outline::Truncated;
    if (first && (value == 0 || value > 1000))
      return Outline::NotOnnx;
    if (wire == 2) {
      if (value > text.size() - size_t(in.CurrentPosition()))
        return Outline::Truncated;
      in.Skip(int(value));
    }
    first = false;
  }
  return Outline::Model;
}

void parse(const fs::path &path, onnx::ModelProto &model) {
  std::string text = readFile(path);
  if (text.rfind("version https://git-lfs", 0) == 0)
    throw Error(
        fmt::format("'{}' is a Git LFS pointer, not a model; run git lfs pull", path.string()));
  google::protobuf::LogSilencer quiet; // its messages name no file of the user's
  bool parsed = model.ParseFromString(text);
  Outline kind =
      parsed && model.has_ir_version() && model.has_graph() ? Outline::Model : outline(text);
  if (kind == Outline::Truncated)
    throw Error(
        fmt::format("model '{}' is truncated: it ends within a field after {} bytes; complete "
                    "the download or export it again",
                    path.string(), text.size()));
  if (kind == Outline::NotOnnx)
    throw Error(fmt::format("'{}' is not an ONNX model", path.string()));
  if (!parsed)
    throw Error(fmt::format("model '{}' is damaged: its protobuf cannot be read; export it again",
                            path.string()));
  if (!model.has_graph() || !model.has_ir_version())
    throw Error(
        fmt::format("model '{}' has no graph: it is truncated or holds no model", path.string()));
}

int64_t checkOpset(const onnx::ModelProto &model, const std::string &path) {
  const onnx::OperatorSetIdProto *standard = nullptr;
  for (const auto &id : model.opset_import())
    if (id.domain().empty() || id.domain() == "ai.onnx")
      standard = &id;
  if (!standard)
    throw Error(
        fmt::format("model '{}' names no opset of domain ai.onnx: it is truncated or uses other "
                    "operators only",
                    path));
  if (standard->version() < minOpset || standard->version() > maxOpset)
    throw Error(fmt::format("model '{}' has opset {}, supported are {} to {}; export it with "
                            "opset_version={}",
                            path, standard->version(), minOpset, maxOpset, 17));
  return standard->version();
}

void checkDomains(const onnx::ModelProto &model, const onnx::GraphProto &graph,
                  const std::string &path) {
  for (int i = 0; i < graph.node_size(); ++i) {
    const onnx::NodeProto &node = graph.node(i);
    const std::string &domain = node.domain();
    bool isFunction =
        std::any_of(model.functions().begin(), model.functions().end(), [&](const auto &function) {
          return function.domain() == domain && function.name() == node.op_type();
        });
    if (isFunction)
      throw Error(
          fmt::format("{} in '{}' calls the local function '{}', and local functions are not "
                      "supported; inline them with onnx.inliner.inline_local_functions",
                      describeNode(node, i), path, node.op_type()));
    if (!domain.empty() && domain != "ai.onnx")
      throw Error(
          fmt::format("{} in '{}' is an operator of domain '{}', supported is ai.onnx only; "
                      "export the model without custom operators",
                      describeNode(node, i), path, domain));
    for (const onnx::AttributeProto &attribute : node.attribute()) {
      if (attribute.has_g())
        checkDomains(model, attribute.g(), path);
      for (const onnx::GraphProto &nested : attribute.graphs())
        checkDomains(model, nested, path);
    }
  }
}

GraphInput describeInput(const onnx::ValueInfoProto &value) {
  GraphInput input;
  input.name = value.name();
  if (!value.type().has_tensor_type())
    throw Error(fmt::format("input '{}' is not a tensor", input.name));
  const auto &type = value.type().tensor_type();
  input.dtype = type.elem_type();
  if (elementSize(input.dtype) == 0)
    throw Error(fmt::format("input '{}' has element type {}, which is not supported", input.name,
                            dtypeName(input.dtype)));
  if (!type.has_shape())
    throw Error(
        fmt::format("input '{}' has no shape, so its rank is not known; export the model with "
                    "shapes of its inputs",
                    input.name));
  for (int i = 0; i < type.shape().dim_size(); ++i) {
    const auto &dim = type.shape().dim(i);
    if (dim.has_dim_value()) {
      if (dim.dim_value() <= 0)
        throw Error(
            fmt::format("input '{}' has size {} in dimension {}", input.name, dim.dim_value(), i));
      input.dims.push_back({"", dim.dim_value()});
    } else if (!dim.dim_param().empty()) {
      input.dims.push_back({dim.dim_param(), 0});
    } else {
      input.dims.push_back({fmt::format("{}.{}", input.name, i), 0});
    }
  }
  return input;
}

} // namespace

OnnxModel OnnxModel::load(const fs::path &path) {
  OnnxModel result;
  result.file = path;
  result.model = std::make_shared<onnx::ModelProto>();
  std::string name = path.string();
  parse(path, *result.model);
  const onnx::GraphProto &graph = result.model->graph();
  result.opsetVersion = checkOpset(*result.model, name);
  if (graph.node_size() == 0)
    throw Error(fmt::format("the graph of '{}' is empty: it has no node", name));
  if (graph.output_size() == 0)
    throw Error(fmt::format("the graph of '{}' has no output", name));
  checkDomains(*result.model, graph, name);
  if (graph.sparse_initializer_size())
    throw Error(fmt::format("initializer '{}' of '{}' is sparse, which is not supported",
                            graph.sparse_initializer(0).values().name(), name));
  checkGraph(graph, name);
  fs::path folder = path.has_parent_path() ? path.parent_path() : fs::path(".");
  result.tensors.reserve(size_t(graph.initializer_size()));
  for (const onnx::TensorProto &tensor : graph.initializer()) {
    result.tensorIndex[tensor.name()] = result.tensors.size();
    result.tensors.push_back(describeTensor(tensor, folder));
  }
  for (const onnx::ValueInfoProto &value : graph.input())
    if (!result.findInitializer(value.name()))
      result.graphInputs.push_back(describeInput(value));
  return result;
}

const TensorInfo *OnnxModel::findInitializer(const std::string &name) const {
  auto found = tensorIndex.find(name);
  return found == tensorIndex.end() ? nullptr : &tensors[found->second];
}

//===----------------------------------------------------------------------===//
// Symbols
//===----------------------------------------------------------------------===//

std::vector<std::string> OnnxModel::symbols() const {
  std::vector<std::string> result;
  for (const GraphInput &input : graphInputs)
    for (const InputDim &dim : input.dims)
      if (!dim.symbol.empty() &&
          std::find(result.begin(), result.end(), dim.symbol) == result.end())
        result.push_back(dim.symbol);
  return result;
}

std::vector<BoundInput> OnnxModel::bindSymbols(const std::map<std::string, int64_t> &values) const {
  std::vector<std::string> known = symbols();
  for (const auto &[symbol, size] : values) {
    if (std::find(known.begin(), known.end(), symbol) == known.end())
      throw Error(fmt::format(
          "no input of '{}' has a dimension named '{}'{}", file.string(), symbol,
          known.empty() ? std::string("; all its dimensions are fixed")
                        : fmt::format(", its symbols are: {}", fmt::join(known, ", "))));
    if (size <= 0)
      throw Error(
          fmt::format("symbol '{}' is bound to {}, expected a positive size", symbol, size));
  }
  std::vector<std::string> missing, where;
  std::vector<BoundInput> result;
  for (const GraphInput &input : graphInputs) {
    BoundInput bound{input.name, input.dtype, {}};
    for (size_t i = 0; i < input.dims.size(); ++i) {
      const InputDim &dim = input.dims[i];
      auto value = values.find(dim.symbol);
      if (dim.symbol.empty())
        bound.shape.push_back(dim.size);
      else if (value != values.end())
        bound.shape.push_back(value->second);
      else if (std::find(missing.begin(), missing.end(), dim.symbol) == missing.end()) {
        missing.push_back(dim.symbol);
        where.push_back(
            fmt::format("'{}' (dimension {} of input '{}')", dim.symbol, i, input.name));
      }
    }
    result.push_back(std::move(bound));
  }
  if (!missing.empty())
    throw Error(fmt::format("unbound symbols in '{}': {}; give them with --bind {}=N",
                            file.string(), fmt::join(where, ", "), fmt::join(missing, "=N,")));
  return result;
}

} // namespace colrow
