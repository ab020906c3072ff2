//===- RenameTest.cpp - names carry no meaning but their own --------------===//

#include "TestModels.h"
#include "frontend/onnx/Parameters.h"

#include <algorithm>
#include <map>

using namespace colrow;
using namespace colrow::testing;

namespace {

/// Renames every node and tensor: `n12`, `v34`.
onnx::ModelProto renamed(onnx::ModelProto model, bool keepMetadata) {
  std::map<std::string, std::string> names{{"", ""}};
  auto rename = [&](std::string *name) {
    *name = names.emplace(*name, "v" + std::to_string(names.size())).first->second;
  };
  onnx::GraphProto &graph = *model.mutable_graph();
  for (auto &value : *graph.mutable_input())
    rename(value.mutable_name());
  for (auto &tensor : *graph.mutable_initializer())
    rename(tensor.mutable_name());
  for (int i = 0; i < graph.node_size(); ++i) {
    onnx::NodeProto &node = *graph.mutable_node(i);
    node.set_name("n" + std::to_string(i));
    for (auto &input : *node.mutable_input())
      rename(&input);
    for (auto &output : *node.mutable_output())
      rename(&output);
    if (!keepMetadata)
      node.GetReflection()->MutableUnknownFields(&node)->Clear();
  }
  for (auto &value : *graph.mutable_output())
    rename(value.mutable_name());
  graph.clear_value_info();
  if (!keepMetadata)
    graph.GetReflection()->MutableUnknownFields(&graph)->Clear();
  return model;
}

/// The graph with values numbered in the order of appearance, parameters marked.
std::string structureOf(const ParameterTable &table) {
  std::map<std::string, std::string> numbers{{"", "-"}};
  for (size_t i = 0; i < table.parameters.size(); ++i)
    numbers[table.parameters[i].valueName] = "p" + std::to_string(i);
  auto number = [&](const std::string &name) {
    return numbers.emplace(name, std::to_string(numbers.size())).first->second;
  };
  std::string text;
  for (const auto &input : table.graph.input())
    text += number(input.name()) + " ";
  for (const onnx::NodeProto &node : table.graph.node()) {
    text += "\n" + node.op_type();
    for (const std::string &input : node.input())
      text += " " + number(input);
    text += " ->";
    for (const std::string &output : node.output())
      text += " " + number(output);
  }
  for (const auto &output : table.graph.output())
    text += "\n" + number(output.name());
  for (const Parameter &parameter : table.parameters)
    text += "\n" + shapeText(parameter.valueShape()) + (parameter.restored() ? " restored" : "");
  return text;
}

ParameterTable tableOf(const onnx::ModelProto &model, const ScratchFolder &folder,
                       const ParameterOptions &options = {}) {
  writeText(folder / "renamed.onnx", model.SerializeAsString());
  return sortParameters(OnnxModel::load(folder / "renamed.onnx"), options);
}

class Rename : public ::testing::TestWithParam<const char *> {};

TEST_P(Rename, ChangesOnlyNames) {
  ScratchFolder folder;
  OnnxModel model = OnnxModel::load(realModel(GetParam()));
  std::filesystem::path data = realModel(GetParam()).parent_path() / "model.onnx.data";
  if (std::filesystem::exists(data))
    std::filesystem::copy(data, folder / "model.onnx.data");
  ParameterTable original = sortParameters(model);
  EXPECT_EQ(structureOf(tableOf(renamed(model.proto(), true), folder)), structureOf(original));
  // Without metadata too, unless it alone tells of dropped biases.
  bool dropped = std::any_of(original.parameters.begin(), original.parameters.end(),
                             [](const Parameter &parameter) { return parameter.restored(); });
  onnx::ModelProto bare = renamed(model.proto(), false);
  ParameterOptions options;
  for (const onnx::NodeProto &node : bare.graph().node())
    if (dropped && node.op_type() == "Gemm")
      options.restoreBias.push_back(node.name());
  EXPECT_EQ(structureOf(tableOf(bare, folder, options)), structureOf(original));
}

INSTANTIATE_TEST_SUITE_P(Models, Rename,
                         ::testing::Values("gpt2-tiny", "gpt2-tiny-dynamo", "gpt2-tiny-train",
                                           "gpt2-tiny-train-dynamo", "gpt2-tiny-loss",
                                           "gpt2-tiny-loss-dynamo", "gpt2-fresh",
                                           "gpt2-fresh-dynamo", "gpt2-small-graph"),
                         [](const auto &info) {
                           std::string name = info.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

} // namespace
