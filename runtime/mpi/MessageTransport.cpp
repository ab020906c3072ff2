//===- MessageTransport.cpp - staging by messages --------------------------===//
//
// Each member has a copy of the others' buffers, as far as it reads them. What is sent and received
// lies in memory that is kept to the end, so that a message that comes after its collective was
// given up does no harm.
//
//===----------------------------------------------------------------------===//

#include "Transport.h"

#include <algorithm>
#include <cstring>

namespace colrow {
namespace {

/// What members compare.
struct Header {
  Call call;
  char name[64] = {};
};

class MessageTransport : public Transport {
public:
  MessageTransport(World &world, const Group &group)
      : world(world), group(group), members(group.members.size()),
        headers(world.keepBuffer(members * sizeof(Header))),
        copies(world.keepBuffer(members * world.stagingBytes())) {}

  void begin(const Call &wanted) override {
    call = wanted;
    world.requireRunning(group, call);
    Header header;
    header.call = call;
    std::strncpy(header.name, group.name.c_str(), sizeof(header.name) - 1);
    std::memcpy(headers + size_t(group.place) * sizeof(Header), &header, sizeof(header));
    Piece mine = {size_t(group.place) * sizeof(Header), sizeof(Header)};
    exchange(
        0, headers, [&](int64_t) { return mine; },
        [&](int64_t m) { return headers + size_t(m) * sizeof(Header); },
        [](int64_t) { return sizeof(Header); });
    Header first = headerOf(0);
    for (size_t m = 1; m < members; ++m) {
      Header other = headerOf(m);
      if (!other.call.agrees(first.call) || std::strcmp(other.name, first.name) != 0)
        throw Error(disagreement(group.name, group.members[0], first.call.text(),
                                 group.members[m], other.call.text()));
    }
  }

  size_t chunkBytes() const override { return world.stagingBytes(); }
  char *stage() override { return copyOf(group.place); }

  void publish(const PieceOf &sent, const PieceOf &received) override {
    exchange(
        1, copyOf(group.place), sent,
        [&](int64_t m) { return copyOf(m) + received(m).offset; },
        [&](int64_t m) { return received(m).bytes; });
  }

  const char *from(int64_t member) const override { return copyOf(member); }
  void end() override {}

private:
  char *copyOf(int64_t member) const {
    return copies + size_t(member) * world.stagingBytes();
  }
  Header headerOf(size_t member) const {
    Header header;
    std::memcpy(&header, headers + member * sizeof(Header), sizeof(header));
    return header;
  }

  template <typename To, typename Bytes>
  void exchange(int kind, const char *from, const PieceOf &sent, To to, Bytes bytes) {
    int tag = int(group.slot) * 2 + kind;
    std::vector<MPI_Request> receives(members, MPI_REQUEST_NULL), sends;
    for (int64_t m = 0; m < int64_t(members); ++m)
      if (m != group.place && bytes(m) > 0)
        MPI_Irecv(to(m), int(bytes(m)), MPI_BYTE, int(group.members[size_t(m)]), tag,
                  world.messages(), &receives[size_t(m)]);
    for (int64_t m = 0; m < int64_t(members); ++m)
      if (Piece piece = sent(m); m != group.place && piece.bytes > 0) {
        sends.emplace_back();
        MPI_Isend(from + piece.offset, int(piece.bytes), MPI_BYTE, int(group.members[size_t(m)]),
                  tag, world.messages(), &sends.back());
      }
    world.awaitMessages(group, call, receives, sends);
  }

  World &world;
  const Group &group;
  size_t members;
  char *headers, *copies;
  Call call;
};

} // namespace

std::unique_ptr<Transport> messageTransport(World &world, const Group &group) {
  return std::make_unique<MessageTransport>(world, group);
}

} // namespace colrow
