#include "TestModels.h"
#include "frontend/onnx/Metadata.h"

#include <google/protobuf/io/coded_stream.h>

#include <cstring>
#include <random>
#include <set>

using namespace colrow;
using namespace colrow::testing;

namespace {

/// y = x + w, the smallest model.
Builder addition() {
  Builder b;
  b.input("x", {"batch", "2"})
      .output("y")
      .floats("w", {2}, {1, 2})
      .node("Add", "/add", {"x", "w"}, {"y"});
  return b;
}

std::vector<float> floatsOf(const TensorInfo &tensor) {
  Bytes bytes = readTensor(tensor);
  std::vector<float> values(bytes.size / sizeof(float));
  memcpy(values.data(), bytes.data, bytes.size);
  return values;
}

TEST(OnnxModel, ReadsInsideWeights) {
  ScratchFolder folder;
  OnnxModel model = OnnxModel::load(addition().write(folder));
  EXPECT_EQ(model.opset(), 17);
  ASSERT_EQ(model.inputs().size(), 1u);
  EXPECT_EQ(model.inputs()[0].dims[0].symbol, "batch");
  EXPECT_EQ(model.inputs()[0].dims[1].size, 2);
  const TensorInfo *w = model.findInitializer("w");
  ASSERT_TRUE(w);
  EXPECT_EQ(floatsOf(*w), (std::vector<float>{1, 2}));
  EXPECT_EQ(model.findInitializer("x"), nullptr);
}

TEST(OnnxModel, ReadsTypedFields) {
  ScratchFolder folder;
  Builder b = addition();
  onnx::TensorProto &w = *b.graph().mutable_initializer(0);
  w.clear_raw_data();
  w.add_float_data(3);
  w.add_float_data(4);
  onnx::TensorProto &half = *b.graph().add_initializer();
  half.set_name("half");
  half.set_data_type(onnx::TensorProto::FLOAT16);
  half.add_dims(2);
  half.add_int32_data(0x3c00);
  half.add_int32_data(0x4000);
  OnnxModel model = OnnxModel::load(b.write(folder));
  EXPECT_EQ(floatsOf(*model.findInitializer("w")), (std::vector<float>{3, 4}));
  Bytes bytes = readTensor(*model.findInitializer("half"));
  ASSERT_EQ(bytes.size, 4u);
  EXPECT_EQ(memcmp(bytes.data, "\0\x3c\0\x40", 4), 0);
}

TEST(OnnxModel, LoadsRealExports) {
  for (const char *name : {"gpt2-tiny", "gpt2-tiny-dynamo", "gpt2-tiny-train",
                           "gpt2-tiny-train-dynamo", "gpt2-tiny-loss", "gpt2-tiny-loss-dynamo",
                           "gpt2-fresh", "gpt2-fresh-dynamo", "gpt2-small-graph"}) {
    OnnxModel model = OnnxModel::load(realModel(name));
    EXPECT_EQ(model.symbols(), (std::vector<std::string>{"batch", "sequence"})) << name;
  }
}

TEST(OnnxModel, ExternalEqualsInside) {
  OnnxModel inside = OnnxModel::load(realModel("gpt2-tiny"));
  OnnxModel outside = OnnxModel::load(realModel("gpt2-tiny-dynamo"));
  int external = 0;
  for (const TensorInfo &tensor : outside.initializers()) {
    external += tensor.storage == Storage::External;
    if (const TensorInfo *other = inside.findInitializer(tensor.name)) {
      EXPECT_TRUE(equalTensors(tensor, *other)) << tensor.name;
    }
  }
  EXPECT_GT(external, 10);
}

TEST(OnnxModel, LoadsWithoutAbsentWeights) {
  OnnxModel model = OnnxModel::load(realModel("gpt2-small-graph"));
  const TensorInfo *head = model.findInitializer("lm_head.weight");
  ASSERT_TRUE(head);
  EXPECT_EQ(head->storage, Storage::Absent);
  EXPECT_EQ(head->shape, (std::vector<int64_t>{50257, 768}));
  EXPECT_MESSAGE(readTensor(*head), "the data of initializer 'lm_head.weight' is missing: file '");
  EXPECT_MESSAGE(readTensor(*head), "model.onnx.data' does not exist");
  EXPECT_FALSE(isUniform(*head));
}

TEST(OnnxModel, MetadataSurvivesTheOldProtobuf) {
  OnnxModel model = OnnxModel::load(realModel("gpt2-fresh-dynamo"));
  int named = 0;
  for (const onnx::NodeProto &node : model.graph().node()) {
    Metadata properties = nodeMetadata(node);
    auto call = properties.find("pkg.torch.onnx.fx_node");
    named += call != properties.end() &&
             call->second.find("%p_transformer_h_0_attn_c_attn_bias") != std::string::npos;
  }
  EXPECT_EQ(named, 1);
  EXPECT_TRUE(
      graphMetadata(model.graph()).count("pkg.torch.export.ExportedProgram.graph_signature"));
}

//===----------------------------------------------------------------------===//
// Symbols
//===----------------------------------------------------------------------===//

TEST(BindSymbols, ReplacesSymbols) {
  OnnxModel model = OnnxModel::load(realModel("gpt2-tiny-loss"));
  auto bound = model.bindSymbols({{"batch", 4}, {"sequence", 32}});
  ASSERT_EQ(bound.size(), 2u);
  EXPECT_EQ(bound[0].name, "input_ids");
  EXPECT_EQ(bound[0].shape, (std::vector<int64_t>{4, 32}));
  EXPECT_EQ(bound[1].shape, (std::vector<int64_t>{4, 32}));
}

TEST(BindSymbols, ListsEverythingMissing) {
  OnnxModel model = OnnxModel::load(realModel("gpt2-tiny"));
  EXPECT_MESSAGE(model.bindSymbols({}),
                 "'batch' (dimension 0 of input 'input_ids'), 'sequence' (dimension 1 of input "
                 "'input_ids'); give them with --bind batch=N,sequence=N");
  EXPECT_MESSAGE(model.bindSymbols({{"batch", 2}}), "give them with --bind sequence=N");
  EXPECT_MESSAGE(model.bindSymbols({{"batch", 2}, {"seq", 3}}),
                 "named 'seq', its symbols are: batch, sequence");
  EXPECT_MESSAGE(model.bindSymbols({{"batch", 0}, {"sequence", 3}}), "'batch' is bound to 0");
}

TEST(BindSymbols, UnnamedDimensionGetsAName) {
  ScratchFolder folder;
  Builder b;
  b.input("x", {"", "2"}).output("y").node("Relu", "r", {"x"}, {"y"});
  OnnxModel model = OnnxModel::load(b.write(folder));
  EXPECT_MESSAGE(model.bindSymbols({}), "--bind x.0=N");
  EXPECT_EQ(model.bindSymbols({{"x.0", 3}})[0].shape, (std::vector<int64_t>{3, 2}));
}

//===----------------------------------------------------------------------===//
// Bad files
//===----------------------------------------------------------------------===//

TEST(BadFile, NotOnnx) {
  ScratchFolder folder;
  auto given = [&](const std::string &text) {
    writeText(folder / "m.onnx", text);
    return folder / "m.onnx";
  };
  EXPECT_MESSAGE(OnnxModel::load(folder / "none.onnx"), "none.onnx' does not exist");
  EXPECT_MESSAGE(OnnxModel::load(folder.path()), "is a folder");
  EXPECT_MESSAGE(OnnxModel::load(given("")), "m.onnx' is empty");
  EXPECT_MESSAGE(OnnxModel::load(given("#!/bin/sh\necho hello\n")), "m.onnx' is not an ONNX model");
  EXPECT_MESSAGE(OnnxModel::load(given(std::string("PK\3\4\0\0\0\0", 8))), "is not an ONNX model");
  EXPECT_MESSAGE(OnnxModel::load(given("version https://git-lfs.github.com/spec/v1\n")),
                 "git lfs pull");
  std::mt19937 random(1);
  for (int i = 0; i < 200; ++i) {
    std::string noise(1 + random() % 300, '\0');
    for (char &c : noise)
      c = char(random());
    EXPECT_THROW(OnnxModel::load(given(noise)), Error);
  }
}

/// Every prefix of the model without weights, some of those with weights: one clear message each.
TEST(BadFile, Truncated) {
  ScratchFolder folder;
  std::string small = addition().model.SerializeAsString();
  for (size_t size = 1; size < small.size(); ++size) {
    writeText(folder / "m.onnx", small.substr(0, size));
    EXPECT_MESSAGE(OnnxModel::load(folder / "m.onnx"), "truncated");
  }
  for (const char *name : {"gpt2-tiny", "gpt2-fresh-dynamo"}) {
    std::string text = readText(realModel(name));
    for (int i = 1; i < 24; ++i) {
      writeText(folder / "m.onnx", text.substr(0, text.size() * size_t(i) / 24));
      EXPECT_MESSAGE(OnnxModel::load(folder / "m.onnx"), "m.onnx' is truncated");
    }
    writeText(folder / "m.onnx", text.substr(0, text.size() - 1));
    EXPECT_MESSAGE(OnnxModel::load(folder / "m.onnx"), "truncated");
  }
}

/// Where messages and their fields begin and end, in a file: what a download may well be cut at.
void collectBoundaries(const std::string &text, size_t begin, size_t end,
                       const google::protobuf::Descriptor *type, std::set<size_t> &places) {
  google::protobuf::io::CodedInputStream in(reinterpret_cast<const uint8_t *>(text.data()) + begin,
                                            int(end - begin));
  while (size_t(in.CurrentPosition()) < end - begin) {
    uint32_t tag = in.ReadTag();
    const auto *field = type->FindFieldByNumber(int(tag >> 3));
    uint32_t wire = tag & 7;
    uint64_t value = 0;
    if (wire == 5)
      in.Skip(4);
    else
      ASSERT_TRUE(in.ReadVarint64(&value));
    if (wire == 2) {
      size_t at = begin + size_t(in.CurrentPosition());
      places.insert(at);
      if (field && field->message_type())
        collectBoundaries(text, at, at + value, field->message_type(), places);
      in.Skip(int(value));
    }
    places.insert(begin + size_t(in.CurrentPosition()));
  }
}

/// A real export cut at every boundary, and its file of weights at both ends of every tensor.
TEST(BadFile, TruncatedAtEveryBoundary) {
  for (const char *name : {"gpt2-tiny", "gpt2-tiny-dynamo"}) {
    ScratchFolder folder;
    std::string text = readText(realModel(name));
    std::set<size_t> places;
    collectBoundaries(text, 0, text.size(), onnx::ModelProto::descriptor(), places);
    ASSERT_TRUE(places.count(text.size()));
    places.erase(text.size());
    EXPECT_GT(places.size(), 3000u);
    writeText(folder / "m.onnx", text);
    for (auto place = places.rbegin(); place != places.rend(); ++place) {
      std::filesystem::resize_file(folder / "m.onnx", *place);
      std::string message = messageOf([&] { OnnxModel::load(folder / "m.onnx"); });
      ASSERT_NE(message.find("m.onnx' "), std::string::npos) << *place << ": " << message;
      ASSERT_NE(message.find("truncated"), std::string::npos) << *place << ": " << message;
    }
  }
  ScratchFolder folder;
  std::filesystem::path data = folder / "model.onnx.data";
  std::filesystem::copy_file(realModel("gpt2-tiny-dynamo"), folder / "model.onnx");
  std::filesystem::copy_file(realModel("gpt2-tiny-dynamo").string() + ".data", data);
  std::set<size_t> places;
  {
    OnnxModel model = OnnxModel::load(folder / "model.onnx");
    for (const TensorInfo &tensor : model.initializers())
      if (tensor.storage == Storage::External)
        places.insert({tensor.offset, tensor.offset + 1, tensor.offset + tensor.byteSize - 1});
  }
  EXPECT_GT(places.size(), 40u);
  for (auto place = places.rbegin(); place != places.rend(); ++place) {
    std::filesystem::resize_file(data, *place);
    EXPECT_MESSAGE(OnnxModel::load(folder / "model.onnx"),
                   "external data '" + data.string() + "' is too short: initializer '");
  }
}

/// A changed byte may give another valid model, but never a crash or another exception.
TEST(BadFile, DamagedNeverCrashes) {
  ScratchFolder folder;
  std::string text = addition().model.SerializeAsString();
  std::mt19937 random(2);
  int refused = 0;
  for (int i = 0; i < 600; ++i) {
    std::string damaged = text;
    for (unsigned k = 0; k <= random() % 3; ++k)
      damaged[random() % damaged.size()] = char(random());
    writeText(folder / "m.onnx", damaged);
    try {
      OnnxModel model = OnnxModel::load(folder / "m.onnx");
      for (const TensorInfo &tensor : model.initializers())
        isUniform(tensor);
    } catch (const Error &) {
      ++refused;
    }
  }
  EXPECT_GT(refused, 150);
}

TEST(BadFile, Opset) {
  ScratchFolder folder;
  Builder b = addition();
  b.model.mutable_opset_import(0)->set_version(10);
  EXPECT_MESSAGE(OnnxModel::load(b.write(folder)), "has opset 10, supported are 11 to 23");
  b.model.mutable_opset_import(0)->set_version(24);
  EXPECT_MESSAGE(OnnxModel::load(b.write(folder)), "has opset 24, supported are 11 to 23");
  b.model.mutable_opset_import(0)->set_domain("com.microsoft");
  EXPECT_MESSAGE(OnnxModel::load(b.write(folder)), "names no opset of domain ai.onnx");
}

TEST(BadFile, DomainsAndFunctions) {
  ScratchFolder folder;
  Builder b = addition();
  b.graph().mutable_node(0)->set_domain("com.microsoft");
  b.graph().mutable_node(0)->set_op_type("BiasGelu");
  EXPECT_MESSAGE(OnnxModel::load(b.write(folder)),
                 "node '/add' (BiasGelu) in '" + (folder / "model.onnx").string() +
                     "' is an operator of domain 'com.microsoft'");
  onnx::FunctionProto &function = *b.model.add_functions();
  function.set_domain("com.microsoft");
  function.set_name("BiasGelu");
  EXPECT_MESSAGE(OnnxModel::load(b.write(folder)), "calls the local function 'BiasGelu'");
}

TEST(BadFile, EmptyGraph) {
  ScratchFolder folder;
  Builder b = addition();
  b.graph().clear_node();
  EXPECT_MESSAGE(OnnxModel::load(b.write(folder)), "is empty: it has no node");
  Builder none = addition();
  none.graph().clear_output();
  EXPECT_MESSAGE(OnnxModel::load(none.write(folder)), "has no output");
  Builder missing = addition();
  missing.model.clear_graph();
  EXPECT_MESSAGE(OnnxModel::load(missing.write(folder)), "has no graph");
}

TEST(BadFile, Names) {
  ScratchFolder folder;
  Builder twice = addition();
  twice.floats("w", {2}, {1, 2});
  EXPECT_MESSAGE(OnnxModel::load(twice.write(folder)), "has two initializers named 'w'");
  Builder ssa = addition();
  ssa.node("Relu", "/relu", {"x"}, {"y"});
  EXPECT_MESSAGE(OnnxModel::load(ssa.write(folder)),
                 "is computed twice: by node '/add' (Add) and by node '/relu' (Relu)");
  Builder overwrites = addition();
  overwrites.node("Relu", "", {"x"}, {"w"});
  EXPECT_MESSAGE(OnnxModel::load(overwrites.write(folder)),
                 "node 1 (Relu), which computes 'w' in '");
  Builder dangling = addition();
  dangling.node("Relu", "/relu", {"nowhere"}, {"z"});
  EXPECT_MESSAGE(OnnxModel::load(dangling.write(folder)), "node '/relu' (Relu) in '");
  EXPECT_MESSAGE(OnnxModel::load(dangling.write(folder)), "uses 'nowhere', which nothing computes");
  Builder output = addition();
  output.output("z");
  EXPECT_MESSAGE(OnnxModel::load(output.write(folder)), "output 'z' of '");
}

TEST(BadFile, OrderAndCycles) {
  ScratchFolder folder;
  Builder order;
  order.input("x", {"2"})
      .output("z")
      .node("Neg", "/b", {"y"}, {"z"})
      .node("Relu", "/a", {"x"}, {"y"});
  EXPECT_MESSAGE(OnnxModel::load(order.write(folder)),
                 "uses 'y' before node '/a' (Relu) computes it");
  Builder cycle;
  cycle.input("x", {"2"})
      .output("z")
      .node("Add", "/a", {"x", "z"}, {"y"})
      .node("Neg", "/b", {"y"}, {"z"});
  EXPECT_MESSAGE(OnnxModel::load(cycle.write(folder)), "has a cycle: node '/");
  Builder self;
  self.input("x", {"2"}).output("y").node("Add", "/a", {"x", "y"}, {"y"});
  EXPECT_MESSAGE(OnnxModel::load(self.write(folder)),
                 "has a cycle: node '/a' (Add) -> node '/a' (Add)");
}

TEST(BadFile, NestedGraphsSeeOuterValues) {
  ScratchFolder folder;
  auto withBranch = [](const std::string &captured) {
    Builder b = addition();
    b.node("If", "/if", {"x"}, {"z"});
    onnx::AttributeProto &attribute = *b.graph().mutable_node(1)->add_attribute();
    attribute.set_name("then_branch");
    attribute.set_type(onnx::AttributeProto::GRAPH);
    onnx::NodeProto &node = *attribute.mutable_g()->add_node();
    node.set_op_type("Identity");
    node.set_name("/inner");
    node.add_input(captured);
    node.add_output("inner");
    attribute.mutable_g()->add_output()->set_name("inner");
    return b;
  };
  OnnxModel::load(withBranch("y").write(folder));
  EXPECT_MESSAGE(OnnxModel::load(withBranch("z").write(folder)), "node '/inner' (Identity)");
}

TEST(BadFile, DataThatDoesNotFit) {
  ScratchFolder folder;
  Builder b = addition();
  b.graph().mutable_initializer(0)->set_raw_data("12345");
  EXPECT_MESSAGE(OnnxModel::load(b.write(folder)),
                 "initializer 'w' of type float and shape [2] needs 8 bytes, but the file has 5");
  Builder negative = addition();
  negative.graph().mutable_initializer(0)->set_dims(0, -2);
  EXPECT_MESSAGE(OnnxModel::load(negative.write(folder)),
                 "initializer 'w' has a negative dimension: [-2]");
  Builder huge = addition();
  huge.graph().mutable_initializer(0)->set_dims(0, int64_t(1) << 62);
  huge.graph().mutable_initializer(0)->add_dims(int64_t(1) << 62);
  EXPECT_MESSAGE(OnnxModel::load(huge.write(folder)), "initializer 'w' is impossibly large");
  Builder type = addition();
  type.graph().mutable_initializer(0)->set_data_type(0);
  EXPECT_MESSAGE(OnnxModel::load(type.write(folder)), "initializer 'w' has element");
}

//===----------------------------------------------------------------------===//
// External data
//===----------------------------------------------------------------------===//

Builder withExternal(const std::string &location, const std::string &offset = "4",
                     const std::string &length = "8") {
  Builder b;
  b.input("x", {"2"}).output("y").external("w", {2}, location, offset, length);
  b.node("Add", "/add", {"x", "w"}, {"y"});
  return b;
}

TEST(ExternalData, ReadsAtItsOffset) {
  ScratchFolder folder;
  float values[] = {7, 8, 9};
  std::filesystem::create_directory(folder / "sub");
  writeText(folder / "sub/w.bin", std::string(reinterpret_cast<char *>(values), sizeof values));
  for (const char *length : {"8", ""}) {
    OnnxModel model = OnnxModel::load(withExternal("sub/w.bin", "4", length).write(folder));
    EXPECT_EQ(floatsOf(*model.findInitializer("w")), (std::vector<float>{8, 9}));
  }
}

TEST(ExternalData, BadPlaces) {
  ScratchFolder folder;
  std::filesystem::create_directory(folder / "inner");
  writeText(folder / "outside.bin", std::string(64, 'x'));
  std::filesystem::create_symlink(folder / "outside.bin", folder / "inner/link.bin");
  auto load = [&](const std::string &location, const std::string &offset = "4",
                  const std::string &length = "8") {
    OnnxModel::load(withExternal(location, offset, length).write(folder, "inner/model.onnx"));
  };
  EXPECT_MESSAGE(load("../outside.bin"), "which leaves the model's folder");
  EXPECT_MESSAGE(load("../outside.bin"),
                 "initializer 'w' refers to external data '../outside.bin'");
  EXPECT_MESSAGE(load("sub/../../outside.bin"), "contains '..'");
  EXPECT_MESSAGE(load((folder / "outside.bin").string()), "the path is absolute");
  EXPECT_MESSAGE(load("link.bin"), "it is a symbolic link to");
  EXPECT_MESSAGE(load(""), "without a location");
  writeText(folder / "inner/short.bin", "0123456789");
  EXPECT_MESSAGE(load("short.bin"),
                 "short.bin' is too short: initializer 'w' needs bytes 4 to 12, the file has 10");
  EXPECT_MESSAGE(load("short.bin", "18446744073709551615"), "which is no byte count");
  EXPECT_MESSAGE(load("short.bin", "9999999999999999999"), "is too short");
  EXPECT_MESSAGE(load("short.bin", "-4"), "offset '-4', which is no byte count");
  EXPECT_MESSAGE(load("short.bin", "0", "4"), "needs 8 bytes, but its external data in '");
  std::filesystem::create_directory(folder / "inner/folder");
  EXPECT_MESSAGE(load("folder"), "is not a regular file");
}

TEST(ExternalData, AbsentIsAnErrorWhenAsked) {
  ScratchFolder folder;
  OnnxModel model = OnnxModel::load(withExternal("gone.bin").write(folder));
  EXPECT_MESSAGE(readTensor(*model.findInitializer("w")),
                 "the data of initializer 'w' is missing: file '" + (folder / "gone.bin").string());
}

//===----------------------------------------------------------------------===//
// Contents
//===----------------------------------------------------------------------===//

TEST(Weights, UniformAndTransposed) {
  ScratchFolder folder;
  Builder b = addition();
  b.floats("ones", {3}, {1, 1, 1}).floats("almost", {3}, {1, 1, 2}).floats("one", {}, {1});
  b.floats("a", {2, 3}, {1, 2, 3, 4, 5, 6}).floats("b", {3, 2}, {1, 4, 2, 5, 3, 6});
  b.floats("c", {3, 2}, {1, 4, 2, 5, 3, 7});
  OnnxModel model = OnnxModel::load(b.write(folder));
  auto at = [&](const char *name) -> const TensorInfo & { return *model.findInitializer(name); };
  EXPECT_TRUE(isUniform(at("ones")));
  EXPECT_FALSE(isUniform(at("almost")));
  EXPECT_FALSE(isUniform(at("one")));
  EXPECT_TRUE(equalTransposed(at("a"), at("b")));
  EXPECT_FALSE(equalTransposed(at("a"), at("c")));
  EXPECT_FALSE(equalTransposed(at("a"), at("a")));
  std::vector<float> a = floatsOf(at("a")), out(6);
  transposeBytes(reinterpret_cast<char *>(a.data()), reinterpret_cast<char *>(out.data()), 2, 3, 4);
  EXPECT_EQ(out, floatsOf(at("b")));
}

} // namespace
