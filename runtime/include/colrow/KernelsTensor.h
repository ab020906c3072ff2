//===- KernelsTensor.h - what kernels take and give -----------------------===//
//
// A View is a pointer with a shape and strides; it owns nothing. Kernels write into views that
// the caller provides, so a generated trainer plans all of its memory itself.
//
// Views are contiguous row-major unless they are made with strides. A kernel that accepts only
// contiguous views says nothing; one that accepts strides says so. Mistakes of the caller (shapes
// that do not fit, strides where none are accepted) throw std::invalid_argument: they are mistakes
// of the generated program, never of its data.
//
//===----------------------------------------------------------------------===//
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <stdexcept>
#include <string>
#include <type_traits>

namespace colrow {

/// Throws std::invalid_argument("KERNEL: MESSAGE") unless `ok`.
inline void require(bool ok, const char *kernel, const char *message) {
  if (!ok)
    throw std::invalid_argument(std::string(kernel) + ": " + message);
}

/// Up to eight numbers: a shape, strides, axes, a permutation, starts of a slice.
class Dims {
public:
  static constexpr int maxRank = 8;

  Dims() = default;
  Dims(std::initializer_list<int64_t> values) {
    for (int64_t value : values)
      append(value);
  }

  /// `count` times `value`.
  static Dims filled(int count, int64_t value) {
    Dims dims;
    for (int i = 0; i < count; ++i)
      dims.append(value);
    return dims;
  }

  int rank() const { return count; }
  int64_t operator[](int i) const { return values[i]; }
  int64_t &operator[](int i) { return values[i]; }
  int64_t back() const { return values[count - 1]; }
  const int64_t *begin() const { return values.data(); }
  const int64_t *end() const { return values.data() + count; }

  void append(int64_t value) {
    require(count < maxRank, "tensor", "expects at most eight dimensions");
    values[count++] = value;
  }

  /// Elements of a tensor of this shape; 1 for a scalar.
  int64_t numel() const {
    int64_t product = 1;
    for (int64_t value : *this)
      product *= value;
    return product;
  }

  /// Strides of a contiguous row-major tensor of this shape, in elements.
  Dims rowMajorStrides() const {
    Dims strides = *this;
    int64_t stride = 1;
    for (int i = count; i-- > 0; stride *= values[i])
      strides[i] = stride;
    return strides;
  }

  bool operator==(const Dims &other) const {
    if (count != other.count)
      return false;
    for (int i = 0; i < count; ++i)
      if (values[i] != other.values[i])
        return false;
    return true;
  }
  bool operator!=(const Dims &other) const { return !(*this == other); }

private:
  std::array<int64_t, maxRank> values{};
  int count = 0;
};

using Shape = Dims;
using Strides = Dims;

/// A tensor in memory owned by somebody else. Element types are float, int64_t and uint8_t (a
/// boolean: 0 or 1), const for operands. A default-made view stands for an absent operand.
template <typename T> struct View {
  T *data = nullptr;
  Shape shape;
  Strides strides; ///< in elements

  View() = default;
  View(T *data, const Shape &shape) : data(data), shape(shape), strides(shape.rowMajorStrides()) {}
  View(T *data, const Shape &shape, const Strides &strides)
      : data(data), shape(shape), strides(strides) {}
  /// A view to write into is also one to read from.
  template <typename U, typename = std::enable_if_t<std::is_same_v<const U, T>>>
  View(const View<U> &other) : data(other.data), shape(other.shape), strides(other.strides) {}

  explicit operator bool() const { return data != nullptr; }
  int rank() const { return shape.rank(); }
  int64_t numel() const { return shape.numel(); }

  /// Whether elements lie in row-major order without holes. Dimensions of one element may have
  /// any stride.
  bool isContiguous() const {
    int64_t expected = 1;
    for (int i = rank(); i-- > 0; expected *= shape[i])
      if (shape[i] != 1 && strides[i] != expected)
        return numel() == 0;
    return true;
  }

  /// The same memory with dimensions in another order: result dimension i is dimension order[i].
  View permuted(const Dims &order) const {
    View result;
    result.data = data;
    for (int64_t i : order) {
      result.shape.append(shape[int(i)]);
      result.strides.append(strides[int(i)]);
    }
    return result;
  }
};

using Tensor = View<float>;
using ConstTensor = View<const float>;
using Integers = View<const int64_t>;

/// In `const ConstView<T> &`, T follows from the other arguments, so that a View<float> may be
/// given where one to read from is expected, and 0 where a float is.
template <typename T> struct ConstViewOf {
  using Type = View<const T>;
  using Value = T;
};
template <typename T> using ConstView = typename ConstViewOf<T>::Type;

} // namespace colrow
