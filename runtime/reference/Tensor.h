//===- Tensor.h - values of the reference interpreter ---------------------===//
//
// The oracle's tensor: slow, plain, and exact about what it holds. Floats are kept as double
// whatever their element type, integers and booleans as int64_t wrapped to theirs.
//
// A tensor is an immutable strided view of shared storage. Broadcast, transpose and slice make
// views, so a causal mask expanded over batch and heads costs nothing. Kernels (Elementwise.h,
// Shape.h, Lookup.h, Reduce.h, Einsum.h, Positional.h) return new tensors, and tensors may be
// read by several threads at once.
//
// Which numbers a kernel makes is a matter of two things: under Precision::f64 every float is a
// double, also those of element type f32 (the oracle proper); under Precision::f32 each result
// of element type f32 is rounded to float, as a machine would that computes op by op.
//
//===----------------------------------------------------------------------===//
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace colrow::reference {

/// What is wrong with the operands of a kernel: one lower-case line with the kernel's name.
class Error : public std::runtime_error {
public:
  using std::runtime_error::runtime_error;
};

enum class ElementType { f32, f64, i64, i32, u8, b1 };

/// How floating results of element type f32 are kept: as computed, or rounded to float.
enum class Precision { f64, f32 };

using Shape = std::vector<int64_t>;

bool isFloat(ElementType type);
const char *toString(ElementType type);   ///< "f32"
std::string toString(const Shape &shape); ///< "2x3"; empty for a scalar
size_t byteSize(ElementType type);        ///< of one element as raw bytes; 1 for b1
int64_t elementCount(const Shape &shape);
Shape rowMajorStrides(const Shape &shape); ///< in elements

/// `value` as an element of integer type `type` keeps it: modulo 2^bits; b1 keeps whether != 0.
int64_t wrap(ElementType type, int64_t value);

/// `value` with its fraction dropped; beyond int64_t the nearest it has, 0 for NaN.
int64_t truncate(double value);

/// `value` as an element of floating type `type` keeps it.
inline double roundTo(ElementType type, Precision precision, double value) {
  bool rounds = precision == Precision::f32 && type == ElementType::f32;
  return rounds ? static_cast<double>(static_cast<float>(value)) : value;
}

class Tensor {
public:
  /// No tensor at all; only defined() may be asked.
  Tensor() = default;

  /// From values in row-major order. Floats are kept as given, integers are wrapped.
  static Tensor floats(Shape shape, std::vector<double> values,
                       ElementType type = ElementType::f32);
  static Tensor integers(Shape shape, std::vector<int64_t> values,
                         ElementType type = ElementType::i64);
  /// From raw little-endian bytes in row-major order, as in ONNX and safetensors files.
  static Tensor fromBytes(ElementType type, Shape shape, const void *bytes, size_t size);
  /// Every element the same; takes the memory of one.
  static Tensor full(ElementType type, Shape shape, double value);
  static Tensor scalar(ElementType type, double value) { return full(type, {}, value); }
  static Tensor boolean(bool value) { return full(ElementType::b1, {}, value); }

  /// Another view of the same storage; strides and offset count elements. The caller answers
  /// for staying inside it.
  Tensor view(Shape shape, Shape strides, int64_t offset) const;

  bool defined() const { return storage != nullptr; }
  ElementType type() const { return elementType; }
  bool isFloat() const { return reference::isFloat(elementType); }
  const Shape &shape() const { return sizes; }
  const Shape &strides() const { return steps; }
  int64_t offset() const { return start; }
  int64_t rank() const { return static_cast<int64_t>(sizes.size()); }
  int64_t dim(int64_t i) const { return sizes.at(i); }
  int64_t size() const { return elementCount(sizes); }
  bool isContiguous() const; ///< row-major without gaps

  /// One element, converted where the storage holds the other kind. Throws out of bounds.
  double floatAt(const Shape &index) const;
  int64_t integerAt(const Shape &index) const;
  /// The only element of a tensor of size 1.
  double item() const;
  int64_t integerItem() const;

  /// All elements in row-major order, converted where the storage holds the other kind.
  std::vector<double> toFloats() const;
  std::vector<int64_t> toIntegers() const;
  /// Raw little-endian bytes in row-major order; f32 rounds to float.
  std::vector<uint8_t> toBytes() const;

  /// The same tensor as contiguous row-major storage; itself where it already is.
  Tensor materialize() const;

  /// For kernels: the storage's elements, to be read at offset() plus strides. T is double for
  /// floating tensors and int64_t for others.
  template <typename T> const T *data() const;

  std::string describe() const; ///< "f32[2x3]", for messages
  std::string toString() const; ///< "f32[2x2] [[1, 2], [3, 4]]"; long dimensions are elided

private:
  struct Storage {
    std::vector<double> floats;
    std::vector<int64_t> integers;
  };

  int64_t position(const Shape &index) const;

  std::shared_ptr<const Storage> storage;
  ElementType elementType = ElementType::f32;
  Shape sizes, steps;
  int64_t start = 0;
};

template <> const double *Tensor::data<double>() const;
template <> const int64_t *Tensor::data<int64_t>() const;

/// Same element type, shape and bits of every element (a NaN equals itself, 0 is not -0).
bool identical(const Tensor &a, const Tensor &b);

/// The largest |a - b| over all elements of two tensors of one shape; equal infinities and two
/// NaNs differ by 0, a NaN or an infinity from anything else by infinity.
double maxDifference(const Tensor &a, const Tensor &b);

/// The elements rounded as a kernel's result under `precision` would be.
Tensor rounded(const Tensor &x, Precision precision);

/// The shape two operands broadcast to under numpy's rules; `op` names the kernel in the error.
Shape broadcastShapes(const char *op, const Shape &a, const Shape &b);

} // namespace colrow::reference
