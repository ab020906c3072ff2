//===- MpiRanks.cpp - ranks as processes that talk through MPI -------------===//

#include "Transport.h"

#include <algorithm>
#include <cassert>
#include <cstring>

namespace colrow {
namespace {

/// Up to here each member reduces all by itself, which takes one exchange and not two.
constexpr int64_t smallBytes = 4096;

class MpiCommunicator : public Communicator {
public:
  MpiCommunicator(World &world, Group asked)
      : Communicator(int64_t(asked.members.size()), asked.place, asked.name),
        group(std::move(asked)),
        transport(world.isNear(group.members) ? sharedTransport(world, group)
                                              : messageTransport(world, group)) {}

protected:
  void doAllReduce(void *data, int64_t count, ElementType type, ReduceOp op) override {
    if (size() == 1)
      return;
    collective({Collective::allReduce, type, count, int64_t(op)}, [&] {
      byType(type, [&](auto zero) {
        using T = decltype(zero);
        if (count * int64_t(sizeof(T)) <= smallBytes)
          reduceSmall(static_cast<T *>(data), count, op);
        else
          reduceByParts(static_cast<T *>(data), count, op);
      });
    });
  }

  void doAllGather(const void *send, void *receive, int64_t count, ElementType type) override {
    collective({Collective::allGather, type, count, 0}, [&] {
      size_t bytes = size_t(count) * typeBytes(type), most = transport->chunkBytes();
      for (size_t begin = 0; begin < bytes; begin += most) {
        size_t size = std::min(most, bytes - begin);
        std::memcpy(transport->stage(), static_cast<const char *>(send) + begin, size);
        auto all = [&](int64_t) { return Piece{0, size}; };
        transport->publish(all, all);
        for (int64_t m = 0; m < this->size(); ++m)
          std::memcpy(static_cast<char *>(receive) + size_t(m) * bytes + begin,
                      transport->from(m), size);
      }
    });
  }

  void doReduceScatter(const void *send, void *receive, int64_t count,
                       ElementType type) override {
    collective({Collective::reduceScatter, type, count, 0}, [&] {
      byType(type, [&](auto zero) {
        using T = decltype(zero);
        auto take = [&](int64_t begin, int64_t size) {
          T *into = static_cast<T *>(receive) + begin;
          for (int64_t first = 0; first < size; first += reduceBlock)
            reduceInOrder(
                this->size(), [&](int64_t m) { return staged<T>(m) + index() * size + first; },
                std::min(reduceBlock, size - first), ReduceOp::sum, into + first);
        };
        deal<T>(static_cast<const T *>(send), count, take);
      });
    });
  }

  void doAllToAll(const void *send, void *receive, int64_t count, ElementType type) override {
    collective({Collective::allToAll, type, count, 0}, [&] {
      byType(type, [&](auto zero) {
        using T = decltype(zero);
        auto take = [&](int64_t begin, int64_t size) {
          for (int64_t m = 0; m < this->size(); ++m)
            std::memcpy(static_cast<T *>(receive) + m * count + begin,
                        staged<T>(m) + index() * size, size_t(size) * sizeof(T));
        };
        deal<T>(static_cast<const T *>(send), count, take);
      });
    });
  }

  void doBroadcast(void *data, int64_t count, ElementType type, int64_t root) override {
    assert(root >= 0 && root < size() && "no such member");
    collective({Collective::broadcast, type, count, root}, [&] {
      size_t bytes = size_t(count) * typeBytes(type), most = transport->chunkBytes();
      for (size_t begin = 0; begin < bytes; begin += most) {
        size_t size = std::min(most, bytes - begin);
        char *mine = transport->stage(), *here = static_cast<char *>(data) + begin;
        if (index() == root)
          std::memcpy(mine, here, size);
        transport->publish([&](int64_t) { return Piece{0, index() == root ? size : 0}; },
                           [&](int64_t m) { return Piece{0, m == root ? size : 0}; });
        if (index() != root)
          std::memcpy(here, transport->from(root), size);
      }
    });
  }

  void doBarrier() override { collective({}, [] {}); }

private:
  template <typename Work> void collective(const Call &call, Work work) {
    transport->begin(call);
    work();
    transport->end();
  }

  template <typename T> const T *staged(int64_t member) const {
    return reinterpret_cast<const T *>(transport->from(member));
  }

