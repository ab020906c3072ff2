#include "frontend/onnx/GraphChecksum.h"
#include "colrow/Checksum.h"
#include "frontend/onnx/Weights.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

namespace colrow {
namespace {

class GraphHasher {
public:
  GraphHasher(const OnnxModel &model, const ParameterTable &table) : model(model) {
    for (const Parameter &parameter : table.parameters)
      parameters[parameter.valueName] = &parameter;
  }

  void add(const onnx::GraphProto &graph) {
    addNumber(uint64_t(graph.node_size()));
    for (const onnx::NodeProto &node : graph.node()) {
      addText(node.op_type());
      addNumber(uint64_t(node.input_size()));
      for (const std::string &input : node.input())
        addUse(input);
      addAttributes(node);
      addNumber(uint64_t(node.output_size()));
      for (const std::string &output : node.output())
        addNumber(output.empty() ? 0 : numberOf(output).first);
    }
    for (const onnx::ValueInfoProto &output : graph.output())
      addUse(output.name());
  }

  std::string text() const { return fmt::format("{:016x}", sum.value()); }

private:
  void addNumber(uint64_t number) { sum.add(&number, sizeof(number)); }
  void addText(const std::string &text) {
    addNumber(text.size());
    sum.add(text.data(), text.size());
  }

  /// Values are numbered as they are met, from 1; whether this one is new.
  std::pair<uint64_t, bool> numberOf(const std::string &value) {
    auto [entry, isNew] = numbers.try_emplace(value, numbers.size() + 1);
    return {entry->second, isNew};
  }

  void addUse(const std::string &value) {
    if (value.empty())
      return addNumber(0);
    auto [number, isNew] = numberOf(value);
    addNumber(number);
    if (!isNew)
      return;
    auto parameter = parameters.find(value);
    if (parameter != parameters.end()) {
      addText("parameter");
      for (int64_t size : parameter->second->valueShape())
        addNumber(uint64_t(size));
    } else if (const TensorInfo *constant = model.findInitializer(value)) {
      addText("constant");
      addTensor(*constant);
    }
  }

  void addTensor(const TensorInfo &tensor) {
    addNumber(uint64_t(tensor.dtype));
    addNumber(tensor.shape.size());
    for (int64_t size : tensor.shape)
      addNumber(uint64_t(size));
    if (tensor.storage == Storage::Absent || elementSize(tensor.dtype) == 0)
      return;
    Bytes bytes = readTensor(tensor);
    sum.add(bytes.data, bytes.size);
  }

  void addAttributes(const onnx::NodeProto &node) {
    std::vector<const onnx::AttributeProto *> attributes;
    for (const onnx::AttributeProto &attribute : node.attribute())
      attributes.push_back(&attribute);
    std::sort(attributes.begin(), attributes.end(),
              [](const auto *a, const auto *b) { return a->name() < b->name(); });
    for (const onnx::AttributeProto *attribute : attributes) {
      onnx::AttributeProto bare = *attribute;
      bare.clear_doc_string();
      if (bare.has_t())
        bare.mutable_t()->clear_name();
      addText(bare.SerializeAsString());
    }
  }

  const OnnxModel &model;
  std::unordered_map<std::string, const Parameter *> parameters; // by value
  std::unordered_map<std::string, uint64_t> numbers;
  Checksum sum;
};

} // namespace

std::string graphChecksum(const OnnxModel &model, const ParameterTable &table) {
  GraphHasher hasher(model, table);
  hasher.add(table.graph);
  return hasher.text();
}

} // namespace colrow
