//===- Checksum.cpp - notices damaged bytes --------------------------------===//

#include "colrow/Checksum.h"
#include "colrow/Philox.h"

#include <algorithm>
#include <cstring>

namespace colrow {

// The round of xxHash64 (github.com/Cyan4973/xxHash). The multiplication on either side of the
// rotation makes the words dense that would undo a change of few bits.
void Checksum::addBlock(const uint8_t *block) {
  for (int i = 0; i < 4; ++i) {
    uint64_t word;
    std::memcpy(&word, block + 8 * i, 8);
    uint64_t sum = lanes[i] + word * 0xC2B2AE3D27D4EB4Fu;
    lanes[i] = (sum << 31 | sum >> 33) * 0x9E3779B185EBCA87u;
  }
}

void Checksum::add(const void *data, size_t bytes) {
  const uint8_t *next = static_cast<const uint8_t *>(data);
  if (size_t filled = length % blockBytes) {
    size_t taken = std::min(bytes, blockBytes - filled);
    std::memcpy(pending + filled, next, taken);
    length += taken;
    next += taken;
    bytes -= taken;
    if (length % blockBytes != 0)
      return;
    addBlock(pending);
  }
  for (; bytes >= blockBytes; bytes -= blockBytes, next += blockBytes, length += blockBytes)
    addBlock(next);
  if (bytes > 0)
    std::memcpy(pending, next, bytes);
  length += bytes;
}

uint64_t Checksum::value() const {
  Checksum end = *this;
  if (size_t filled = length % blockBytes) {
    std::fill(end.pending + filled, end.pending + blockBytes, uint8_t(0));
    end.addBlock(end.pending);
  }
  uint64_t result = length;
  for (uint64_t lane : end.lanes)
    result = mixBits(result ^ lane);
  return result;
}

} // namespace colrow