  template <typename T> void reduceSmall(T *data, int64_t count, ReduceOp op) {
    size_t bytes = size_t(count) * sizeof(T);
    if (count == 0)
      return;
    std::memcpy(transport->stage(), data, bytes);
    auto all = [&](int64_t) { return Piece{0, bytes}; };
    transport->publish(all, all);
    reduceInOrder(size(), [&](int64_t m) { return staged<T>(m); }, count, op, data);
  }

  /// Each member reduces its part of a chunk into its own buffer, and all take it from there.
  template <typename T> void reduceByParts(T *data, int64_t count, ReduceOp op) {
    int64_t most = int64_t(transport->chunkBytes() / sizeof(T));
    for (int64_t begin = 0; begin < count; begin += most) {
      int64_t chunk = std::min(most, count - begin);
      char *mine = transport->stage();
      std::memcpy(mine, data + begin, size_t(chunk) * sizeof(T));
      auto piece = [&](int64_t m) {
        auto [first, end] = partOf<T>(m, size(), chunk);
        return Piece{size_t(first) * sizeof(T), size_t(end - first) * sizeof(T)};
      };
      auto own = [&](int64_t) { return piece(index()); };
      transport->publish(piece, own);
      auto [first, end] = partOf<T>(index(), size(), chunk);
      T block[reduceBlock]; // the part is an operand as well
      for (int64_t at = first; at < end; at += reduceBlock) {
        int64_t size = std::min(reduceBlock, end - at);
        reduceInOrder(
            this->size(), [&](int64_t m) { return staged<T>(m) + at; }, size, op, block);
        std::memcpy(mine + size_t(at) * sizeof(T), block, size_t(size) * sizeof(T));
      }
      transport->publish(own, piece);
      for (int64_t m = 0; m < size(); ++m)
        std::memcpy(reinterpret_cast<char *>(data + begin) + piece(m).offset,
                    transport->from(m) + piece(m).offset, piece(m).bytes);
    }
  }

  /// Gives each member m its send[m * count ...], by chunks that lie one behind the other in the
  /// buffer. take(begin, size) reads what has come: staged(m) + index() * size.
  template <typename T, typename Take> void deal(const T *send, int64_t count, Take take) {
    int64_t most = int64_t(transport->chunkBytes() / sizeof(T)) / size();
    for (int64_t begin = 0; begin < count; begin += most) {
      int64_t size = std::min(most, count - begin);
      T *mine = reinterpret_cast<T *>(transport->stage());
      for (int64_t m = 0; m < this->size(); ++m)
        std::memcpy(mine + m * size, send + m * count + begin, size_t(size) * sizeof(T));
      auto piece = [&](int64_t m) {
        return Piece{size_t(m * size) * sizeof(T), size_t(size) * sizeof(T)};
      };
      transport->publish(piece, [&](int64_t) { return piece(index()); });
      take(begin, size);
    }
  }

  Group group;
  std::unique_ptr<Transport> transport;
};

class MpiRank : public Rank {
public:
  MpiRank(World &world, const std::vector<GridAxis> &grid, int threads)
      : Rank(grid, world.rank(), threads), world(world) {}

protected:
  std::unique_ptr<Communicator> connect(const std::vector<int64_t> &members, int64_t place,
                                        const std::string &name) override {
    return std::make_unique<MpiCommunicator>(
        world, Group{members, place, name, world.slotOf(members)});
  }

private:
  World &world;
};

class MpiRunner : public RankRunner {
public:
  MpiRunner(const std::vector<GridAxis> &grid, const MpiRankOptions &options)
      : grid(grid), threads(options.threadsPerRank), world(grid, options) {}

  bool hasFirst() const override { return world.rank() == 0; }
  void run(const std::function<void(Rank &)> &function,
           const std::function<std::string()> &advice) override {
    world.run(
        [&] {
          MpiRank rank(world, grid, threads);
          function(rank);
        },
        advice);
  }
  bool reports() override { return world.reports(); }

private:
  std::vector<GridAxis> grid;
  int threads;
  World world;
};

} // namespace

std::unique_ptr<RankRunner> mpiRunner(const std::vector<GridAxis> &grid,
                                      const MpiRankOptions &options) {
  return std::make_unique<MpiRunner>(grid, options);
}

} // namespace colrow
