#include "frontend/onnx/Parameters.h"
#include "TestModels.h"
#include "frontend/onnx/WriteBack.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <map>
#include <random>
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
    text += std::string(remarkKindName(remark.kind)) + ": '" + remark.parameter + "' " +
            remark.text + " (" + remark.node + ")\n";
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
      want.insert(value["name"].get<std::string>() +
                  shapesOf(value["shape"].get<std::vector<int64_t>>()) +
                  (value["transposed"].get<bool>() ? "T" : ""));
    EXPECT_EQ(have, want);
  }
  EXPECT_EQ(found.size(), expected.size()) << allRemarks(table);
  EXPECT_EQ(count(table, ParameterRemark::Doubtful), 0) << allRemarks(table);
  expectSoundGraph(table, model);
}

INSTANTIATE_TEST_SUITE_P(Models, RealExport,
                         ::testing::Values("gpt2-tiny", "gpt2-tiny-dynamo", "gpt2-tiny-train",
                                           "gpt2-tiny-train-dynamo", "gpt2-tiny-loss",
                                           "gpt2-tiny-loss-dynamo", "gpt2-fresh",
                                           "gpt2-fresh-dynamo", "gpt2-small-graph"),
                         [](const auto &info) {
                           std::string name = info.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

//===----------------------------------------------------------------------===//
// Small cases
//===----------------------------------------------------------------------===//

struct Sorted {
  ScratchFolder folder;
  OnnxModel model;
  ParameterTable table;

  explicit Sorted(Builder b, const ParameterOptions &options = {})
      : model(OnnxModel::load(b.write(folder))), table(sortParameters(model, options)) {
    expectSoundGraph(table, model);
  }
  std::vector<std::string> names() const {
    std::vector<std::string> result;
    for (const Parameter &parameter : table.parameters)
      result.push_back(parameter.name);
    return result;
  }
};

using Names = std::vector<std::string>;

/// An embedding and a head that is its transposed copy, as TorchScript writes them.
Builder untiedTie() {
  Builder b;
  b.input("ids", {"s"}, onnx::TensorProto::INT64).output("logits");
  b.floats("wte.weight", {3, 2}, {1, 2, 3, 4, 5, 6})
      .floats("onnx::MatMul_9", {2, 3}, {1, 3, 5, 2, 4, 6});
  b.node("Gather", "/wte/Gather", {"wte.weight", "ids"}, {"x"});
  b.node("MatMul", "/head/MatMul", {"x", "onnx::MatMul_9"}, {"logits"});
  return b;
}

TEST(Ties, TransposedCopyOfTheEmbedding) {
  Sorted sorted(untiedTie());
  ASSERT_EQ(sorted.table.parameters.size(), 1u);
  const Parameter &p = sorted.table.parameters[0];
  EXPECT_EQ(p.name, "wte.weight");
  EXPECT_EQ(p.aliases, Names{"head.weight"});
  ASSERT_EQ(p.values.size(), 2u);
  EXPECT_TRUE(p.values[1].transposed);
  // The head reads a Transpose of the one parameter.
  const onnx::NodeProto &first = sorted.table.graph.node(0);
  EXPECT_EQ(first.op_type(), "Transpose");
  EXPECT_EQ(first.input(0), "wte.weight");
  EXPECT_EQ(first.output(0), "onnx::MatMul_9");
  EXPECT_EQ(count(sorted.table, ParameterRemark::Tied), 1);
}

TEST(Ties, OneDifferentElementIsNoTie) {
  Builder b = untiedTie();
  std::string &raw = *b.graph().mutable_initializer(1)->mutable_raw_data();
  raw[raw.size() - 1] ^= 1;
  Sorted sorted(b);
  EXPECT_EQ(sorted.names(), (Names{"wte.weight", "head.weight"}));
  EXPECT_EQ(sorted.table.parameters[1].shape, (std::vector<int64_t>{3, 2}));
  EXPECT_TRUE(sorted.table.parameters[1].transposed);

  // --tie overrides, by torch's name or the file's.
  for (const char *tie : {"wte.weight=head.weight", "wte.weight=onnx::MatMul_9"}) {
    Sorted tied(b, {{tie}, {}, {}});
    ASSERT_EQ(tied.table.parameters.size(), 1u) << tie;
    EXPECT_TRUE(tied.table.parameters[0].values[1].transposed);
    EXPECT_EQ(tied.table.parameters[0].aliases, Names{"head.weight"});
  }
}

TEST(Ties, Untie) {
  for (const char *pattern : {"wte.weight", "head.*", "onnx::MatMul_9"})
    EXPECT_EQ(Sorted(untiedTie(), {{}, {pattern}, {}}).table.parameters.size(), 2u) << pattern;
  EXPECT_MESSAGE(Sorted(untiedTie(), {{}, {"lm_head*"}, {}}),
                 "--untie 'lm_head*' matches no tied parameter of '");
  EXPECT_MESSAGE(Sorted(untiedTie(), {{"a"}, {}, {}}), "--tie 'a' is not of the form A=B");
  EXPECT_MESSAGE(Sorted(untiedTie(), {{"wte.weight=b"}, {}, {}}), "is called 'b'");
}

TEST(Ties, ShapesMustFit) {
  Builder b = untiedTie();
  b.output("more").floats("w", {2, 5}, std::vector<float>(10, 1.5f));
  b.node("MatMul", "/more/MatMul", {"x", "w"}, {"more"});
  EXPECT_MESSAGE(Sorted(b, {{"wte.weight=w"}, {}, {}}),
                 "--tie 'wte.weight=w': shapes [3, 2] and [2, 5] are neither equal nor transposed");
}

TEST(Ties, AbsentDataCannotBeCompared) {
  Builder b;
  b.input("ids", {"s"}, onnx::TensorProto::INT64).output("logits");
  b.external("wte.weight", {3, 2}, "gone", "0", "24")
      .external("onnx::MatMul_9", {2, 3}, "gone", "24", "24");
  b.node("Gather", "/wte/Gather", {"wte.weight", "ids"}, {"x"});
  b.node("MatMul", "/head/MatMul", {"x", "onnx::MatMul_9"}, {"logits"});
  Sorted sorted(b);
  EXPECT_EQ(sorted.names(), (Names{"wte.weight", "head.weight"}));
  EXPECT_NE(allRemarks(sorted.table).find("--tie wte.weight=head.weight"), std::string::npos);
  EXPECT_EQ(Sorted(b, {{"wte.weight=head.weight"}, {}, {}}).table.parameters.size(), 1u);
}

/// One initializer for an embedding and a head under torch's last name, and the head once more as a
/// transposed copy: what dynamo writes at static shapes.
TEST(Ties, DynamoAtStaticShapes) {
  Builder b(20);
  b.input("ids", {"3"}, onnx::TensorProto::INT64).output("logits");
  b.floats("head.weight", {3, 2}, {1, 2, 3, 4, 5, 6}).floats("val_9", {2, 3}, {1, 3, 5, 2, 4, 6});
  b.node("Gather", "a", {"head.weight", "ids"}, {"x"})
      .call("emb", "embedding", "%p_head_weight, %ids");
  b.node("MatMul", "b", {"x", "val_9"}, {"logits"}).call("head", "linear", "%x, %p_head_weight");
  Sorted sorted(b);
  ASSERT_EQ(sorted.names(), Names{"emb.weight"});
  EXPECT_EQ(sorted.table.parameters[0].aliases, Names{"head.weight"});
  EXPECT_EQ(sorted.table.parameters[0].values.size(), 2u);
  // One initializer with two uses can be separated, too.
  Builder shared = b;
  shared.graph().mutable_node(1)->set_input(1, "t");
  onnx::NodeProto transpose = shared.graph().node(0);
  transpose.set_op_type("Transpose");
  transpose.set_name("c");
  transpose.clear_input();
  transpose.add_input("head.weight");
  transpose.set_output(0, "t");
  transpose.GetReflection()->MutableUnknownFields(&transpose)->Clear();
  *shared.graph().add_node() = transpose;
  shared.call("head", "linear", "%x, %p_head_weight");
  shared.graph().mutable_node()->SwapElements(1, 2);
  EXPECT_EQ(Sorted(shared).names(), Names{"emb.weight"});
  EXPECT_EQ(Sorted(shared, {{}, {"head.weight"}, {}}).names(),
            (Names{"emb.weight", "head.weight"}));
}

/// The signature has names that no call uses: those of tied parameters, in torch's order.
TEST(Ties, NamesFromTheSignature) {
  Builder b(20);
  b.input("x", {"3", "2"})
      .output("y")
      .floats("cls.decoder.bias", {2}, {1, 2})
      .floats("table", {2}, {3, 4});
  b.signature("\n# inputs\np_cls_bias: PARAMETER target='cls.bias'\n"
              "p_cls_decoder_bias: PARAMETER target='cls.decoder.bias'\n"
              "b_table: BUFFER target='table' persistent=True\nx: USER_INPUT\n\n# outputs\n");
  b.node("Add", "a", {"x", "cls.decoder.bias"}, {"z"})
      .call("cls.decoder", "add", "%x, %p_cls_decoder_bias");
  b.node("Mul", "m", {"z", "table"}, {"y"}).call("cls", "mul", "%z, %b_table");
  Sorted sorted(b);
  EXPECT_EQ(sorted.names(), Names{"cls.decoder.bias"});
  EXPECT_EQ(sorted.table.constants, Names{"table"});
  EXPECT_NE(allRemarks(sorted.table).find("torch has parameters that no node uses: cls.bias"),
            std::string::npos);
  Sorted tied(b, {{"cls.decoder.bias=cls.bias"}, {}, {}});
  EXPECT_EQ(tied.names(), Names{"cls.bias"});
  EXPECT_EQ(tied.table.parameters[0].aliases, Names{"cls.decoder.bias"});
  EXPECT_EQ(count(tied.table, ParameterRemark::Doubtful), 0);
}

/// An Identity of a parameter that ends up unused goes, and with it the use of the initializer.
TEST(Ties, LeavesNoDeadIdentity) {
  Builder b;
  b.input("x", {"s", "2"}).output("z").floats("a.bias", {2}, {0, 0});
  b.node("Identity", "", {"a.bias"}, {"b.bias"});
  b.node("Add", "/a/Add", {"x", "a.bias"}, {"y"}).node("Add", "/b/Add", {"y", "b.bias"}, {"z"});
  EXPECT_EQ(Sorted(b).names(), (Names{"a.bias", "b.bias"}));
  Sorted tied(b, {{"a.bias=b.bias"}, {}, {}});
  EXPECT_EQ(tied.names(), Names{"a.bias"});
  EXPECT_EQ(tied.table.graph.node_size(), 2);
  EXPECT_TRUE(tied.table.constants.empty());
}

/// Two norms that share all-ones and all-zeros.
Builder mergedNorms(bool nodeNames) {
  Builder b;
  b.input("x", {"s", "2"}).output("z").floats("w", {2}, {1, 1}).floats("b", {2}, {0, 0});
  b.node("LayerNormalization", nodeNames ? "/h.0/ln_1/LayerNormalization" : "", {"x", "w", "b"},
         {"y"});
  b.node("LayerNormalization", nodeNames ? "/h.0/ln_2/LayerNormalization" : "", {"y", "w", "b"},
         {"z"});
  return b;
}

TEST(Separate, UniformValuesAreNotShared) {
  Sorted unnamed(mergedNorms(false));
  EXPECT_EQ(unnamed.names(), (Names{"w", "b", "w@1", "b@1"}));
  EXPECT_EQ(unnamed.table.parameters[2].source, "w");
  EXPECT_TRUE(unnamed.table.parameters[2].values.empty());
  EXPECT_EQ(unnamed.table.graph.node(1).input(1), "w@1");
  Sorted named(mergedNorms(true));
  EXPECT_EQ(named.table.parameters.size(), 4u);
  EXPECT_EQ(named.table.parameters[3].name, "h.0.ln_2.bias");
}

TEST(Separate, OtherValuesAreShared) {
  Builder b = mergedNorms(true);
  float values[] = {1, 2};
  b.graph().mutable_initializer(0)->set_raw_data(values, sizeof values);
  Sorted sorted(b);
  EXPECT_EQ(sorted.table.parameters.size(), 3u);
}

/// TorchScript numbers the calls of a module that is called repeatedly: one parameter, even if
/// uniform.
TEST(Separate, RepeatedCallsOfOneModule) {
  Builder b;
  b.input("x", {"s", "2"})
      .output("z")
      .floats("norm.weight", {2}, {1, 1})
      .floats("norm.bias", {2}, {0, 0});
  b.node("LayerNormalization", "/norm/LayerNormalization", {"x", "norm.weight", "norm.bias"},
         {"y"});
  b.node("LayerNormalization", "/norm_1/LayerNormalization", {"y", "norm.weight", "norm.bias"},
         {"z"});
  Sorted sorted(b);
  EXPECT_EQ(sorted.names(), (Names{"norm.weight", "norm.bias"}));
  EXPECT_TRUE(sorted.table.parameters[0].aliases.empty());
}

TEST(Separate, IdentityMarksParametersOfTheirOwn) {
  Builder b;
  b.input("x", {"s", "2"}).output("z").floats("onnx::MatMul_4", {2, 2}, {1, 2, 3, 4});
  b.node("Identity", "Identity_0", {"onnx::MatMul_4"}, {"onnx::MatMul_5"});
  b.node("MatMul", "/l.0/MatMul", {"x", "onnx::MatMul_4"}, {"y"});
  b.node("MatMul", "/l.1/MatMul", {"y", "onnx::MatMul_5"}, {"z"});
  Sorted sorted(b);
  EXPECT_EQ(sorted.names(), (Names{"l.0.weight", "l.1.weight"}));
  for (const Parameter &parameter : sorted.table.parameters)
    EXPECT_TRUE(parameter.transposed);
  EXPECT_EQ(sorted.table.graph.node_size(), 2);
}

TEST(Classify, WhatIsNoParameter) {
  Builder b;
  b.input("x", {"3", "2"}).output("z");
  b.floats("rotary.inv_freq", {2}, {1, 0.5})
      .floats("frequencies", {2}, {1, 0.5})
      .floats("half", {}, {0.5});
  b.floats("mask", {2, 2}, {0, -3e38f, 0, 0})
      .floats("unused", {2}, {1, 2})
      .floats("scale.gain", {}, {2});
  b.floats("l.weight", {2, 2}, {1, 2, 3, 4});
  b.node("Mul", "/rotary/Mul", {"x", "rotary.inv_freq"}, {"a"});
  b.node("Mul", "/other/Mul", {"x", "frequencies"}, {"f"})
      .node("Cos", "/other/Cos", {"f"}, {"cos"});
  b.node("Add", "/add", {"a", "cos"}, {"c"}).node("MatMul", "/l/MatMul", {"c", "l.weight"}, {"d"});
  b.node("Add", "/masked", {"d", "mask"}, {"e"}).node("Mul", "/m/halved", {"e", "half"}, {"g"});
  b.node("Mul", "/scale/Mul", {"g", "scale.gain"}, {"z"});
  Sorted sorted(b);
  EXPECT_EQ(sorted.names(), (Names{"l.weight", "scale.gain"}));
  EXPECT_EQ(sorted.table.constants, (Names{"rotary.inv_freq", "frequencies", "half", "mask"}));
  EXPECT_EQ(count(sorted.table, ParameterRemark::Constant), 3) << allRemarks(sorted.table);
}

/// A scalar called as torch calls parameters, where its use does not confirm it: the user is warned.
TEST(Classify, DoubtfulScalars) {
  Builder b;
  b.input("x", {"3", "2"}).output("z").floats("blocks.2.gain", {}, {2}).floats("half", {}, {0.5});
  b.node("Mul", "/m/Mul", {"x", "blocks.2.gain"}, {"a"});
  b.node("Mul", "/m/Mul_1", {"a", "half"}, {"z"});
  Sorted sorted(b);
  EXPECT_EQ(sorted.names(), Names{});
  EXPECT_EQ(count(sorted.table, ParameterRemark::Doubtful), 1) << allRemarks(sorted.table);
}

/// A triangle that is compared with 0 (nanoGPT's buffer), a rotary table in torch's list of
/// everything, whose node the exporter made itself.
TEST(Classify, WhatNoGradientReaches) {
  Builder b;
  b.input("x", {"2", "2"}).output("z");
  b.floats("blocks.0.bias", {3, 3}, {1, 0, 0, 1, 1, 0, 1, 1, 1}).floats("onnx::Equal_1", {}, {0});
  b.node("Slice", "/s", {"blocks.0.bias", "from", "to"}, {"part"});
  b.node("Constant", "/f", {}, {"from"}).node("Constant", "/t", {}, {"to"});
  std::swap(*b.graph().mutable_node(0), *b.graph().mutable_node(2));
  b.node("Equal", "/e", {"part", "onnx::Equal_1"}, {"hides"})
      .node("Where", "/w", {"hides", "onnx::Equal_1", "x"}, {"z"});
  Sorted sorted(b);
  EXPECT_EQ(sorted.names(), Names{});
  EXPECT_EQ(count(sorted.table, ParameterRemark::Doubtful), 0) << allRemarks(sorted.table);

  Builder complete(20);
  complete.signature("p_m_weight: PARAMETER target='m.weight'\n");
  complete.input("x", {"2", "2"}).output("z").floats("m.weight", {2, 2}, {1, 2, 3, 4});
  complete.floats("index_4", {1, 2}, {0.5, 0.25});
  complete.node("MatMul", "a", {"x", "m.weight"}, {"y"}).call("m", "matmul", "%x, %p_m_weight");
  complete.node("Mul", "b", {"y", "index_4"}, {"z"});
  Sorted listed(complete);
  EXPECT_EQ(listed.names(), Names{"m.weight"});
  EXPECT_EQ(listed.table.constants, Names{"index_4"});
  EXPECT_EQ(count(listed.table, ParameterRemark::Doubtful), 0) << allRemarks(listed.table);
}

//===----------------------------------------------------------------------===//
// Folded parameters
//===----------------------------------------------------------------------===//

/// `x @ self.weight.T`, of which the exporter computed the transpose.
TEST(Folded, Transpose) {
  Builder b(20);
  b.signature("p_m_weight: PARAMETER target='m.weight'\n");
  b.input("x", {"3", "2"}).output("z").floats("permute_3", {2, 4}, {1, 2, 3, 4, 5, 6, 7, 8});
  b.node("MatMul", "a", {"x", "permute_3"}, {"z"}).call("m", "matmul", "%x, %permute_3");
  Sorted sorted(b);
  ASSERT_EQ(sorted.names(), Names{"m.weight"}) << allRemarks(sorted.table);
  const Parameter &p = sorted.table.parameters[0];
  EXPECT_TRUE(p.transposed);
  EXPECT_EQ(p.shape, (std::vector<int64_t>{4, 2}));
  EXPECT_EQ(p.values.size(), 1u);
  EXPECT_EQ(count(sorted.table, ParameterRemark::Doubtful), 0) << allRemarks(sorted.table);
}

/// Two norms by 1 + weight, equal before training, so that one initializer is left of them; and
/// exp(logit_scale). Written back and read again they are what torch has.
TEST(Folded, OnePlusAndExponential) {
  Builder b(20);
  b.signature("p_n_weight: PARAMETER target='n.weight'\n"
              "p_o_weight: PARAMETER target='o.weight'\n"
              "p_logit_scale: PARAMETER target='logit_scale'\n");
  b.input("x", {"3", "2"}).output("z");
  b.floats("add_6", {2}, {1.5, 0.75}).floats("exp", {}, {2});
  b.node("Mul", "a", {"x", "add_6"}, {"y"}).call("n", "mul", "%mul, %add_6");
  b.node("Mul", "b", {"y", "add_6"}, {"w"}).call("o", "mul", "%mul, %add_9");
  b.node("Mul", "c", {"w", "exp"}, {"z"}).call("", "mul", "%w, %exp");
  Sorted sorted(b);
  ASSERT_EQ(sorted.names(), (Names{"n.weight", "o.weight", "logit_scale"}))
      << allRemarks(sorted.table);
  EXPECT_EQ(count(sorted.table, ParameterRemark::Doubtful), 0) << allRemarks(sorted.table);
  for (const char *name : {"n.weight", "o.weight"})
    EXPECT_EQ(initialData(sorted.model, *sorted.table.find(name)),
              (std::vector<float>{0.5, -0.25}));
  EXPECT_EQ(initialData(sorted.model, *sorted.table.find("logit_scale")),
            std::vector<float>{std::log(2.0f)});

  std::string path = (sorted.folder / "trained.onnx").string();
  writeOnnx(path, sorted.model, sorted.table,
            [&](const Parameter &p) { return initialData(sorted.model, p); });
  OnnxModel again = OnnxModel::load(path);
  ParameterTable read = sortParameters(again);
  ASSERT_EQ(read.parameters.size(), 3u) << allRemarks(read);
  for (const Parameter &p : read.parameters) {
    EXPECT_EQ(p.fold, Fold::None);
    EXPECT_EQ(initialData(again, p), initialData(sorted.model, *sorted.table.find(p.name)));
  }
}

/// The TorchScript exporter leaves a made-up name: taken for 1 + weight, and the user is told.
TEST(Folded, VectorWithoutName) {
  Builder b;
  b.input("x", {"3", "2"}).output("z").floats("onnx::Mul_7", {2}, {1.5, 0.75});
  b.node("Mul", "/n/Mul_1", {"x", "onnx::Mul_7"}, {"z"});
  Sorted sorted(b);
  ASSERT_EQ(sorted.names(), Names{"n.weight"});
  EXPECT_EQ(sorted.table.parameters[0].fold, Fold::PlusOne);
  EXPECT_EQ(count(sorted.table, ParameterRemark::Doubtful), 1) << allRemarks(sorted.table);
}

/// A Linear on three dimensions: MatMul, whose zero bias went; then one Gemm whose bias went while
/// another node still has it.
TEST(Restore, ByTorchCalls) {
  Builder b(20);
  b.input("x", {"3", "2"}).output("z").output("r");
  b.floats("val_0", {2, 4}, {1, 2, 3, 4, 5, 6, 7, 8})
      .floats("head.weight", {2, 4}, {1, 2, 3, 4, 5, 6, 7, 9});
  b.floats("head.bias", {2}, {0, 0});
  b.node("MatMul", "m", {"x", "val_0"}, {"y"}).call("fc", "linear", "%x, %p_fc_weight, %p_fc_bias");
  b.node("Gemm", "g", {"y", "head.weight"}, {"z"})
      .call("head", "linear", "%y, %p_head_weight, %p_head_bias");
  onnx::AttributeProto &transB = *b.graph().mutable_node(1)->add_attribute();
  transB.set_name("transB");
  transB.set_type(onnx::AttributeProto::INT);
  transB.set_i(1);
  b.node("Gemm", "k", {"y", "head.weight", "head.bias"}, {"r"})
      .call("head", "linear", "%y, %p_head_weight, %p_head_bias");
  *b.graph().mutable_node(2)->add_attribute() = transB;
  Sorted sorted(b);
  EXPECT_EQ(sorted.names(), (Names{"fc.weight", "fc.bias", "head.weight", "head.bias"}));
  const Parameter &fc = sorted.table.parameters[1];
  EXPECT_TRUE(fc.restored());
  EXPECT_EQ(fc.shape, std::vector<int64_t>{4});
  EXPECT_FALSE(sorted.table.parameters[3].restored());
  ASSERT_EQ(sorted.table.graph.node_size(), 4);
  const onnx::NodeProto &add = sorted.table.graph.node(1);
  EXPECT_EQ(add.op_type(), "Add");
  EXPECT_EQ(add.input(0), sorted.table.graph.node(0).output(0));
  EXPECT_EQ(add.input(1), "fc.bias");
  EXPECT_EQ(add.output(0), "y");
  EXPECT_EQ(sorted.table.graph.node(2).input(2), "head.bias");
  EXPECT_EQ(count(sorted.table, ParameterRemark::Restored), 2);
}

TEST(Restore, ByOption) {
  Builder b;
  b.input("x", {"3", "2"}).output("z").floats("fc.weight", {2, 4}, {1, 2, 3, 4, 5, 6, 7, 8});
  b.node("Gemm", "/fc/Gemm", {"x", "fc.weight"}, {"z"});
  Sorted silent(b);
  EXPECT_EQ(silent.names(), Names{"fc.weight"});
  EXPECT_NE(allRemarks(silent.table).find("--restore-bias"), std::string::npos);
  for (const char *pattern : {"fc", "*", "fc.weight", "/fc/Gemm"}) {
    Sorted sorted(b, {{}, {}, {pattern}});
    EXPECT_EQ(sorted.names(), (Names{"fc.weight", "fc.bias"})) << pattern;
    EXPECT_EQ(sorted.table.graph.node(0).input(2), "fc.bias");
  }
  EXPECT_MESSAGE(Sorted(b, {{}, {}, {"mlp*"}}),
                 "--restore-bias 'mlp*' matches no product without bias in '");
  EXPECT_MESSAGE(Sorted(b, {{}, {}, {"mlp*"}}), "those are: fc.weight");
}

/// A path in node names may lack what the model passed by; the biases beside have it.
TEST(Names, CompletedFromOtherParameters) {
  Builder b;
  b.input("x", {"3", "2"})
      .output("z")
      .floats("model.dec.q.bias", {2}, {1, 2})
      .floats("model.dec.k.bias", {2}, {3, 2});
  b.floats("onnx::MatMul_1", {2, 2}, {1, 2, 3, 4}).floats("onnx::MatMul_2", {2, 2}, {1, 2, 3, 5});
  b.node("MatMul", "/dec/q/MatMul", {"x", "onnx::MatMul_1"}, {"a"});
  b.node("Add", "/dec/q/Add", {"a", "model.dec.q.bias"}, {"b"});
  b.node("MatMul", "/dec/k/MatMul", {"b", "onnx::MatMul_2"}, {"c"});
  b.node("Add", "/dec/k/Add", {"c", "model.dec.k.bias"}, {"z"});
  Sorted sorted(b);
  EXPECT_EQ(sorted.names(), (Names{"model.dec.q.weight", "model.dec.q.bias", "model.dec.k.weight",
                                   "model.dec.k.bias"}));
  for (const Parameter &parameter : sorted.table.parameters)
    EXPECT_TRUE(parameter.aliases.empty());
}

/// Containers whose forward is not called: one path for the modules of the same name in each.
TEST(Names, CompletedCallByCall) {
  Builder b;
  b.input("x", {"3", "2"})
      .output("z")
      .floats("blocks.0.up.bias", {2}, {1, 2})
      .floats("blocks.1.up.bias", {2}, {3, 2});
  b.floats("onnx::MatMul_1", {2, 2}, {1, 2, 3, 4}).floats("onnx::MatMul_2", {2, 2}, {1, 2, 3, 5});
  b.node("MatMul", "/up/MatMul", {"x", "onnx::MatMul_1"}, {"a"});
  b.node("Add", "/up/Add", {"a", "blocks.0.up.bias"}, {"b"});
  b.node("MatMul", "/up_1/MatMul", {"b", "onnx::MatMul_2"}, {"c"});
  b.node("Add", "/up_1/Add", {"c", "blocks.1.up.bias"}, {"z"});
  Sorted sorted(b);
  EXPECT_EQ(sorted.names(), (Names{"blocks.0.up.weight", "blocks.0.up.bias", "blocks.1.up.weight",
                                   "blocks.1.up.bias"}));
  EXPECT_EQ(count(sorted.table, ParameterRemark::Doubtful), 0) << allRemarks(sorted.table);
}

/// Damaged models that still load are sorted out or refused, without a crash.
TEST(Robust, DamagedModels) {
  ScratchFolder folder;
  Builder b(20);
  b.input("ids", {"3"}, onnx::TensorProto::INT64)
      .output("z")
      .floats("w", {2}, {1, 1})
      .floats("b", {2}, {0, 0});
  b.floats("head.weight", {3, 2}, {1, 2, 3, 4, 5, 6}).floats("val_9", {2, 3}, {1, 3, 5, 2, 4, 6});
  b.node("Gather", "/e/G", {"head.weight", "ids"}, {"x"})
      .call("e", "embedding", "%p_head_weight, %ids");
  b.node("LayerNormalization", "n", {"x", "w", "b"}, {"y"})
      .call("n", "layer_norm", "%x, [2], %p_n_weight, %p_n_bias");
  b.node("LayerNormalization", "/m/L", {"y", "w", "b"}, {"v"})
      .node("Identity", "i", {"val_9"}, {"t"});
  b.node("Gemm", "g", {"v", "t"}, {"u"}).call("head", "linear", "%v, %p_head_weight, %p_head_bias");
  b.node("MatMul", "/k/M", {"v", "val_9"}, {"z"}).output("u");
  std::string text = b.model.SerializeAsString();
  std::mt19937 random(3);
  int sorted = 0;
  for (int i = 0; i < 400; ++i) {
    std::string damaged = text;
    damaged[random() % damaged.size()] = char(random());
    writeText(folder / "m.onnx", damaged);
    try {
      OnnxModel model = OnnxModel::load(folder / "m.onnx");
      ParameterTable table = sortParameters(model);
      expectSoundGraph(table, model);
      ++sorted;
    } catch (const Error &) {
    }
  }
  EXPECT_GT(sorted, 80);
}

TEST(Restore, LostParametersAreReported) {
  Builder b(20);
  b.input("x", {"3", "2"}).output("y");
  b.node("Relu", "n", {"x"}, {"y"}).call("m", "mul", "%x, %p_m_gain");
  Sorted sorted(b);
  EXPECT_NE(allRemarks(sorted.table)
                .find("'m.gain' is a parameter in torch that the graph does not hold"),
            std::string::npos)
      << allRemarks(sorted.table);
}

} // namespace
