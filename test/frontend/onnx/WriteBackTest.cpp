#include "frontend/onnx/WriteBack.h"
#include "TestModels.h"
#include "frontend/onnx/Metadata.h"

#include <cmath>
#include <cstring>
#include <map>

using namespace colrow;
using namespace colrow::testing;

namespace {

/// Distinct data for every parameter and element.
std::vector<float> dataOf(const Parameter &parameter, int64_t elements) {
  float seed = float(std::hash<std::string>()(parameter.name) % 1000);
  std::vector<float> values(static_cast<size_t>(elements));
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = seed + std::sin(float(i));
  return values;
}

int64_t sizeOf(const Parameter &parameter) { return elementCount(parameter.shape, parameter.name); }

class WriteBack : public ::testing::TestWithParam<const char *> {};

/// Written, read again and sorted out again: the same parameters with the new data, and nothing
/// left to separate or restore.
TEST_P(WriteBack, ReadsBackEqual) {
  ScratchFolder folder;
  OnnxModel model = OnnxModel::load(realModel(GetParam()));
  ParameterTable table = sortParameters(model);
  std::string path = (folder / "trained.onnx").string();
  writeOnnx(path, model, table, [](const Parameter &p) { return dataOf(p, sizeOf(p)); });

  OnnxModel again = OnnxModel::load(path);
  ParameterTable read = sortParameters(again);
  ASSERT_EQ(read.parameters.size(), table.parameters.size());
  for (size_t i = 0; i < read.parameters.size(); ++i) {
    const Parameter &old = table.parameters[i], &now = read.parameters[i];
    SCOPED_TRACE(old.name);
    EXPECT_EQ(now.name, old.name);
    EXPECT_EQ(now.aliases, old.aliases);
    EXPECT_EQ(now.shape, old.shape);
    EXPECT_EQ(now.valueName, old.valueName);
    ASSERT_FALSE(now.restored());
    Bytes bytes = readTensor(*again.findInitializer(now.source));
    std::vector<float> want = dataOf(old, sizeOf(old));
    ASSERT_EQ(bytes.size, want.size() * sizeof(float));
    EXPECT_EQ(memcmp(bytes.data, want.data(), bytes.size), 0);
    // A second copy of a tied one went along.
    for (const ParameterValue &value : now.values)
      if (value.transposed != now.transposed) {
        EXPECT_TRUE(equalTransposed(*again.findInitializer(now.source),
                                    *again.findInitializer(value.name)));
      }
    if (const TensorInfo *before = model.findInitializer(now.valueName)) {
      EXPECT_EQ(before->storage == Storage::Inside,
                again.findInitializer(now.valueName)->storage == Storage::Inside);
    }
  }
  for (const ParameterRemark &remark : read.remarks) {
    EXPECT_NE(remark.kind, ParameterRemark::Separated) << remark.text;
    EXPECT_NE(remark.kind, ParameterRemark::Restored) << remark.text;
  }
  for (const onnx::NodeProto &node : again.graph().node())
    if (node.op_type() == "Dropout") {
      EXPECT_LE(node.input_size(), 2) << node.name();
    }
  // Constants and metadata are as they were.
  for (const std::string &name : table.constants)
    EXPECT_TRUE(equalTensors(*model.findInitializer(name), *again.findInitializer(name))) << name;
  std::map<std::string, Metadata> metadata;
  for (const onnx::NodeProto &node : again.graph().node())
    metadata[node.name()] = nodeMetadata(node);
  for (const onnx::NodeProto &node : model.graph().node())
    if (node.op_type() != "Identity") {
      EXPECT_EQ(metadata[node.name()], nodeMetadata(node)) << node.name();
    }
  EXPECT_EQ(graphMetadata(again.graph()), graphMetadata(model.graph()));
}

INSTANTIATE_TEST_SUITE_P(Models, WriteBack,
                         ::testing::Values("gpt2-tiny", "gpt2-tiny-dynamo", "gpt2-tiny-train",
                                           "gpt2-tiny-train-dynamo", "gpt2-tiny-loss",
                                           "gpt2-tiny-loss-dynamo", "gpt2-fresh",
                                           "gpt2-fresh-dynamo"),
                         [](const auto &info) {
                           std::string name = info.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

Builder linear(int dtype) {
  Builder b;
  b.input("x", {"1"}, dtype).output("y");
  b.node("Add", "/m/Add", {"x", "m.bias"}, {"y"});
  onnx::TensorProto &tensor = *b.graph().add_initializer();
  tensor.set_name("m.bias");
  tensor.set_data_type(dtype);
  tensor.add_dims(8);
  tensor.set_raw_data(std::string(8 * elementSize(dtype), '\1'));
  return b;
}

TEST(WriteBackTypes, ConvertsToTheTypeOfTheFile) {
  ScratchFolder folder;
  std::vector<float> values{0, -1, 1.0009765625f, 65504, 1e9f, 6e-8f, 1.00048828125f, -3.14159274f};
  auto written = [&](int dtype) {
    OnnxModel model = OnnxModel::load(linear(dtype).write(folder));
    std::string path = (folder / "out.onnx").string();
    writeOnnx(path, model, sortParameters(model), [&](const Parameter &) { return values; });
    OnnxModel again = OnnxModel::load(path);
    Bytes bytes = readTensor(*again.findInitializer("m.bias"));
    return std::string(bytes.data, bytes.size);
  };
  std::string half = written(onnx::TensorProto::FLOAT16);
  const uint16_t wantHalf[] = {0, 0xbc00, 0x3c01, 0x7bff, 0x7c00, 0x0001, 0x3c00, 0xc248};
  EXPECT_EQ(half, std::string(reinterpret_cast<const char *>(wantHalf), sizeof wantHalf));
  std::string brain = written(onnx::TensorProto::BFLOAT16);
  const uint16_t wantBrain[] = {0, 0xbf80, 0x3f80, 0x4780, 0x4e6e, 0x3381, 0x3f80, 0xc049};
  EXPECT_EQ(brain, std::string(reinterpret_cast<const char *>(wantBrain), sizeof wantBrain));
  std::vector<double> wide(values.begin(), values.end());
  EXPECT_EQ(written(onnx::TensorProto::DOUBLE),
            std::string(reinterpret_cast<const char *>(wide.data()), wide.size() * sizeof(double)));
}

TEST(WriteBackTypes, EveryFloat16ReadsBack) {
  ScratchFolder folder;
  for (int dtype : {onnx::TensorProto::FLOAT16, onnx::TensorProto::BFLOAT16}) {
    Builder b = linear(dtype);
    std::string all;
    for (uint32_t bits = 0; bits < 65536; ++bits) {
      bool isNan =
          dtype == onnx::TensorProto::FLOAT16 ? (bits & 0x7fff) > 0x7c00 : (bits & 0x7fff) > 0x7f80;
      uint16_t element = isNan ? 0 : uint16_t(bits);
      all.append(reinterpret_cast<const char *>(&element), sizeof element);
    }
    b.graph().mutable_initializer(0)->set_dims(0, 65536);
    b.graph().mutable_initializer(0)->set_raw_data(all);
    OnnxModel model = OnnxModel::load(b.write(folder));
    std::string path = (folder / "out.onnx").string();
    writeOnnx(path, model, sortParameters(model),
              [&](const Parameter &parameter) { return initialData(model, parameter); });
    OnnxModel again = OnnxModel::load(path);
    EXPECT_TRUE(equalTensors(*model.findInitializer("m.bias"), *again.findInitializer("m.bias")));
  }
}

TEST(WriteBackTypes, BadDataAndPlaces) {
  ScratchFolder folder;
  OnnxModel model = OnnxModel::load(linear(onnx::TensorProto::FLOAT).write(folder));
  ParameterTable table = sortParameters(model);
  std::string path = (folder / "out.onnx").string();
  EXPECT_MESSAGE(
      writeOnnx(path, model, table, [](const Parameter &) { return std::vector<float>(3); }),
      "parameter 'm.bias' of shape [8] needs 8 elements, but 3 are given");
  EXPECT_FALSE(std::filesystem::exists(path));
  EXPECT_MESSAGE(writeOnnx((folder / "no/out.onnx").string(), model, table,
                           [](const Parameter &) { return std::vector<float>(8); }),
                 "no/out.onnx");
}

} // namespace
