//===- SharedTransport.cpp - staging in a window of shared memory ----------===//
//
// A staging buffer has two halves that chunks take in turn: who has passed the barrier of a chunk
// knows that all have read the chunk before, so one barrier a chunk is enough. That all have read
// the last chunk is waited for when the next collective begins.
//
//===----------------------------------------------------------------------===//

#include "Transport.h"

#include <cstring>

namespace colrow {
namespace {

class SharedTransport : public Transport {
public:
  SharedTransport(World &world, const Group &group) : world(world), group(group) {}

  void begin(const Call &call) override {
    world.awaitPending();
    world.requireRunning(group, call);
    Slot &slot = slotOf(group.place);
    slot.call = call;
    std::strncpy(slot.name, group.name.c_str(), sizeof(slot.name) - 1);
    chunk = 0;
    compared = false;
  }

  size_t chunkBytes() const override { return world.stagingBytes() / 2; }

  char *stage() override {
    ++chunk;
    return stagingOf(group.place);
  }

  void publish(const PieceOf &, const PieceOf &) override {
    world.arrive(group);
    world.awaitMembers(group);
    if (!compared)
      compare();
    compared = true;
  }

  const char *from(int64_t member) const override { return stagingOf(member); }

  void end() override {
    if (!compared)
      publish({}, {});
    world.arrive(group);
    world.awaitMembersLater(group);
  }

private:
  const PartView &partOf(int64_t member) const {
    return world.part(group.members[size_t(member)]);
  }
  Slot &slotOf(int64_t member) const { return partOf(member).slots[group.slot]; }
  char *stagingOf(int64_t member) const {
    return partOf(member).staging + (chunk % 2) * chunkBytes();
  }

  void compare() {
    Slot &first = slotOf(0);
    for (int64_t m = 1; m < int64_t(group.members.size()); ++m) {
      Slot &other = slotOf(m);
      if (!other.call.agrees(first.call) || std::strcmp(other.name, first.name) != 0)
        throw Error(disagreement(group.name, group.members[0], first.call.text(),
                                 group.members[size_t(m)], other.call.text()));
    }
  }

  World &world;
  const Group &group;
  size_t chunk = 0;
  bool compared = false;
};

} // namespace

std::unique_ptr<Transport> sharedTransport(World &world, const Group &group) {
  return std::make_unique<SharedTransport>(world, group);
}

} // namespace colrow
