//===- Safetensors.cpp - read and write safetensors files ------------------===//

#include "colrow/Safetensors.h"
#include "colrow/Error.h"

#include <algorithm>
#include <cassert>
#include <cstring>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <tuple>

namespace colrow {
namespace {

struct TypeRow {
  TensorType type;
  const char *name;
  int64_t bytes;
};

constexpr TypeRow typeTable[] = {
    {TensorType::BOOL, "BOOL", 1}, {TensorType::U8, "U8", 1},     {TensorType::I8, "I8", 1},
    {TensorType::I16, "I16", 2},   {TensorType::U16, "U16", 2},   {TensorType::F16, "F16", 2},
    {TensorType::BF16, "BF16", 2}, {TensorType::I32, "I32", 4},   {TensorType::U32, "U32", 4},
    {TensorType::F32, "F32", 4},   {TensorType::F64, "F64", 8},   {TensorType::I64, "I64", 8},
    {TensorType::U64, "U64", 8},
};

const TypeRow &typeRow(TensorType type) {
  for (const TypeRow &row : typeTable)
    if (row.type == type)
      return row;
  throw std::logic_error("unknown tensor type");
}

/// The size limit of the reference implementation for headers, which bounds what a damaged
/// length field can make us parse.
constexpr uint64_t maxHeader = 100'000'000;

/// Product of the sizes, or -1 when one is negative or the product (of bytes) overflows.
int64_t checkedProduct(const std::vector<int64_t> &shape, int64_t factor) {
  int64_t product = factor;
  for (int64_t size : shape)
    if (size < 0 || __builtin_mul_overflow(product, size, &product))
      return -1;
  return product;
}

template <typename T> T load(const uint8_t *from) {
  T value;
  std::memcpy(&value, from, sizeof(T));
  return value;
}

float halfToFloat(uint16_t half) {
  uint32_t sign = uint32_t(half & 0x8000) << 16;
  int exponent = (half >> 10) & 0x1f;
  uint32_t mantissa = half & 0x3ff;
  uint32_t bits;
  if (exponent == 0x1f) {
    bits = sign | 0x7f800000u | (mantissa << 13);
  } else if (exponent == 0) {
    float value = float(mantissa) * 0x1p-24f; // subnormal: exact in float
    return sign ? -value : value;
  } else {
    bits = sign | uint32_t(exponent + 112) << 23 | (mantissa << 13);
  }
  float value;
  std::memcpy(&value, &bits, sizeof(value));
  return value;
}

float bfloatToFloat(uint16_t brain) {
  uint32_t bits = uint32_t(brain) << 16;
  float value;
  std::memcpy(&value, &bits, sizeof(value));
  return value;
}

} // namespace

const char *tensorTypeName(TensorType type) { return typeRow(type).name; }
int64_t tensorTypeBytes(TensorType type) { return typeRow(type).bytes; }

std::string shapeText(const std::vector<int64_t> &shape) {
  std::string text = "[";
  for (size_t i = 0; i < shape.size(); ++i)
    text += (i ? ", " : "") + std::to_string(shape[i]);
  return text + "]";
}

int64_t TensorEntry::elements() const { return checkedProduct(shape, 1); }

SafetensorsFile::SafetensorsFile(const std::string &path) : file(path) {
  auto fail = [&](const std::string &what) {
    throw Error("'" + path + "' is not a valid safetensors file: " + what);
  };
  if (file.size() < 8)
    fail("it has " + std::to_string(file.size()) + " bytes, fewer than the 8 of its length field");
  uint64_t headerBytes = load<uint64_t>(file.data());
  if (headerBytes > maxHeader)
    fail("its header claims " + std::to_string(headerBytes) + " bytes");
  if (headerBytes > file.size() - 8)
    fail("its header of " + std::to_string(headerBytes) + " bytes is cut off");
  const char *begin = reinterpret_cast<const char *>(file.data()) + 8;
  nlohmann::json header = nlohmann::json::parse(begin, begin + headerBytes, nullptr, false);
  if (header.is_discarded() || !header.is_object())
    fail("its header is not JSON");
  uint64_t dataBytes = file.size() - 8 - headerBytes;
  const uint8_t *data = file.data() + 8 + headerBytes;

  for (const auto &item : header.items()) {
    const nlohmann::json &value = item.value();
    if (item.key() == "__metadata__") {
      if (!value.is_object())
        fail("__metadata__ is not an object");
      for (const auto &pair : value.items())
        if (pair.value().is_string())
          metadataEntries[pair.key()] = pair.value().get<std::string>();
      continue;
    }
    TensorEntry entry;
    entry.name = item.key();
    auto failTensor = [&](const std::string &what) {
      fail("tensor '" + entry.name + "' " + what);
    };
    if (!value.is_object() || !value.contains("dtype") || !value["dtype"].is_string() ||
        !value.contains("shape") || !value["shape"].is_array() ||
        !value.contains("data_offsets") || !value["data_offsets"].is_array() ||
        value["data_offsets"].size() != 2)
      failTensor("lacks dtype, shape or data_offsets");
    std::string dtype = value["dtype"].get<std::string>();
    auto row = std::find_if(std::begin(typeTable), std::end(typeTable),
                            [&](const TypeRow &candidate) { return candidate.name == dtype; });
    if (row == std::end(typeTable))
      failTensor("has the unknown dtype '" + dtype + "'");
    entry.type = row->type;
    for (const nlohmann::json &size : value["shape"]) {
      if (!size.is_number_unsigned())
        failTensor("has a size that is no count");
      entry.shape.push_back(size.get<int64_t>());
    }
    for (const nlohmann::json &offset : value["data_offsets"])
      if (!offset.is_number_unsigned())
        failTensor("has an offset that is no count");
    uint64_t first = value["data_offsets"][0].get<uint64_t>();
    uint64_t last = value["data_offsets"][1].get<uint64_t>();
    if (first > last)
      failTensor("ends before it begins");
    if (last > dataBytes)
      failTensor("lies beyond the end of the file, which is cut off");
    int64_t bytes = checkedProduct(entry.shape, row->bytes);
    if (bytes < 0 || uint64_t(bytes) != last - first)
      failTensor("has " + std::to_string(last - first) + " bytes, which is not its shape " +
                 shapeText(entry.shape) + " of " + dtype);
    entry.data = data + first;
    entry.bytes = last - first;
    entries.push_back(std::move(entry));
  }
  std::sort(entries.begin(), entries.end(), [](const TensorEntry &a, const TensorEntry &b) {
    return std::tie(a.data, a.name) < std::tie(b.data, b.name);
  });
  for (size_t i = 0; i < entries.size(); ++i)
    byName[entries[i].name] = i;
}

void SafetensorsFile::checkSeal() const {
  const TensorEntry *seal = find(sealName);
  if (!seal)
    throw Error("'" + path() + "' has no checksum");
  const uint8_t *end = file.data() + file.size();
  Checksum checksum;
  if (seal->bytes == sizeof(uint64_t) && seal->data + seal->bytes == end)
    checksum.add(file.data(), size_t(seal->data - file.data()));
  if (checksum.value() != load<uint64_t>(end - sizeof(uint64_t)))
    throw Error("'" + path() + "' is damaged: its checksum is not that of its contents");
}

const TensorEntry *SafetensorsFile::find(const std::string &name) const {
  auto found = byName.find(name);
  return found == byName.end() ? nullptr : &entries[found->second];
}

const TensorEntry &SafetensorsFile::get(const std::string &name) const {
  if (const TensorEntry *entry = find(name))
    return *entry;
  throw Error("'" + path() + "' has no tensor '" + name + "'");
}

template <typename T>
std::vector<T> SafetensorsFile::read(const TensorEntry &entry, int64_t first,
                                     int64_t count) const {
  if (count < 0)
    count = entry.elements() - first;
  assert(first >= 0 && first + count <= entry.elements() && "beyond the tensor");
  std::vector<T> values(static_cast<size_t>(count));
  int64_t size = tensorTypeBytes(entry.type);
  const uint8_t *from = entry.data + first * size;
  auto convert = [&](auto loadOne) {
    for (int64_t i = 0; i < count; ++i)
      values[size_t(i)] = static_cast<T>(loadOne(from + i * size));
  };
  auto wrongType = [&](const char *wanted) {
    throw Error("'" + path() + "': tensor '" + entry.name + "' has dtype " +
                tensorTypeName(entry.type) + ", expected " + wanted);
  };
  constexpr bool floating = std::is_floating_point_v<T>;
  bool isFloating = entry.type == TensorType::F16 || entry.type == TensorType::BF16 ||
                    entry.type == TensorType::F32 || entry.type == TensorType::F64;
  if (floating != isFloating)
    wrongType(floating ? "a floating type" : "an integer type");
  switch (entry.type) {
  case TensorType::F16:
    convert([](const uint8_t *p) { return halfToFloat(load<uint16_t>(p)); });
    break;
  case TensorType::BF16:
    convert([](const uint8_t *p) { return bfloatToFloat(load<uint16_t>(p)); });
    break;
  case TensorType::F32: convert(load<float>); break;
  case TensorType::F64: convert(load<double>); break;
  case TensorType::BOOL:
  case TensorType::U8: convert(load<uint8_t>); break;
  case TensorType::I8: convert(load<int8_t>); break;
  case TensorType::I16: convert(load<int16_t>); break;
  case TensorType::U16: convert(load<uint16_t>); break;
  case TensorType::I32: convert(load<int32_t>); break;
  case TensorType::U32: convert(load<uint32_t>); break;
  case TensorType::I64: convert(load<int64_t>); break;
  case TensorType::U64: convert(load<uint64_t>); break;
  }
  return values;
}

std::vector<float> SafetensorsFile::readFloats(const TensorEntry &entry, int64_t first,
                                               int64_t count) const {
  return read<float>(entry, first, count);
}
std::vector<double> SafetensorsFile::readDoubles(const TensorEntry &entry, int64_t first,
                                                 int64_t count) const {
  return read<double>(entry, first, count);
}
std::vector<int64_t> SafetensorsFile::readIntegers(const TensorEntry &entry, int64_t first,
                                                   int64_t count) const {
  return read<int64_t>(entry, first, count);
}

SafetensorsWriter::SafetensorsWriter(std::string path) : file(std::move(path)) {}

void SafetensorsWriter::metadata(const std::string &key, const std::string &value) {
  assert(!headerWritten && "metadata comes before the first bytes");
  metadataEntries[key] = value;
}

void SafetensorsWriter::declare(const std::string &name, TensorType type,
                                const std::vector<int64_t> &shape) {
  assert(!headerWritten && "declarations come before the first bytes");
  for (const Declared &tensor : tensors)
    if (tensor.name == name)
      throw Error("'" + file.path() + "': tensor '" + name + "' would be written twice");
  int64_t bytes = checkedProduct(shape, tensorTypeBytes(type));
  assert(bytes >= 0 && "impossible shape");
  tensors.push_back({name, type, shape, uint64_t(bytes)});
  declaredBytes += uint64_t(bytes);
}

void SafetensorsWriter::writeHeader() {
  nlohmann::ordered_json header = nlohmann::ordered_json::object();
  if (!metadataEntries.empty())
    header["__metadata__"] = metadataEntries;
  uint64_t offset = 0;
  for (const Declared &tensor : tensors) {
    header[tensor.name] = {{"dtype", tensorTypeName(tensor.type)},
                           {"shape", tensor.shape},
                           {"data_offsets", {offset, offset + tensor.bytes}}};
    offset += tensor.bytes;
  }
  std::string text =
      header.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
  text.resize((text.size() + 7) / 8 * 8, ' '); // the data begins aligned
  uint64_t length = text.size();
  put(&length, sizeof(length));
  put(text.data(), length);
  headerWritten = true;
}

void SafetensorsWriter::put(const void *data, uint64_t bytes) {
  if (sealed)
    checksum.add(data, bytes);
  file.write(data, bytes);
}

void SafetensorsWriter::seal() {
  declare(sealName, TensorType::U64, {1});
  sealed = true;
}

void SafetensorsWriter::write(const void *data, uint64_t bytes) {
  if (!headerWritten)
    writeHeader();
  writtenBytes += bytes;
  put(data, bytes);
}

void SafetensorsWriter::commit() {
  if (!headerWritten)
    writeHeader();
  if (sealed) {
    uint64_t value = checksum.value();
    write(&value, sizeof(value));
  }
  if (writtenBytes != declaredBytes)
    throw std::logic_error("'" + file.path() + "': " + std::to_string(writtenBytes) +
                           " bytes written, " + std::to_string(declaredBytes) + " declared");
  file.commit();
}

namespace {
TensorData makeTensor(std::string name, TensorType type, std::vector<int64_t> shape,
                      const void *values) {
  TensorData tensor;
  tensor.name = std::move(name);
  tensor.type = type;
  tensor.bytes.resize(size_t(checkedProduct(shape, tensorTypeBytes(type))));
  tensor.shape = std::move(shape);
  if (!tensor.bytes.empty())
    std::memcpy(tensor.bytes.data(), values, tensor.bytes.size());
  return tensor;
}
} // namespace

TensorData TensorData::floats(std::string name, std::vector<int64_t> shape, const float *values) {
  return makeTensor(std::move(name), TensorType::F32, std::move(shape), values);
}
TensorData TensorData::doubles(std::string name, std::vector<int64_t> shape,
                               const double *values) {
  return makeTensor(std::move(name), TensorType::F64, std::move(shape), values);
}
TensorData TensorData::integers(std::string name, std::vector<int64_t> shape,
                                const int64_t *values) {
  return makeTensor(std::move(name), TensorType::I64, std::move(shape), values);
}

void writeSafetensors(const std::string &path, const std::vector<TensorData> &tensors,
                      const std::map<std::string, std::string> &metadata) {
  SafetensorsWriter writer(path);
  for (const auto &pair : metadata)
    writer.metadata(pair.first, pair.second);
  for (const TensorData &tensor : tensors)
    writer.declare(tensor.name, tensor.type, tensor.shape);
  for (const TensorData &tensor : tensors)
    writer.write(tensor.bytes.data(), tensor.bytes.size());
  writer.commit();
}

} // namespace colrow
