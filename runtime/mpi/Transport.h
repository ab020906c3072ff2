//===- Transport.h - how members see each other's staging buffers ----------===//
//
// A collective goes by chunks: each member stages what others need of it, publishes, and reads what
// they have staged. In shared memory publishing is a barrier, elsewhere it is messages.
//
//   begin(call)               compares what the members call
//   char *mine = stage()      a buffer for the next chunk
//   publish(sent, received)   the parts of it that each member reads, and that I read of theirs
//   from(m)                   where member m's buffer is, as far as it was published to me
//   end()
//
//===----------------------------------------------------------------------===//
#pragma once

#include "World.h"

#include <functional>
#include <memory>

namespace colrow {

/// Bytes of a staging buffer.
struct Piece {
  size_t offset = 0, bytes = 0;
};
using PieceOf = std::function<Piece(int64_t member)>;

class Transport {
public:
  virtual ~Transport() = default;
  virtual void begin(const Call &call) = 0;
  virtual size_t chunkBytes() const = 0;
  virtual char *stage() = 0;
  virtual void publish(const PieceOf &sent, const PieceOf &received) = 0;
  virtual const char *from(int64_t member) const = 0;
  virtual void end() = 0;
};

/// For members on one machine.
std::unique_ptr<Transport> sharedTransport(World &world, const Group &group);
/// For any.
std::unique_ptr<Transport> messageTransport(World &world, const Group &group);

} // namespace colrow
