#include "runtime/reference/Tensor.h"

#include "runtime/reference/Walk.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <sstream>

namespace colrow::reference {

bool isFloat(ElementType type) { return type == ElementType::f32 || type == ElementType::f64; }

const char *toString(ElementType type) {
  switch (type) {
  case ElementType::f32:
    return "f32";
  case ElementType::f64:
    return "f64";
  case ElementType::i64:
    return "i64";
  case ElementType::i32:
    return "i32";
  case ElementType::u8:
    return "u8";
  case ElementType::b1:
    return "b1";
  }
  return "?";
}

std::string toString(const Shape &shape) {
  std::string text;
  for (size_t i = 0; i < shape.size(); ++i)
    text += (i ? "x" : "") + std::to_string(shape[i]);
  return text;
}

size_t byteSize(ElementType type) {
  switch (type) {
  case ElementType::f64:
  case ElementType::i64:
    return 8;
  case ElementType::f32:
  case ElementType::i32:
    return 4;
  case ElementType::u8:
  case ElementType::b1:
    return 1;
  }
  return 0;
}

int64_t elementCount(const Shape &shape) {
  int64_t count = 1;
  for (int64_t size : shape)
    count *= size;
  return count;
}

Shape rowMajorStrides(const Shape &shape) {
  Shape strides(shape.size());
  int64_t stride = 1;
  for (size_t i = shape.size(); i-- > 0;) {
    strides[i] = stride;
    stride *= shape[i];
  }
  return strides;
}

int64_t wrap(ElementType type, int64_t value) {
  switch (type) {
  case ElementType::i32:
    return static_cast<int32_t>(value);
  case ElementType::u8:
    return static_cast<uint8_t>(value);
  case ElementType::b1:
    return value != 0;
  default:
    return value;
  }
}

int64_t truncate(double value) {
  constexpr double limit = 9223372036854775808.0; // 2^63
  if (std::isnan(value))
    return 0;
  if (value >= limit)
    return std::numeric_limits<int64_t>::max();
  if (value < -limit)
    return std::numeric_limits<int64_t>::min();
  return static_cast<int64_t>(value);
}

static void checkShape(const Shape &shape, int64_t values) {
  for (int64_t size : shape)
    if (size < 0)
      throw Error("a tensor has no negative dimension, got shape " + toString(shape));
  if (values != elementCount(shape))
    throw Error("a tensor of shape [" + toString(shape) + "] has " +
                std::to_string(elementCount(shape)) + " elements, got " + std::to_string(values));
}

Tensor Tensor::floats(Shape shape, std::vector<double> values, ElementType type) {
  assert(reference::isFloat(type));
  checkShape(shape, static_cast<int64_t>(values.size()));
  auto owned = std::make_shared<Storage>();
  owned->floats = std::move(values);
  Tensor result;
  result.storage = std::move(owned);
  result.elementType = type;
  result.steps = rowMajorStrides(shape);
  result.sizes = std::move(shape);
  return result;
}

Tensor Tensor::integers(Shape shape, std::vector<int64_t> values, ElementType type) {
  assert(!reference::isFloat(type));
  checkShape(shape, static_cast<int64_t>(values.size()));
  if (type != ElementType::i64)
    for (int64_t &value : values)
      value = wrap(type, value);
  auto owned = std::make_shared<Storage>();
  owned->integers = std::move(values);
  Tensor result;
  result.storage = std::move(owned);
  result.elementType = type;
  result.steps = rowMajorStrides(shape);
  result.sizes = std::move(shape);
  return result;
}

Tensor Tensor::full(ElementType type, Shape shape, double value) {
  Shape strides(shape.size(), 0);
  Tensor one =
      reference::isFloat(type) ? floats({}, {value}, type) : integers({}, {truncate(value)}, type);
  checkShape(shape, elementCount(shape));
  return one.view(std::move(shape), std::move(strides), 0);
}

template <typename Raw, typename Kept>
static std::vector<Kept> readRaw(const void *bytes, int64_t count) {
  std::vector<Kept> values(count);
  const char *from = static_cast<const char *>(bytes);
  for (int64_t i = 0; i < count; ++i) {
    Raw raw; // files give no alignment
    std::memcpy(&raw, from + i * sizeof(Raw), sizeof(Raw));
    values[i] = static_cast<Kept>(raw);
  }
  return values;
}

Tensor Tensor::fromBytes(ElementType type, Shape shape, const void *bytes, size_t size) {
  if (size % byteSize(type) != 0)
    throw Error(std::to_string(size) + " bytes are no whole number of " +
                reference::toString(type) + " elements");
  int64_t count = static_cast<int64_t>(size / byteSize(type));
  checkShape(shape, count);
  switch (type) {
  case ElementType::f32:
    return floats(std::move(shape), readRaw<float, double>(bytes, count), type);
  case ElementType::f64:
    return floats(std::move(shape), readRaw<double, double>(bytes, count), type);
  case ElementType::i64:
    return integers(std::move(shape), readRaw<int64_t, int64_t>(bytes, count), type);
  case ElementType::i32:
    return integers(std::move(shape), readRaw<int32_t, int64_t>(bytes, count), type);
  case ElementType::u8:
  case ElementType::b1:
    return integers(std::move(shape), readRaw<uint8_t, int64_t>(bytes, count), type);
  }
  throw Error("unknown element type");
}

Tensor Tensor::view(Shape shape, Shape strides, int64_t offset) const {
  assert(shape.size() == strides.size());
  Tensor result = *this;
  result.sizes = std::move(shape);
  result.steps = std::move(strides);
  result.start = offset;
  return result;
}

bool Tensor::isContiguous() const {
  Shape dense = rowMajorStrides(sizes);
  for (size_t i = 0; i < sizes.size(); ++i)
    if (sizes[i] != 1 && steps[i] != dense[i])
      return size() == 0;
  return true;
}

template <> const double *Tensor::data<double>() const {
  assert(isFloat());
  return storage->floats.data();
}

template <> const int64_t *Tensor::data<int64_t>() const {
  assert(!isFloat());
  return storage->integers.data();
}

int64_t Tensor::position(const Shape &index) const {
  if (index.size() != sizes.size())
    throw Error("an index of " + std::to_string(index.size()) + " numbers into " + describe());
  int64_t at = start;
  for (size_t i = 0; i < index.size(); ++i) {
    if (index[i] < 0 || index[i] >= sizes[i])
      throw Error("index " + std::to_string(index[i]) + " on axis " + std::to_string(i) +
                  " is outside of " + describe());
    at += index[i] * steps[i];
  }
  return at;
}

double Tensor::floatAt(const Shape &index) const {
  int64_t at = position(index);
  return isFloat() ? storage->floats[at] : static_cast<double>(storage->integers[at]);
}

int64_t Tensor::integerAt(const Shape &index) const {
  int64_t at = position(index);
  return isFloat() ? truncate(storage->floats[at]) : storage->integers[at];
}

static void checkSingle(const Tensor &x) {
  if (x.size() != 1)
    throw Error("expects a tensor of one element, got " + x.describe());
}

double Tensor::item() const {
  checkSingle(*this);
  return floatAt(Shape(sizes.size(), 0));
}

int64_t Tensor::integerItem() const {
  checkSingle(*this);
  return integerAt(Shape(sizes.size(), 0));
}

template <typename From, typename To, typename Fn>
static std::vector<To> elements(const Tensor &x, Fn convert) {
  std::vector<To> values;
  values.reserve(x.size());
  const From *from = x.data<From>();
  walk<1>(x.shape(), {x.strides()}, {x.offset()},
          [&](const Positions<1> &at) { values.push_back(convert(from[at[0]])); });
  return values;
}

std::vector<double> Tensor::toFloats() const {
  if (isFloat())
    return elements<double, double>(*this, [](double x) { return x; });
  return elements<int64_t, double>(*this, [](int64_t x) { return static_cast<double>(x); });
}

std::vector<int64_t> Tensor::toIntegers() const {
  if (isFloat())
    return elements<double, int64_t>(*this, [](double x) { return truncate(x); });
  return elements<int64_t, int64_t>(*this, [](int64_t x) { return x; });
}

template <typename Raw, typename Kept>
static std::vector<uint8_t> writeRaw(const std::vector<Kept> &values) {
  std::vector<uint8_t> bytes(values.size() * sizeof(Raw));
  for (size_t i = 0; i < values.size(); ++i) {
    Raw raw = static_cast<Raw>(values[i]);
    std::memcpy(bytes.data() + i * sizeof(Raw), &raw, sizeof(Raw));
  }
  return bytes;
}

std::vector<uint8_t> Tensor::toBytes() const {
  switch (elementType) {
  case ElementType::f32:
    return writeRaw<float>(toFloats());
  case ElementType::f64:
    return writeRaw<double>(toFloats());
  case ElementType::i64:
    return writeRaw<int64_t>(toIntegers());
  case ElementType::i32:
    return writeRaw<int32_t>(toIntegers());
  case ElementType::u8:
  case ElementType::b1:
    return writeRaw<uint8_t>(toIntegers());
  }
  throw Error("unknown element type");
}

Tensor Tensor::materialize() const {
  if (isContiguous())
    return *this;
  return isFloat() ? floats(sizes, toFloats(), elementType)
                   : integers(sizes, toIntegers(), elementType);
}

std::string Tensor::describe() const {
  return std::string(reference::toString(elementType)) + "[" + reference::toString(sizes) + "]";
}

static void print(std::ostream &out, const Tensor &x, Shape &index) {
  constexpr int64_t shown = 8; // of each dimension
  if (index.size() == x.shape().size()) {
    if (x.isFloat())
      out << x.floatAt(index);
    else
      out << x.integerAt(index);
    return;
  }
  int64_t size = x.shape()[index.size()];
  out << '[';
  for (int64_t i = 0; i < size && i < shown; ++i) {
    index.push_back(i);
    out << (i ? ", " : "");
    print(out, x, index);
    index.pop_back();
  }
  out << (size > shown ? ", ...]" : "]");
}

std::string Tensor::toString() const {
  std::ostringstream out;
  Shape index;
  out << describe() << ' ';
  print(out, *this, index);
  return out.str();
}

bool identical(const Tensor &a, const Tensor &b) {
  if (a.type() != b.type() || a.shape() != b.shape())
    return false;
  bool same = true;
  auto compare = [&](auto kind) {
    using T = decltype(kind);
    const T *left = a.data<T>(), *right = b.data<T>();
    walk<2>(a.shape(), {a.strides(), b.strides()}, {a.offset(), b.offset()},
            [&](const Positions<2> &at) {
              same &= std::memcmp(&left[at[0]], &right[at[1]], sizeof(T)) == 0;
            });
  };
  if (a.isFloat())
    compare(double());
  else
    compare(int64_t());
  return same;
}

double maxDifference(const Tensor &a, const Tensor &b) {
  if (a.shape() != b.shape())
    throw Error("cannot compare " + a.describe() + " with " + b.describe());
  std::vector<double> left = a.toFloats(), right = b.toFloats();
  double worst = 0;
  for (size_t i = 0; i < left.size(); ++i) {
    bool same = left[i] == right[i] || (std::isnan(left[i]) && std::isnan(right[i]));
    double difference = same ? 0 : std::fabs(left[i] - right[i]);
    if (std::isnan(difference))
      difference = std::numeric_limits<double>::infinity();
    worst = std::max(worst, difference);
  }
  return worst;
}

Tensor rounded(const Tensor &x, Precision precision) {
  if (x.type() != ElementType::f32 || precision != Precision::f32)
    return x;
  std::vector<double> values = x.toFloats();
  for (double &value : values)
    value = roundTo(x.type(), precision, value);
  return Tensor::floats(x.shape(), std::move(values), x.type());
}

Shape broadcastShapes(const char *op, const Shape &a, const Shape &b) {
  const Shape &longer = a.size() >= b.size() ? a : b, &shorter = a.size() >= b.size() ? b : a;
  Shape result = longer;
  size_t missing = longer.size() - shorter.size();
  for (size_t i = 0; i < shorter.size(); ++i) {
    int64_t &size = result[missing + i];
    if (size == 1)
      size = shorter[i];
    else if (shorter[i] != 1 && shorter[i] != size)
      throw Error(std::string(op) + ": shapes [" + toString(a) + "] and [" + toString(b) +
                  "] do not broadcast");
  }
  return result;
}

} // namespace colrow::reference
