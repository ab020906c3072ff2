//===- DataSource.h - token files and the order of rows --------------------===//
#pragma once

#include "colrow/File.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace colrow {

/// What a data file holds. `automatic`: a name ending in ".bin" holds tokens, with the header of llm.c or
/// else raw uint16; one ending in ".safetensors" holds tensors; any other file is text, each byte a
/// token.
enum class DataFormat { automatic, text, uint16, uint32, safetensors };

/// A file of tokens, mapped into memory. May be read by several threads.
///
/// llm.c's header: 256 int32, of which the first three are the magic 20240520, the version 1 and
/// the number of tokens; uint16 tokens follow.
class TokenFile {
public:
  /// Checks the file's form and that all its tokens are below `limit` (0: no limit).
  TokenFile(const std::string &path, DataFormat format, int64_t limit);

  const std::string &path() const { return file.path(); }
  /// "text", "uint16" or "uint32".
  std::string_view formatName() const;
  int64_t size() const { return tokens; }
  int64_t operator[](int64_t position) const;
  /// Of all tokens.
  uint64_t checksum() const;

private:
  void checkLimit(int64_t limit) const;

  MappedFile file;
  DataFormat format;
  const uint8_t *first = nullptr; ///< the first token's bytes
  int64_t tokens = 0;
};

/// Which row of the data is sample number `sample` of the run. Every epoch visits each row once, in
/// an order of its own that depends on (seed, epoch) only: the row of a sample is a function of
/// seed and sample number, whatever grid, microbatch or accumulation the run has.
///
/// The permutation is a Feistel network over the smallest even number of bits that counts the
/// rows, with Philox as round function; values beyond the last row are encrypted again until they
/// fall inside (Black and Rogaway, "Ciphers with arbitrary finite domains", 2002). So it needs no
/// memory, and a run can begin at any step.
class RowOrder {
public:
  RowOrder(int64_t rows, uint64_t seed) : rows(rows), seed(seed) {}

  int64_t row(int64_t sample) const;

private:
  int64_t rows;
  uint64_t seed;
};

} // namespace colrow
