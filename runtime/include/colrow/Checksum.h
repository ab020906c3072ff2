//===- Checksum.h - notices damaged bytes ----------------------------------===//
#pragma once

#include <cstddef>
#include <cstdint>

namespace colrow {

/// A 64-bit checksum of a sequence of bytes, at the speed of memory; no defence against forgery.
/// A change within one aligned word of 8 bytes always changes it: words go in turn into four
/// lanes, each step is a bijection of lane and of word, and so is the mix at the end.
class Checksum {
public:
  /// The next bytes; how they are split over calls does not matter.
  void add(const void *data, size_t bytes);
  uint64_t value() const;

private:
  static constexpr size_t blockBytes = 32;
  void addBlock(const uint8_t *block);

  uint64_t lanes[4] = {1, 2, 3, 4};
  uint8_t pending[blockBytes] = {}; ///< the bytes that do not fill a block yet
  uint64_t length = 0;
};

} // namespace colrow
