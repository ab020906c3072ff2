//===- Weights.h - where the bytes of an initializer are, and reading them -===//
//
// A model may be larger than memory and its weights may be absent altogether, so an initializer is
// described by its type, shape and place; its bytes are mapped from the file when asked for.
// Format: https://onnx.ai/onnx/repo-docs/ExternalData.html
//
//===----------------------------------------------------------------------===//
#pragma once

#include "colrow/Safetensors.h" // shapeText
#include "onnx/onnx_pb.h"

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

namespace colrow {

/// Size in bytes of one element of an onnx::TensorProto_DataType; 0 for strings and for types
/// that have no size in whole bytes or that ONNX 1.12 does not know.
size_t elementSize(int32_t dtype);

/// ONNX's name of a type in lower case: `float`, `int64`. Unknown ones as `type 17`.
std::string dtypeName(int32_t dtype);

/// Number of elements. Throws Error naming `what` if a dimension is negative or the product
/// exceeds 2^58.
int64_t elementCount(const std::vector<int64_t> &shape, const std::string &what);

/// Bytes that stay valid as long as the object: a view into a mapped file or into the model.
struct Bytes {
  const char *data = nullptr;
  size_t size = 0;
  std::shared_ptr<const void> owner;
};

enum class Storage {
  Inside,   ///< in the model file
  External, ///< in a file beside it
  Absent    ///< the external file does not exist; asking for the bytes is an error
};

/// An initializer without its bytes.
struct TensorInfo {
  std::string name;
  int32_t dtype = 0; ///< onnx::TensorProto_DataType
  std::vector<int64_t> shape;
  Storage storage = Storage::Inside;
  std::filesystem::path file; ///< External, Absent: full path
  uint64_t offset = 0;        ///< External, Absent: first byte in `file`
  uint64_t byteSize = 0;      ///< of all elements
  const onnx::TensorProto *proto = nullptr;

  bool isFloat() const;
};

/// Describes an initializer of a model in `folder` and checks that its data fits its shape: byte
/// count, place inside the folder, length of the external file. Throws Error naming tensor and
/// file.
TensorInfo describeTensor(const onnx::TensorProto &tensor, const std::filesystem::path &folder);

/// The elements, little endian and dense, in the tensor's own type. Throws Error naming the tensor
/// and the file if they are absent or cannot be read, or if the type has no elementSize.
Bytes readTensor(const TensorInfo &tensor);

/// The elements of a float tensor (float, double, float16, bfloat16) as float32. Throws Error like
/// readTensor, and for other types.
std::vector<float> readFloats(const TensorInfo &tensor);

/// Whether all elements are the same bits. False for absent data and for fewer than two elements.
bool isUniform(const TensorInfo &tensor);

/// Whether both have equal type, shape and bytes. False if either is absent.
bool equalTensors(const TensorInfo &a, const TensorInfo &b);

/// Whether `b`, a matrix, is the transpose of `a`, bit by bit. False if either is absent.
bool equalTransposed(const TensorInfo &a, const TensorInfo &b);

/// Copies a dense row-major [rows, columns] matrix to [columns, rows].
void transposeBytes(const char *from, char *to, int64_t rows, int64_t columns, size_t elementSize);

} // namespace colrow
