#include "colrow/Error.h"
#include "colrow/Safetensors.h"

#include <cmath>
#include <cstring>
#include <filesystem>
#include <functional>
#include <gtest/gtest.h>
#include <unistd.h>

using namespace colrow;
namespace fs = std::filesystem;

namespace {

struct SafetensorsTest : testing::Test {
  fs::path folder = fs::temp_directory_path() / ("colrow-st-" + std::to_string(getpid()));
  std::string path = (folder / "t.safetensors").string();
  void SetUp() override { fs::create_directories(folder); }
  void TearDown() override { fs::remove_all(folder); }

  /// A file with this header and `dataBytes` bytes of zeros.
  void writeRaw(const std::string &header, size_t dataBytes) {
    uint64_t length = header.size();
    OutputFile file(path);
    file.write(&length, 8);
    file.write(header);
    file.write(std::string(dataBytes, '\0'));
    file.commit();
  }

  std::string errorOf(const std::function<void()> &function) {
    try {
      function();
    } catch (const Error &error) {
      return error.what();
    }
    return "no error";
  }

  /// What is wrong with the file, without the part that names it.
  std::string openError() {
    std::string message = errorOf([&] { SafetensorsFile file(path); });
    std::string start = "'" + path + "' is not a valid safetensors file: ";
    EXPECT_EQ(message.substr(0, start.size()), start);
    return message.substr(std::min(start.size(), message.size()));
  }
};

} // namespace

TEST_F(SafetensorsTest, RoundTrip) {
  float floats[6] = {1, -2, 3.5f, 0, 1e-40f, 1e30f};
  double scalar = 0.1;
  int64_t integers[2] = {-100, int64_t(1) << 40};
  TensorData bools;
  bools.name = "mask";
  bools.type = TensorType::BOOL;
  bools.shape = {3};
  bools.bytes = {1, 0, 1};
  writeSafetensors(path,
                   {bools, TensorData::floats("w", {2, 3}, floats),
                    TensorData::doubles("loss", {}, &scalar),
                    TensorData::integers("ids \"quoted\"", {2}, integers),
                    TensorData::floats("empty", {0, 4}, nullptr)},
                   {{"format", "pt"}});
  SafetensorsFile file(path);
  EXPECT_EQ(file.metadata().at("format"), "pt");
  EXPECT_EQ(file.tensors().size(), 5u);
  EXPECT_EQ(file.get("w").shape, (std::vector<int64_t>{2, 3}));
  EXPECT_EQ(file.readFloats(file.get("w")), std::vector<float>(floats, floats + 6));
  EXPECT_EQ(file.readFloats(file.get("w"), 2, 2), (std::vector<float>{3.5f, 0}));
  EXPECT_EQ(file.readDoubles(file.get("loss")), std::vector<double>{0.1});
  EXPECT_TRUE(file.get("loss").shape.empty());
  EXPECT_EQ(file.readIntegers(file.get("ids \"quoted\"")),
            (std::vector<int64_t>{-100, int64_t(1) << 40}));
  EXPECT_EQ(file.readIntegers(file.get("mask")), (std::vector<int64_t>{1, 0, 1}));
  EXPECT_TRUE(file.readFloats(file.get("empty")).empty());
  EXPECT_EQ(file.find("nothing"), nullptr);
  EXPECT_EQ(errorOf([&] { file.get("nothing"); }), "'" + path + "' has no tensor 'nothing'");
  EXPECT_EQ(errorOf([&] { file.readFloats(file.get("mask")); }),
            "'" + path + "': tensor 'mask' has dtype BOOL, expected a floating type");
  EXPECT_EQ(errorOf([&] { file.readIntegers(file.get("w")); }),
            "'" + path + "': tensor 'w' has dtype F32, expected an integer type");
}

TEST_F(SafetensorsTest, HalfPrecisionIsWidened) {
  // 1, -2, largest, smallest subnormal, infinity
  uint16_t halves[] = {0x3c00, 0xc000, 0x7bff, 0x0001, 0x7c00};
  uint16_t brains[] = {0x3f80, 0xc000, 0x7f7f, 0x0001, 0x7f80};
  TensorData half, brain;
  half.name = "half";
  half.type = TensorType::F16;
  brain.name = "brain";
  brain.type = TensorType::BF16;
  for (TensorData *tensor : {&half, &brain}) {
    tensor->shape = {5};
    tensor->bytes.resize(10);
    std::memcpy(tensor->bytes.data(), tensor == &half ? halves : brains, 10);
  }
  writeSafetensors(path, {half, brain});
  SafetensorsFile file(path);
  EXPECT_EQ(file.readFloats(file.get("half")),
            (std::vector<float>{1, -2, 65504, 0x1p-24f, INFINITY}));
  EXPECT_EQ(file.readFloats(file.get("brain")),
            (std::vector<float>{1, -2, 0x1.fep127f, 0x1p-133f, INFINITY}));
}

