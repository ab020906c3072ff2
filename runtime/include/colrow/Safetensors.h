//===- Safetensors.h - read and write safetensors files --------------------===//
//
// The format (huggingface/safetensors): 8 bytes little-endian length of the header, the header as
// JSON, name -> {dtype, shape, data_offsets relative to the end of the header}, plus an optional
// "__metadata__" of strings; then the tensors' bytes, little-endian, row-major, without holes.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "colrow/Checksum.h"
#include "colrow/File.h"

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace colrow {

/// Element types by their names in the format.
enum class TensorType { BOOL, U8, I8, I16, U16, F16, BF16, I32, U32, F32, F64, I64, U64 };

const char *tensorTypeName(TensorType type);
int64_t tensorTypeBytes(TensorType type);

/// "[2, 3]".
std::string shapeText(const std::vector<int64_t> &shape);

/// One tensor of an open file; valid as long as its SafetensorsFile.
struct TensorEntry {
  std::string name;
  TensorType type = TensorType::F32;
  std::vector<int64_t> shape;
  const uint8_t *data = nullptr; ///< not necessarily aligned for its type
  uint64_t bytes = 0;

  int64_t elements() const;
};

/// A safetensors file mapped into memory. The constructor checks the whole header; errors name
/// the file and what is wrong with it.
class SafetensorsFile {
public:
  explicit SafetensorsFile(const std::string &path);

  const std::string &path() const { return file.path(); }
  /// In the order of their bytes in the file.
  const std::vector<TensorEntry> &tensors() const { return entries; }
  const std::map<std::string, std::string> &metadata() const { return metadataEntries; }

  /// For files that were written with SafetensorsWriter::seal: throws Error if a byte of the file
  /// is not what was written, or if it has no seal.
  void checkSeal() const;

  /// Null if there is no such tensor.
  const TensorEntry *find(const std::string &name) const;
  /// Throws Error naming the file and the tensor if there is none.
  const TensorEntry &get(const std::string &name) const;

  /// The elements as floats or doubles (from F16, BF16, F32, F64), or as integers (from BOOL and
  /// any integer type). Another type is an Error naming file and tensor. `count` elements
  /// starting with element `first`; count -1 means to the end.
  std::vector<float> readFloats(const TensorEntry &entry, int64_t first = 0,
                                int64_t count = -1) const;
  std::vector<double> readDoubles(const TensorEntry &entry, int64_t first = 0,
                                  int64_t count = -1) const;
  std::vector<int64_t> readIntegers(const TensorEntry &entry, int64_t first = 0,
                                    int64_t count = -1) const;

private:
  template <typename T>
  std::vector<T> read(const TensorEntry &entry, int64_t first, int64_t count) const;

  MappedFile file;
  std::vector<TensorEntry> entries;
  std::map<std::string, size_t> byName;
  std::map<std::string, std::string> metadataEntries;
};

/// The tensor of a sealed file that holds its checksum.
constexpr const char *sealName = "colrow.checksum";

/// Writes a file tensor by tensor, so that no more than one must be in memory: declare all, then
/// write their bytes in the same order, then commit. Until commit the path is untouched.
class SafetensorsWriter {
public:
  explicit SafetensorsWriter(std::string path);

  void metadata(const std::string &key, const std::string &value);
  /// A name may be declared only once (Error).
  void declare(const std::string &name, TensorType type, const std::vector<int64_t> &shape);
  /// Comes after the declarations: the file will end in the checksum of all bytes before it, as
  /// the tensor `sealName`.
  void seal();
  /// The bytes of the next declared tensor, `bytes` in all; may be called in pieces.
  void write(const void *data, uint64_t bytes);
  /// Throws std::logic_error if the bytes written are not those declared.
  void commit();

private:
  struct Declared {
    std::string name;
    TensorType type;
    std::vector<int64_t> shape;
    uint64_t bytes;
  };
  void writeHeader();
  void put(const void *data, uint64_t bytes);

  OutputFile file;
  Checksum checksum; ///< of what was put
  std::vector<Declared> tensors;
  std::map<std::string, std::string> metadataEntries;
  uint64_t declaredBytes = 0, writtenBytes = 0;
  bool headerWritten = false, sealed = false;
};

/// A tensor in memory that is to be written.
struct TensorData {
  std::string name;
  TensorType type = TensorType::F32;
  std::vector<int64_t> shape;
  std::vector<uint8_t> bytes;

  static TensorData floats(std::string name, std::vector<int64_t> shape, const float *values);
  static TensorData doubles(std::string name, std::vector<int64_t> shape, const double *values);
  static TensorData integers(std::string name, std::vector<int64_t> shape,
                             const int64_t *values);
};

void writeSafetensors(const std::string &path, const std::vector<TensorData> &tensors,
                      const std::map<std::string, std::string> &metadata = {});

} // namespace colrow
