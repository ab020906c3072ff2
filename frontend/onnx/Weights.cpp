#include "frontend/onnx/Weights.h"
#include "colrow/Error.h"
#include "colrow/File.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <mutex>

namespace fs = std::filesystem;

namespace colrow {

size_t elementSize(int32_t dtype) {
  using T = onnx::TensorProto;
  switch (dtype) {
  case T::BOOL:
  case T::INT8:
  case T::UINT8:
    return 1;
  case T::INT16:
  case T::UINT16:
  case T::FLOAT16:
  case T::BFLOAT16:
    return 2;
  case T::INT32:
  case T::UINT32:
  case T::FLOAT:
    return 4;
  case T::INT64:
  case T::UINT64:
  case T::DOUBLE:
  case T::COMPLEX64:
    return 8;
  case T::COMPLEX128:
    return 16;
  default:
    return 0;
  }
}

std::string dtypeName(int32_t dtype) {
  if (!onnx::TensorProto_DataType_IsValid(dtype))
    return fmt::format("type {}", dtype);
  std::string name = onnx::TensorProto_DataType_Name(dtype);
  std::transform(name.begin(), name.end(), name.begin(),
                 [](unsigned char c) { return tolower(c); });
  return name;
}

int64_t elementCount(const std::vector<int64_t> &shape, const std::string &what) {
  int64_t count = 1;
  for (int64_t size : shape) {
    if (size < 0)
      throw Error(fmt::format("{} has a negative dimension: {}", what, shapeText(shape)));
    if (__builtin_mul_overflow(count, size, &count) || count > (int64_t(1) << 58))
      throw Error(fmt::format("{} is impossibly large: {}", what, shapeText(shape)));
  }
  return count;
}

bool TensorInfo::isFloat() const {
  using T = onnx::TensorProto;
  return dtype == T::FLOAT || dtype == T::FLOAT16 || dtype == T::BFLOAT16 || dtype == T::DOUBLE;
}

//===----------------------------------------------------------------------===//
// Places
//===----------------------------------------------------------------------===//

namespace {

uint64_t parseCount(const std::string &text, const char *key, const std::string &tensor) {
  uint64_t value = 0;
  bool digits = !text.empty() && text.size() < 20;
  for (char c : text) {
    digits = digits && c >= '0' && c <= '9';
    value = 10 * value + uint64_t(c - '0');
  }
  if (!digits)
    throw Error(
        fmt::format("initializer '{}' has external data with {} '{}', which is no byte count",
                    tensor, key, text));
  return value;
}

/// The file that a location names, refusing every way out of the model's folder: a model from a
/// stranger must not make us read other files.
fs::path resolveLocation(const std::string &location, const fs::path &folder,
                         const std::string &tensor) {
  auto leaves = [&](const std::string &why) {
    return Error(
        fmt::format("initializer '{}' refers to external data '{}', which leaves the model's "
                    "folder {} ({}); put the data file beside the model",
                    tensor, location, folder.string(), why));
  };
  fs::path relative(location);
  if (location.empty())
    throw Error(fmt::format("initializer '{}' has external data without a location", tensor));
  if (relative.is_absolute())
    throw leaves("the path is absolute");
  for (const fs::path &part : relative)
    if (part == "..")
      throw leaves("the path contains '..'");
  std::error_code code;
  fs::path root = fs::weakly_canonical(folder, code);
  fs::path target = fs::weakly_canonical(folder / relative, code);
  if (code)
    throw Error(fmt::format("initializer '{}': cannot resolve the path of external data '{}': {}",
                            tensor, location, code.message()));
  auto [end, ignored] = std::mismatch(root.begin(), root.end(), target.begin(), target.end());
  if (end != root.end())
    throw leaves("it is a symbolic link to " + target.string());
  return folder / relative;
}

/// Number of elements in the typed fields of a tensor that has no raw_data.
int64_t typedCount(const onnx::TensorProto &t) {
  using T = onnx::TensorProto;
  switch (t.data_type()) {
  case T::FLOAT:
    return t.float_data_size();
  case T::COMPLEX64:
    return t.float_data_size() / 2;
  case T::DOUBLE:
    return t.double_data_size();
  case T::COMPLEX128:
    return t.double_data_size() / 2;
  case T::INT64:
    return t.int64_data_size();
  case T::UINT32:
  case T::UINT64:
    return t.uint64_data_size();
  case T::STRING:
    return t.string_data_size();
  default:
    return t.int32_data_size();
  }
}

void describeExternal(TensorInfo &info, const fs::path &folder) {
  std::string location;
  bool hasLength = false;
  uint64_t length = 0;
  for (const auto &entry : info.proto->external_data()) {
    if (entry.key() == "location")
      location = entry.value();
    else if (entry.key() == "offset")
      info.offset = parseCount(entry.value(), "offset", info.name);
    else if (entry.key() == "length") {
      length = parseCount(entry.value(), "length", info.name);
      hasLength = true;
    }
  }
  info.file = resolveLocation(location, folder, info.name);
  if (hasLength && length != info.byteSize)
    throw Error(
        fmt::format("initializer '{}' of type {} and shape {} needs {} bytes, but its external "
                    "data in '{}' has {}",
                    info.name, dtypeName(info.dtype), shapeText(info.shape), info.byteSize,
                    info.file.string(), length));
  std::error_code code;
  fs::file_status status = fs::status(info.file, code);
  if (status.type() == fs::file_type::not_found) {
    info.storage = Storage::Absent;
    return;
  }
  if (status.type() != fs::file_type::regular)
    throw Error(fmt::format("initializer '{}': external data '{}' is not a regular file", info.name,
                            info.file.string()));
  info.storage = Storage::External;
  uint64_t size = fs::file_size(info.file, code);
  if (code || info.offset > size || info.byteSize > size - info.offset)
    throw Error(
        fmt::format("external data '{}' is too short: initializer '{}' needs bytes {} to {}, the "
                    "file has {}; export the model again or complete the download",
                    info.file.string(), info.name, info.offset, info.offset + info.byteSize, size));
}

} // namespace

TensorInfo describeTensor(const onnx::TensorProto &tensor, const fs::path &folder) {
  TensorInfo info;
  info.proto = &tensor;
  info.name = tensor.name();
  info.dtype = tensor.data_type();
  info.shape.assign(tensor.dims().begin(), tensor.dims().end());
  std::string what = fmt::format("initializer '{}'", info.name);
  int64_t count = elementCount(info.shape, what);
  bool isString = info.dtype == onnx::TensorProto::STRING;
  if (!isString && elementSize(info.dtype) == 0)
    throw Error(
        fmt::format("{} has element {}, which is not supported; export the model in float32", what,
                    dtypeName(info.dtype)));
  info.byteSize = uint64_t(count) * elementSize(info.dtype);
  if (tensor.data_location() == onnx::TensorProto::EXTERNAL) {
    describeExternal(info, folder);
    return info;
  }
  bool raw = tensor.has_raw_data() && !isString;
  int64_t have = raw ? int64_t(tensor.raw_data().size()) : typedCount(tensor);
  int64_t want = raw ? int64_t(info.byteSize) : count;
  if (have != want)
    throw Error(fmt::format("{} of type {} and shape {} needs {} {}, but the file has {}", what,
                            dtypeName(info.dtype), shapeText(info.shape), want,
                            raw ? "bytes" : "elements", have));
  return info;
}

//===----------------------------------------------------------------------===//
// Bytes
//===----------------------------------------------------------------------===//

namespace {

/// Maps a whole file read-only; tensors of one file share the mapping while any of them is in use.
std::shared_ptr<const MappedFile> mapShared(const fs::path &path) {
  static std::mutex mutex;
  static std::map<std::string, std::weak_ptr<const MappedFile>> open;
  std::lock_guard<std::mutex> lock(mutex);
  std::weak_ptr<const MappedFile> &slot = open[path.string()];
  std::error_code code;
  auto mapped = slot.lock();
  if (!mapped || mapped->size() != fs::file_size(path, code))
    slot = mapped = std::make_shared<const MappedFile>(path.string());
  return mapped;
}

template <typename To, typename From> std::shared_ptr<std::string> pack(const From &values) {
  auto out = std::make_shared<std::string>();
  out->reserve(size_t(values.size()) * sizeof(To));
  for (auto value : values) {
    To element = static_cast<To>(value);
    out->append(reinterpret_cast<const char *>(&element), sizeof element);
  }
  return out;
}

/// The typed fields as dense bytes. Small types, the 16-bit floats as bit patterns among them, are
/// widened to int32 in the file.
std::shared_ptr<std::string> packTyped(const onnx::TensorProto &t) {
  using T = onnx::TensorProto;
  switch (t.data_type()) {
  case T::FLOAT:
  case T::COMPLEX64:
    return pack<float>(t.float_data());
  case T::DOUBLE:
  case T::COMPLEX128:
    return pack<double>(t.double_data());
  case T::INT64:
    return pack<int64_t>(t.int64_data());
  case T::UINT64:
    return pack<uint64_t>(t.uint64_data());
  case T::UINT32:
    return pack<uint32_t>(t.uint64_data());
  case T::INT32:
    return pack<int32_t>(t.int32_data());
  default:
    return elementSize(t.data_type()) == 2 ? pack<uint16_t>(t.int32_data())
                                           : pack<uint8_t>(t.int32_data());
  }
}

} // namespace

Bytes readTensor(const TensorInfo &tensor) {
  if (elementSize(tensor.dtype) == 0)
    throw Error(fmt::format("initializer '{}' has element type {}, whose data cannot be read",
                            tensor.name, dtypeName(tensor.dtype)));
  if (tensor.storage == Storage::Absent)
    throw Error(
        fmt::format("the data of initializer '{}' is missing: file '{}' does not exist; put it "
                    "beside the model, or give other weights",
                    tensor.name, tensor.file.string()));
  if (tensor.storage == Storage::External) {
    auto mapped = mapShared(tensor.file);
    if (tensor.offset + tensor.byteSize > mapped->size())
      throw Error(
          fmt::format("external data '{}' became shorter while it was in use: initializer '{}' "
                      "needs bytes {} to {}, the file has {}",
                      tensor.file.string(), tensor.name, tensor.offset,
                      tensor.offset + tensor.byteSize, mapped->size()));
    return {reinterpret_cast<const char *>(mapped->data()) + tensor.offset, tensor.byteSize,
            mapped};
  }
  if (tensor.proto->has_raw_data())
    return {tensor.proto->raw_data().data(), tensor.proto->raw_data().size(), nullptr};
  auto packed = packTyped(*tensor.proto);
  return {packed->data(), packed->size(), packed};
}

static float fromFloat16(uint16_t bits) {
  int exponent = (bits >> 10) & 31;
  float mantissa = float(bits & 1023);
  float magnitude = exponent == 31  ? (bits & 1023 ? NAN : INFINITY)
                    : exponent == 0 ? std::ldexp(mantissa, -24)
                                    : std::ldexp(mantissa + 1024, exponent - 25);
  return bits & 0x8000 ? -magnitude : magnitude;
}

static float fromBfloat16(uint16_t bits) {
  uint32_t wide = uint32_t(bits) << 16;
  float value;
  memcpy(&value, &wide, sizeof value);
  return value;
}

template <typename From, typename Convert>
static std::vector<float> unpack(const Bytes &bytes, Convert convert) {
  std::vector<float> values(bytes.size / sizeof(From));
  for (size_t i = 0; i < values.size(); ++i) {
    From element; // external data need not be aligned
    memcpy(&element, bytes.data + i * sizeof(From), sizeof element);
    values[i] = convert(element);
  }
  return values;
}

std::vector<float> readFloats(const TensorInfo &tensor) {
  switch (tensor.dtype) {
  case onnx::TensorProto::FLOAT:
    return unpack<float>(readTensor(tensor), [](float value) { return value; });
  case onnx::TensorProto::DOUBLE:
    return unpack<double>(readTensor(tensor), [](double value) { return float(value); });
  case onnx::TensorProto::FLOAT16:
    return unpack<uint16_t>(readTensor(tensor), fromFloat16);
  case onnx::TensorProto::BFLOAT16:
    return unpack<uint16_t>(readTensor(tensor), fromBfloat16);
  default:
    throw Error(fmt::format("initializer '{}' has element type {}, expected a float type",
                            tensor.name, dtypeName(tensor.dtype)));
  }
}

bool isUniform(const TensorInfo &tensor) {
  size_t size = elementSize(tensor.dtype);
  if (tensor.storage == Storage::Absent || size == 0 || tensor.byteSize < 2 * size)
    return false;
  Bytes bytes = readTensor(tensor);
  // All elements are equal if the bytes are equal to themselves one element later.
  return memcmp(bytes.data, bytes.data + size, bytes.size - size) == 0;
}

bool equalTensors(const TensorInfo &a, const TensorInfo &b) {
  if (a.storage == Storage::Absent || b.storage == Storage::Absent || a.dtype != b.dtype ||
      a.shape != b.shape || elementSize(a.dtype) == 0)
    return false;
  Bytes x = readTensor(a), y = readTensor(b);
  return x.size == y.size && memcmp(x.data, y.data, x.size) == 0;
}

bool equalTransposed(const TensorInfo &a, const TensorInfo &b) {
  if (a.storage == Storage::Absent || b.storage == Storage::Absent || a.dtype != b.dtype ||
      a.shape.size() != 2 || b.shape.size() != 2 || a.shape[0] != b.shape[1] ||
      a.shape[1] != b.shape[0] || elementSize(a.dtype) == 0)
    return false;
  Bytes x = readTensor(a), y = readTensor(b);
  size_t size = elementSize(a.dtype);
  int64_t rows = a.shape[0], columns = a.shape[1];
  // In tiles, so that neither matrix is read with a stride through all of its pages.
  constexpr int64_t tile = 64;
  for (int64_t r0 = 0; r0 < rows; r0 += tile)
    for (int64_t c0 = 0; c0 < columns; c0 += tile)
      for (int64_t r = r0; r < std::min(rows, r0 + tile); ++r)
        for (int64_t c = c0; c < std::min(columns, c0 + tile); ++c)
          if (memcmp(x.data + size_t(r * columns + c) * size, y.data + size_t(c * rows + r) * size,
                     size) != 0)
            return false;
  return true;
}

void transposeBytes(const char *from, char *to, int64_t rows, int64_t columns, size_t elementSize) {
  constexpr int64_t tile = 64;
  for (int64_t r0 = 0; r0 < rows; r0 += tile)
    for (int64_t c0 = 0; c0 < columns; c0 += tile)
      for (int64_t r = r0; r < std::min(rows, r0 + tile); ++r)
        for (int64_t c = c0; c < std::min(columns, c0 + tile); ++c)
          memcpy(to + size_t(c * rows + r) * elementSize,
                 from + size_t(r * columns + c) * elementSize, elementSize);
}

} // namespace colrow