TEST_F(SafetensorsTest, WriterStreamsAndChecksNames) {
  SafetensorsWriter writer(path);
  writer.declare("a", TensorType::F32, {4});
  EXPECT_EQ(errorOf([&] { writer.declare("a", TensorType::F32, {4}); }),
            "'" + path + "': tensor 'a' would be written twice");
  float values[4] = {1, 2, 3, 4};
  writer.write(values, 8);
  EXPECT_THROW(writer.commit(), std::logic_error);
  writer.write(values + 2, 8);
  EXPECT_FALSE(fs::exists(path));
  writer.commit();
  SafetensorsFile file(path);
  EXPECT_EQ(file.readFloats(file.get("a")), (std::vector<float>{1, 2, 3, 4}));
}

TEST_F(SafetensorsTest, DamagedFiles) {
  writeTextFile(path, "abc");
  EXPECT_EQ(openError(), "it has 3 bytes, fewer than the 8 of its length field");
  writeTextFile(path, "not a safetensors file");
  EXPECT_NE(openError().find("its header claims"), std::string::npos);
  writeTextFile(path, std::string("\x40\0\0\0\0\0\0\0{}", 10));
  EXPECT_EQ(openError(), "its header of 64 bytes is cut off");
  writeRaw("{]", 0);
  EXPECT_EQ(openError(), "its header is not JSON");
  writeRaw("[]", 0);
  EXPECT_EQ(openError(), "its header is not JSON");
  writeRaw(R"({"w":{"dtype":"F32","shape":[2]}})", 8);
  EXPECT_EQ(openError(), "tensor 'w' lacks dtype, shape or data_offsets");
  writeRaw(R"({"w":{"dtype":"F4","shape":[2],"data_offsets":[0,8]}})", 8);
  EXPECT_EQ(openError(), "tensor 'w' has the unknown dtype 'F4'");
  writeRaw(R"({"w":{"dtype":"F32","shape":[-2],"data_offsets":[0,8]}})", 8);
  EXPECT_EQ(openError(), "tensor 'w' has a size that is no count");
  writeRaw(R"({"w":{"dtype":"F32","shape":[2],"data_offsets":[8,0]}})", 8);
  EXPECT_EQ(openError(), "tensor 'w' ends before it begins");
  writeRaw(R"({"w":{"dtype":"F32","shape":[4],"data_offsets":[0,16]}})", 8);
  EXPECT_EQ(openError(), "tensor 'w' lies beyond the end of the file, which is cut off");
  writeRaw(R"({"w":{"dtype":"F32","shape":[3],"data_offsets":[0,8]}})", 8);
  EXPECT_EQ(openError(), "tensor 'w' has 8 bytes, which is not its shape [3] of F32");
  writeRaw(R"({"w":{"dtype":"F32","shape":[4611686018427387904,4],"data_offsets":[0,0]}})", 0);
  EXPECT_EQ(openError(),
            "tensor 'w' has 0 bytes, which is not its shape [4611686018427387904, 4] of F32");
}

// Every bit and every length of a sealed file.
TEST_F(SafetensorsTest, SealedFilesTellDamage) {
  {
    SafetensorsWriter writer(path);
    writer.metadata("step", "3");
    writer.declare("a", TensorType::F32, {5});
    writer.seal();
    float values[] = {1, 2, 3, 4, 5};
    writer.write(values, 12);
    writer.write(values + 3, 8);
    writer.commit();
  }
  SafetensorsFile(path).checkSeal();
  std::string bytes = readTextFile(path);
  auto opens = [&](const std::string &changed) {
    writeTextFile(path, changed);
    return errorOf([&] { SafetensorsFile(path).checkSeal(); }) == "no error";
  };
  EXPECT_TRUE(opens(bytes));
  for (size_t i = 0; i < bytes.size(); ++i) {
    EXPECT_FALSE(opens(bytes.substr(0, i))) << "cut to " << i;
    for (int bit = 0; bit < 8; ++bit) {
      std::string changed = bytes;
      changed[i] = char(changed[i] ^ (1 << bit));
      EXPECT_FALSE(opens(changed)) << "bit " << bit << " of byte " << i;
    }
  }
  EXPECT_FALSE(opens(bytes + "x"));
  writeRaw(R"({"w":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})", 8);
  EXPECT_EQ(errorOf([&] { SafetensorsFile(path).checkSeal(); }), "'" + path + "' has no checksum");
}
