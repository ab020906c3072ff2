#include "TestModels.h"
#include "frontend/onnx/Parameters.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <map>
#include <set>

using namespace colrow;
using namespace colrow::testing;
using nlohmann::json;

namespace {

json referenceOf(const std::string &name) {
  return json::parse(readText(realModel(name).parent_path() / "reference.json"));
}

std::string shapesOf(const std::vector<int64_t> &shape) { return shapeText(shape); }

int count(const ParameterTable &table, ParameterRemark::Kind kind) {
  return int(std::count_if(table.remarks.begin(), table.remarks.end(),
                           [&](const ParameterRemark &remark) { return remark.kind == kind; }));
}

std::string allRemarks(const ParameterTable &table) {
  std::string text;
  for (const ParameterRemark &remark : table.remarks)
    text += std::string(remarkKindName(remark.kind)) + ": '" + remark.parameter + "' " + remark.text + " (" +
            remark.node + ")\n";
  return text;
}

/// The rewritten graph must itself be sound, with parameters and constants defined.
void expectSoundGraph(const ParameterTable &table, const OnnxModel &model) {
  onnx::GraphProto graph = table.graph;
  std::set<std::string> valueNames;
  for (const Parameter &parameter : table.parameters) {
    EXPECT_TRUE(valueNames.insert(parameter.valueName).second) << parameter.valueName;
    graph.add_input()->set_name(parameter.valueName);
  }
  for (const std::string &name : table.constants) {
    EXPECT_TRUE(model.findInitializer(name)) << name;
    graph.add_input()->set_name(name);
  }
  EXPECT_NO_THROW(checkGraph(graph, "rewritten"));
}

class RealExport : public ::testing::TestWithParam<const char *> {};

TEST_P(RealExport, TableEqualsReference) {
  OnnxModel model = OnnxModel::load(realModel(GetParam()));
  ParameterTable table = sortParameters(model);
  json expected = referenceOf(GetParam())["parameters"];
  std::set<std::string> found;
  for (const Parameter &parameter : table.parameters) {
    SCOPED_TRACE(parameter.name);
    ASSERT_TRUE(expected.contains(parameter.name)) << allRemarks(table);
    EXPECT_TRUE(found.insert(parameter.name).second);
    const json &entry = expected[parameter.name];
    bool isGraphOnly = entry.is_array();
    EXPECT_EQ(parameter.shape, (isGraphOnly ? entry : entry["shape"]).get<std::vector<int64_t>>());
    if (isGraphOnly)
      continue;
    EXPECT_EQ(parameter.aliases, entry["aliases"].get<std::vector<std::string>>());
    std::set<std::string> have, want;
    for (const ParameterValue &value : parameter.values)
      have.insert(value.name + shapesOf(value.shape) + (value.transposed ? "T" : ""));
    for (const json &value : entry["onnx"])
      want.insert(value["name"].get<std::string>() + shapesOf(value["shape"].get<std::vector<int64_t>>()) +
                  (value["transposed"].get<bool>() ? "T" : ""));
    EXPECT_EQ(have, want);
  }
  EXPECT_EQ(found.size(), expected.size()) << allRemarks(table);
  EXPECT_EQ(count(table, ParameterRemark::Doubtful), 0) << allRemarks(table);
  expectSoundGraph(table, model);
}

INSTANTIATE_TEST_SUITE_P(Models, RealExport,
                         ::testing::Values("gpt2-tiny", "gpt2-tiny-dynamo", "gpt2-tiny-train",
                                           "gpt2-tiny-train-dynamo", "gpt2-tiny-loss", "gpt2-tiny-loss-dynamo",
                                           "gpt2-fresh", "gpt2-fresh-dynamo", "gpt2-small-graph"),
                         [](const auto &info) {
                           std::string name = info.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

} // namespace
