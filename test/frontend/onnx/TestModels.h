//===- TestModels.h - small models made in memory, and the real exports ---===//
#pragma once

#include "colrow/Error.h"
#include "frontend/onnx/Model.h"

#include <gtest/gtest.h>

#include <google/protobuf/unknown_field_set.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <unistd.h>
#include <vector>

namespace colrow::testing {

inline std::filesystem::path realModel(const std::string &name) {
  return std::filesystem::path(COLROW_TEST_MODELS) / name / "model.onnx";
}

/// A folder of its own for a test, removed at the end.
class ScratchFolder {
public:
  ScratchFolder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "colrow-test-XXXXXX").string();
    folder = mkdtemp(pattern.data());
  }
  ~ScratchFolder() { std::filesystem::remove_all(folder); }
  std::filesystem::path operator/(const std::string &name) const { return folder / name; }
  const std::filesystem::path &path() const { return folder; }

private:
  std::filesystem::path folder;
};

inline void writeText(const std::filesystem::path &path, const std::string &text) {
  std::ofstream(path, std::ios::binary) << text;
}

inline std::string readText(const std::filesystem::path &path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// Builds a model node by node.
struct Builder {
  onnx::ModelProto model;

  explicit Builder(int64_t opset = 17) {
    model.set_ir_version(8);
    model.add_opset_import()->set_version(opset);
    model.mutable_graph()->set_name("test");
  }

  onnx::GraphProto &graph() { return *model.mutable_graph(); }

  /// Dimensions: numbers as text, or symbols.
  Builder &input(const std::string &name, const std::vector<std::string> &dims,
                 int dtype = onnx::TensorProto::FLOAT) {
    fill(*graph().add_input(), name, dims, dtype);
    return *this;
  }
  Builder &output(const std::string &name) {
    fill(*graph().add_output(), name, {}, onnx::TensorProto::FLOAT);
    return *this;
  }
  Builder &node(const std::string &op, const std::string &name,
                const std::vector<std::string> &inputs, const std::vector<std::string> &outputs) {
    onnx::NodeProto &node = *graph().add_node();
    node.set_op_type(op);
    node.set_name(name);
    for (const std::string &value : inputs)
      node.add_input(value);
    for (const std::string &value : outputs)
      node.add_output(value);
    return *this;
  }
  Builder &floats(const std::string &name, const std::vector<int64_t> &dims,
                  const std::vector<float> &values) {
    onnx::TensorProto &tensor = *graph().add_initializer();
    tensor.set_name(name);
    tensor.set_data_type(onnx::TensorProto::FLOAT);
    for (int64_t size : dims)
      tensor.add_dims(size);
    tensor.set_raw_data(values.data(), values.size() * sizeof(float));
    return *this;
  }
  /// Metadata of the last node, as newer files have it: field 9, unknown to this protobuf.
  Builder &metadata(const std::string &key, const std::string &value) {
    onnx::NodeProto &node = *graph().mutable_node(graph().node_size() - 1);
    onnx::StringStringEntryProto entry;
    entry.set_key(key);
    entry.set_value(value);
    node.GetReflection()->MutableUnknownFields(&node)->AddLengthDelimited(
        9, entry.SerializeAsString());
    return *this;
  }
  /// torch's list of inputs, in the graph's metadata: field 16.
  Builder &signature(const std::string &text) {
    onnx::StringStringEntryProto entry;
    entry.set_key("pkg.torch.export.ExportedProgram.graph_signature");
    entry.set_value(text);
    graph().GetReflection()->MutableUnknownFields(&graph())->AddLengthDelimited(
        16, entry.SerializeAsString());
    return *this;
  }
  /// What torch's dynamo exporter says about the last node.
  Builder &call(const std::string &module, const std::string &target,
                const std::string &arguments) {
    metadata("pkg.torch.onnx.name_scopes", "['', '" + module + "', '" + target + "']");
    return metadata("pkg.torch.onnx.fx_node",
                    "%" + target + " : [num_users=1] = call_function[target=torch.ops.aten." +
                        target + ".default](args = (" + arguments + "), kwargs = {})");
  }
  Builder &external(const std::string &name, const std::vector<int64_t> &dims,
                    const std::string &location, const std::string &offset,
                    const std::string &length) {
    onnx::TensorProto &tensor = *graph().add_initializer();
    tensor.set_name(name);
    tensor.set_data_type(onnx::TensorProto::FLOAT);
    for (int64_t size : dims)
      tensor.add_dims(size);
    tensor.set_data_location(onnx::TensorProto::EXTERNAL);
    auto entry = [&](const char *key, const std::string &value) {
      if (value.empty())
        return;
      auto *added = tensor.add_external_data();
      added->set_key(key);
      added->set_value(value);
    };
    entry("location", location);
    entry("offset", offset);
    entry("length", length);
    return *this;
  }
  std::filesystem::path write(const ScratchFolder &folder, const std::string &name = "model.onnx") {
    writeText(folder / name, model.SerializeAsString());
    return folder / name;
  }

private:
  static void fill(onnx::ValueInfoProto &value, const std::string &name,
                   const std::vector<std::string> &dims, int dtype) {
    value.set_name(name);
    auto *type = value.mutable_type()->mutable_tensor_type();
    type->set_elem_type(dtype);
    type->mutable_shape();
    for (const std::string &text : dims) {
      auto *dim = type->mutable_shape()->add_dim();
      if (text.find_first_not_of("0123456789") == std::string::npos && !text.empty())
        dim->set_dim_value(std::stoll(text));
      else if (!text.empty())
        dim->set_dim_param(text);
    }
  }
};

/// Runs the function and returns the message of the Error that it must throw.
template <typename Function> std::string messageOf(Function function) {
  try {
    function();
  } catch (const Error &error) {
    return error.what();
  }
  ADD_FAILURE() << "no error";
  return "";
}

#define EXPECT_MESSAGE(statement, part)                                                            \
  do {                                                                                             \
    std::string message = ::colrow::testing::messageOf([&] { statement; });                        \
    EXPECT_NE(message.find(part), std::string::npos) << message;                                   \
    EXPECT_EQ(message.find('\n'), std::string::npos) << message;                                   \
  } while (false)

} // namespace colrow::testing
