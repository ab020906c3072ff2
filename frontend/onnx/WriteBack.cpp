#include "frontend/onnx/WriteBack.h"
#include "colrow/Error.h"
#include "colrow/File.h"

#include <fmt/format.h>

#include <cmath>
#include <cstring>
#include <filesystem>
#include <map>
#include <optional>
#include <set>

namespace colrow {
namespace {

/// Smallest initializer that goes to an external file for size alone.
constexpr uint64_t largeBytes = 1024;
/// A protobuf file holds 2 GiB; leave room for the nodes.
constexpr uint64_t maxInsideBytes = uint64_t(1) << 30;
/// So that a reader may map tensors and use them in place.
constexpr uint64_t alignment = 64;

uint16_t toBfloat16(float value) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  if (std::isnan(value))
    return uint16_t((bits >> 16) | 0x40);
  return uint16_t((bits + 0x7fff + ((bits >> 16) & 1)) >> 16); // to nearest, ties to even
}

uint16_t toFloat16(float value) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  uint16_t sign = uint16_t((bits >> 16) & 0x8000);
  if (std::isnan(value))
    return sign | 0x7e00;
  float magnitude = std::fabs(value);
  if (magnitude >= 65520.0f)
    return sign | 0x7c00;
  // Below 2^-14 the step is constant, 2^-24. nearbyint rounds ties to even.
  int exponent = std::max(magnitude == 0 ? -14 : std::ilogb(magnitude), -14);
  auto steps = uint32_t(std::nearbyint(std::ldexp(magnitude, 10 - exponent)));
  // A carry out of the mantissa moves on to the next exponent by itself.
  return uint16_t(sign | (steps + (uint32_t(exponent + 14) << 10)));
}

template <typename To, typename Convert>
std::string convert(const std::vector<float> &values, Convert function) {
  std::string bytes(values.size() * sizeof(To), '\0');
  for (size_t i = 0; i < values.size(); ++i) {
    To element = function(values[i]);
    memcpy(bytes.data() + i * sizeof(To), &element, sizeof element);
  }
  return bytes;
}

std::string encode(const Parameter &parameter, const std::vector<float> &values) {
  int64_t want = elementCount(parameter.shape, fmt::format("parameter '{}'", parameter.name));
  if (int64_t(values.size()) != want)
    throw Error(fmt::format("parameter '{}' of shape {} needs {} elements, but {} are given",
                            parameter.name, shapeText(parameter.shape), want, values.size()));
  switch (parameter.dtype) {
  case onnx::TensorProto::FLOAT:
    return convert<float>(values, [](float value) { return value; });
  case onnx::TensorProto::DOUBLE:
    return convert<double>(values, [](float value) { return double(value); });
  case onnx::TensorProto::FLOAT16:
    return convert<uint16_t>(values, toFloat16);
  case onnx::TensorProto::BFLOAT16:
    return convert<uint16_t>(values, toBfloat16);
  default:
    throw Error(fmt::format("parameter '{}' has element type {}, expected a float type",
                            parameter.name, dtypeName(parameter.dtype)));
  }
}

class Writer {
public:
  Writer(const std::string &path, const OnnxModel &model, const ParameterTable &table)
      : path(path), model(model), table(table), out(model.proto()) {}

  void write(const ParameterData &data) {
    collectHolders();
    decidePlaces();
    rewriteNodes();
    writeInitializers(data);
    OutputFile file(path);
    std::string text;
    if (!out.SerializeToString(&text))
      throw Error(fmt::format("model '{}' is too large for a protobuf file", path));
    file.write(text);
    // Neither name is taken before the bytes of both are on the disk.
    file.sync();
    if (external)
      external->commit();
    file.commit();
  }

private:
  /// An initializer of the new file that holds a parameter.
  struct Holder {
    const Parameter *parameter;
    bool reversed; ///< relative to the parameter's value
  };

  void collectHolders() {
    std::set<std::string> computed; // by the Transpose nodes that sortParameters added
    for (const onnx::NodeProto &node : table.graph.node())
      if (node.op_type() == "Transpose" && model.findInitializer(node.output(0)))
        computed.insert(node.output(0));
    for (const Parameter &parameter : table.parameters) {
      holders[parameter.valueName] = {&parameter, false};
      for (const ParameterValue &value : parameter.values)
        if (computed.count(value.name))
          holders[value.name] = {&parameter, value.transposed != parameter.transposed};
    }
  }

  void decidePlaces() {
    uint64_t inside = 0;
    for (const TensorInfo &tensor : model.initializers())
      inside += tensor.storage == Storage::Inside ? tensor.byteSize : 0;
    for (const auto &[name, holder] : holders)
      if (!model.findInitializer(name))
        inside += uint64_t(elementCount(holder.parameter->shape, name)) * 4;
    allLargeExternal = inside > maxInsideBytes;
  }

