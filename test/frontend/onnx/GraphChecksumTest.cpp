#include "TestModels.h"
#include "colrow/Error.h"
#include "frontend/onnx/GraphChecksum.h"

#include <functional>
#include <set>

using namespace colrow;
using namespace colrow::testing;

namespace {

std::string checksumOf(const std::filesystem::path &path) {
  OnnxModel model = OnnxModel::load(path);
  return graphChecksum(model, sortParameters(model));
}

std::string checksumOf(Builder &b) {
  ScratchFolder folder;
  return checksumOf(b.write(folder));
}

/// x W + b through a function, scaled by a constant.
Builder layer() {
  Builder b;
  b.input("x", {"batch", "2"}).output("y");
  b.floats("m.weight", {2, 2}, {1, 2, 3, 4}).floats("m.bias", {2}, {5, 6});
  b.node("Gemm", "/m/Gemm", {"x", "m.weight", "m.bias"}, {"h"})
      .node("Constant", "/c", {}, {"c"})
      .node("Mul", "/mul", {"h", "c"}, {"s"})
      .node("Tanh", "/tanh", {"s"}, {"y"});
  onnx::AttributeProto &value = *b.graph().mutable_node(1)->add_attribute();
  value.set_name("value_float");
  value.set_type(onnx::AttributeProto::FLOAT);
  value.set_f(0.5f);
  return b;
}

std::string changed(const std::function<void(onnx::GraphProto &)> &change) {
  Builder b = layer();
  change(b.graph());
  return checksumOf(b);
}

} // namespace

TEST(GraphChecksum, IsOfOperationsAlone) {
  Builder same = layer();
  std::string plain = checksumOf(same);
  EXPECT_EQ(plain.size(), 16u);
  EXPECT_EQ(plain, changed([](onnx::GraphProto &graph) {
              const float other[] = {9, 8, 7, 6};
              graph.mutable_initializer(0)->set_raw_data(other, sizeof(other));
              graph.mutable_node(3)->set_name("renamed");
              graph.mutable_node(2)->set_output(0, "t");
              graph.mutable_node(3)->set_input(0, "t");
              graph.mutable_input(0)->mutable_type()->mutable_tensor_type()->mutable_shape()
                  ->mutable_dim(0)->set_dim_value(4);
            }));
}

TEST(GraphChecksum, NoticesEachPart) {
  std::vector<std::function<void(onnx::GraphProto &)>> changes = {
      [](auto &graph) { graph.mutable_node(3)->set_op_type("Sigmoid"); },
      [](auto &graph) { graph.mutable_node(1)->mutable_attribute(0)->set_f(0.25f); },
      [](auto &graph) { graph.mutable_node(2)->set_input(1, "h"); },
      [](auto &graph) { graph.mutable_node(2)->mutable_input()->SwapElements(0, 1); },
      [](auto &graph) { graph.mutable_node(0)->mutable_input()->RemoveLast(); },
      [](auto &graph) { graph.mutable_output(0)->set_name("s"); },
      [](auto &graph) {
        onnx::AttributeProto &alpha = *graph.mutable_node(0)->add_attribute();
        alpha.set_name("alpha");
        alpha.set_type(onnx::AttributeProto::FLOAT);
        alpha.set_f(2);
      },
  };
  Builder same = layer();
  std::set<std::string> all = {checksumOf(same)};
  for (const auto &change : changes)
    all.insert(changed(change));
  EXPECT_EQ(all.size(), changes.size() + 1);
}

TEST(GraphChecksum, RealExports) {
  std::set<std::string> all;
  for (const char *name : {"gpt2-tiny", "gpt2-tiny-dynamo", "gpt2-tiny-loss", "gpt2-small-graph"})
    all.insert(checksumOf(realModel(name)));
  EXPECT_EQ(all.size(), 4u);
}
