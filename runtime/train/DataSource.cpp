//===- DataSource.cpp - token files and the order of their rows ------------===//

#include "DataSource.h"
#include "Format.h"
#include "colrow/Checksum.h"
#include "colrow/Error.h"
#include "colrow/Philox.h"

#include <cstring>
#include <limits>

namespace colrow {
namespace {

constexpr int32_t llmcMagic = 20240520, llmcVersion = 1;
constexpr uint64_t llmcHeaderBytes = 1024;

int64_t tokenBytes(DataFormat format) {
  return format == DataFormat::uint32 ? 4 : format == DataFormat::uint16 ? 2 : 1;
}

int32_t headerField(const MappedFile &file, int index) {
  int32_t value;
  std::memcpy(&value, file.data() + 4 * index, 4);
  return value;
}

bool endsWith(const std::string &text, std::string_view end) {
  return text.size() >= end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
}

} // namespace

TokenFile::TokenFile(const std::string &path, DataFormat wanted, int64_t limit)
    : file(path), format(wanted), first(file.data()) {
  bool header = false;
  if (format == DataFormat::automatic) {
    format = endsWith(path, ".bin") ? DataFormat::uint16 : DataFormat::text;
    header = format == DataFormat::uint16 && file.size() >= llmcHeaderBytes &&
             headerField(file, 0) == llmcMagic;
    // What nobody called text may be weights, a model or an image.
    std::string_view text(reinterpret_cast<const char *>(file.data()), file.size());
    if (size_t zero; format == DataFormat::text && (zero = text.find('\0')) != text.npos)
      throw Error(fmt::format("'{}' is no text: its byte {} is 0; give text, or token ids in a .bin "
                              "file, or say with --data-dtype what it holds",
                              path, zero));
  }
  if (format == DataFormat::text && limit > 0 && limit < 256)
    throw Error(fmt::format("'{}' is text, whose bytes need a vocabulary of 256, but the model's "
                            "has {}; give a .bin file of its own tokens",
                            path, limit));
  uint64_t bytes = file.size() - (header ? llmcHeaderBytes : 0);
  if (header) {
    first += llmcHeaderBytes;
    if (headerField(file, 1) != llmcVersion)
      throw Error(fmt::format("'{}' has an llm.c header of version {}; only version {} is known",
                              path, headerField(file, 1), llmcVersion));
    int64_t claimed = headerField(file, 2);
    if (claimed < 0 || uint64_t(claimed) * 2 != bytes)
      throw Error(fmt::format("'{}' should hold {} tokens by its header, but holds {}", path,
                              claimed, bytes / 2));
  }
  int64_t size = tokenBytes(format);
  if (bytes % uint64_t(size) != 0)
    throw Error(fmt::format("'{}' has {} bytes, which are no {} tokens of {} bytes each", path,
                            bytes, formatName(), size));
  tokens = int64_t(bytes) / size;
  if (tokens == 0)
    throw Error(fmt::format("'{}' holds no tokens", path));
  checkLimit(limit);
}

std::string_view TokenFile::formatName() const {
  return format == DataFormat::text     ? "text"
         : format == DataFormat::uint16 ? "uint16"
                                        : "uint32";
}

uint64_t TokenFile::checksum() const {
  Checksum sum;
  sum.add(first, size_t(tokens * tokenBytes(format)));
  return sum.value();
}

int64_t TokenFile::operator[](int64_t position) const {
  switch (format) {
  case DataFormat::uint16: {
    uint16_t token;
    std::memcpy(&token, first + 2 * position, 2);
    return token;
  }
  case DataFormat::uint32: {
    uint32_t token;
    std::memcpy(&token, first + 4 * position, 4);
    return token;
  }
  default:
    return first[position];
  }
}

// The whole file is looked at before training, so that a bad token does not end a run of hours.
void TokenFile::checkLimit(int64_t limit) const {
  int64_t largest = format == DataFormat::text     ? 255
                    : format == DataFormat::uint16 ? std::numeric_limits<uint16_t>::max()
                                                   : std::numeric_limits<uint32_t>::max();
  if (limit <= 0 || largest < limit)
    return;
  for (int64_t i = 0; i < tokens; ++i)
    if ((*this)[i] >= limit)
      throw Error(fmt::format("'{}': token {} at position {} is not below {}, the model's "
                              "vocabulary; is it {} tokens of this model's tokenizer?",
                              path(), (*this)[i], i, limit, formatName()));
}

int64_t RowOrder::row(int64_t sample) const {
  int64_t epoch = sample / rows;
  uint64_t value = uint64_t(sample % rows);
  int halfBits = 1;
  while ((uint64_t(1) << (2 * halfBits)) < uint64_t(rows))
    ++halfBits;
  uint64_t mask = (uint64_t(1) << halfBits) - 1;
  PhiloxKey key = philoxKey(seed, stableId("order of the data"));
  do {
    uint64_t left = value >> halfBits, right = value & mask;
    for (uint32_t round = 0; round < 6; ++round) {
      uint64_t mixed = philox4x32({uint32_t(right), round, uint32_t(epoch), uint32_t(epoch >> 32)},
                                  key)[0];
      uint64_t next = left ^ (mixed & mask);
      left = right;
      right = next;
    }
    value = left << halfBits | right;
  } while (value >= uint64_t(rows));
  return int64_t(value);
}

} // namespace colrow