  bool goesOutside(const std::string &name, uint64_t bytes) const {
    if (allLargeExternal && bytes >= largeBytes)
      return true;
    const TensorInfo *old = model.findInitializer(name);
    return old && old->storage != Storage::Inside;
  }

  void rewriteNodes() {
    auto &nodes = *out.mutable_graph()->mutable_node();
    nodes.Clear();
    for (const onnx::NodeProto &node : table.graph.node()) {
      if (node.op_type() == "Transpose" && holders.count(node.output(0)))
        continue;
      onnx::NodeProto &copy = *nodes.Add();
      copy = node;
      // Without its training_mode input a Dropout passes its input on.
      if (copy.op_type() == "Dropout")
        while (copy.input_size() > 2)
          copy.mutable_input()->RemoveLast();
    }
  }

  void writeInitializers(const ParameterData &data) {
    auto &tensors = *out.mutable_graph()->mutable_initializer();
    std::map<std::string, int> places;
    for (int i = 0; i < tensors.size(); ++i)
      places[tensors[i].name()] = i;
    std::set<std::string> written;
    for (const Parameter &parameter : table.parameters) {
      std::string bytes = encode(parameter, data(parameter));
      for (const auto &[name, holder] : holders) {
        if (holder.parameter != &parameter)
          continue;
        std::vector<int64_t> shape = parameter.valueShape();
        std::string reversed;
        if (holder.reversed) {
          reversed.resize(bytes.size());
          transposeBytes(bytes.data(), reversed.data(), shape[0], shape[1],
                         elementSize(parameter.dtype));
          std::swap(shape[0], shape[1]);
        }
        auto place = places.find(name);
        onnx::TensorProto &tensor = place == places.end() ? *tensors.Add() : tensors[place->second];
        tensor.set_name(name);
        tensor.set_data_type(parameter.dtype);
        tensor.clear_dims();
        for (int64_t size : shape)
          tensor.add_dims(size);
        const std::string &content = holder.reversed ? reversed : bytes;
        store(tensor, content.data(), content.size());
        written.insert(name);
      }
    }
    // The rest stays as it is; what was in a file of the old model moves to the new one's.
    std::set<std::string> used(table.constants.begin(), table.constants.end());
    for (int i = tensors.size() - 1; i >= 0; --i) {
      const TensorInfo *old = model.findInitializer(tensors[i].name());
      if (!old || written.count(old->name))
        continue;
      if (!used.count(old->name) && old->isFloat() && wasParameter(old->name)) {
        tensors.DeleteSubrange(i, 1); // all its uses have initializers of their own
      } else if (goesOutside(old->name, old->byteSize)) {
        Bytes bytes = readTensor(*old);
        store(tensors[i], bytes.data, bytes.size);
      }
    }
  }

  bool wasParameter(const std::string &initializer) const {
    for (const Parameter &parameter : table.parameters) {
      if (parameter.source == initializer)
        return true;
      for (const ParameterValue &value : parameter.values)
        if (value.name == initializer)
          return true;
    }
    return false;
  }

  void store(onnx::TensorProto &tensor, const char *bytes, size_t size) {
    tensor.clear_float_data();
    tensor.clear_double_data();
    tensor.clear_int32_data();
    tensor.clear_int64_data();
    tensor.clear_uint64_data();
    tensor.clear_raw_data();
    tensor.clear_external_data();
    tensor.clear_data_location();
    if (!goesOutside(tensor.name(), size)) {
      tensor.set_raw_data(bytes, size);
      return;
    }
    if (!external)
      external.emplace(path + ".data");
    uint64_t padding = (alignment - position % alignment) % alignment;
    external->write(std::string(padding, '\0'));
    position += padding;
    auto entry = [&](const char *key, const std::string &value) {
      auto *added = tensor.add_external_data();
      added->set_key(key);
      added->set_value(value);
    };
    entry("location", std::filesystem::path(path).filename().string() + ".data");
    entry("offset", std::to_string(position));
    entry("length", std::to_string(size));
    tensor.set_data_location(onnx::TensorProto::EXTERNAL);
    external->write(bytes, size);
    position += size;
  }

  const std::string &path;
  const OnnxModel &model;
  const ParameterTable &table;
  onnx::ModelProto out;
  std::map<std::string, Holder> holders; // by initializer of the new file
  bool allLargeExternal = false;
  std::optional<OutputFile> external;
  uint64_t position = 0; // in the external file
};

} // namespace

void writeOnnx(const std::string &path, const OnnxModel &model, const ParameterTable &table,
               const ParameterData &data) {
  Writer(path, model, table).write(data);
}

} // namespace colrow
