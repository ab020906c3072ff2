//===- Rank.h - a rank's place on the grid, and its collectives ------------===//
//
// A rank is an object; nothing here is global. How ranks talk (threads of one process, see
// ThreadRanks.h; processes, see MpiRanks.h) is behind two abstract classes:
//
//   Rank          where this rank is on the grid, and the communicators it belongs to
//   Communicator  the ranks that differ from this one only along some axes, and what they do
//                 together
//
//   Communicator &tp = rank.over({"tp"});
//   tp.allReduce(y, tokens * hidden);
//
// Rules for callers: all members call the same collectives in the same order with the same
// counts. Rules for back ends: sums are taken in the order of the members, so that every member
// gets the same bits, and the same bits in every run; a member that fails makes the others leave
// their collectives with a CollectiveAborted.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "colrow/Error.h"
#include "colrow/Profile.h"
#include "colrow/Program.h"

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace colrow {

/// Thrown out of a collective because another rank failed. What that rank threw is the error to
/// report; this one only unwinds.
class CollectiveAborted : public Error {
public:
  using Error::Error;
};

enum class ReduceOp { sum, max };
enum class ElementType { f32, f64, i64 };

inline ElementType elementType(const float *) { return ElementType::f32; }
inline ElementType elementType(const double *) { return ElementType::f64; }
inline ElementType elementType(const int64_t *) { return ElementType::i64; }

/// Collectives over one group of ranks. T is float, double or int64_t. Counts are elements.
/// `send` and `receive` must not overlap. Each call blocks until the caller's buffers are ready
/// to be used again.
class Communicator {
public:
  virtual ~Communicator() = default;

  /// Number of members, and this rank's place among them: row-major over the axes in the order
  /// in which they were given to Rank::over.
  int64_t size() const { return members; }
  int64_t index() const { return place; }
  /// The axes, as in "tp" or "dp, tp".
  const std::string &name() const { return axes; }

  /// In place: every member gets the sum (or maximum) over all members. Transpose: itself.
  /// NaN wins a maximum.
  template <typename T> void allReduce(T *data, int64_t count, ReduceOp op = ReduceOp::sum) {
    ProfileScope scope("allReduce");
    scope.addBytes(2.0 * double(count) * sizeof(T));
    doAllReduce(data, count, elementType(data), op);
  }
  /// receive[m * count + i] = send[i] of member m. Transpose: reduceScatter.
  template <typename T> void allGather(const T *send, T *receive, int64_t count) {
    ProfileScope scope("allGather");
    scope.addBytes(double(1 + members) * double(count) * sizeof(T));
    doAllGather(send, receive, count, elementType(send));
  }
  /// receive[i] = sum over members of their send[index() * count + i]. Transpose: allGather.
  template <typename T> void reduceScatter(const T *send, T *receive, int64_t count) {
    ProfileScope scope("reduceScatter");
    scope.addBytes(double(1 + members) * double(count) * sizeof(T));
    doReduceScatter(send, receive, count, elementType(send));
  }
  /// receive[m * count + i] = send[index() * count + i] of member m. Transpose: itself.
  template <typename T> void allToAll(const T *send, T *receive, int64_t count) {
    ProfileScope scope("allToAll");
    scope.addBytes(double(2 * members) * double(count) * sizeof(T));
    doAllToAll(send, receive, count, elementType(send));
  }
  /// Every member gets the data of member `root`.
  template <typename T> void broadcast(T *data, int64_t count, int64_t root = 0) {
    ProfileScope scope("broadcast");
    scope.addBytes(double(count) * sizeof(T));
    doBroadcast(data, count, elementType(data), root);
  }
  /// Returns when all members have come.
  void barrier() {
    ProfileScope scope("barrier");
    doBarrier();
  }

protected:
  Communicator(int64_t members, int64_t place, std::string axes)
      : members(members), place(place), axes(std::move(axes)) {}

  virtual void doAllReduce(void *data, int64_t count, ElementType type, ReduceOp op) = 0;
  virtual void doAllGather(const void *send, void *receive, int64_t count, ElementType type) = 0;
  virtual void doReduceScatter(const void *send, void *receive, int64_t count,
                               ElementType type) = 0;
  virtual void doAllToAll(const void *send, void *receive, int64_t count, ElementType type) = 0;
  virtual void doBroadcast(void *data, int64_t count, ElementType type, int64_t root) = 0;
  virtual void doBarrier() = 0;

private:
  int64_t members, place;
  std::string axes;
};

/// One rank of a grid. Ranks are numbered row-major over the axes. A Rank belongs to the thread
/// that runs it.
class Rank {
public:
  virtual ~Rank() = default;
  Rank(const Rank &) = delete;
  Rank &operator=(const Rank &) = delete;

  const std::vector<GridAxis> &grid() const { return axes; }
  int64_t size() const { return ranks; }
  int64_t index() const { return number; }
  /// Cores this rank may use: the number of threads for its matrix products.
  int threads() const { return threadCount; }

  /// Size of an axis, and this rank's coordinate on it. An axis the grid lacks has size 1.
  int64_t axisSize(const std::string &axis) const;
  int64_t coordinate(const std::string &axis) const;
  /// This rank's coordinates on the axes that cut a dimension: what DimSlice::globalIndex takes.
  std::vector<int64_t> coordinates(const DimSlice &dim) const;

  /// The ranks that differ from this one only along `axes` (this one included). The same list
  /// gives the same object; no axes, or axes of size 1, give this rank alone. Cheap after the
  /// first call and local: it does not wait for other ranks.
  Communicator &over(const std::vector<std::string> &axes);
  /// All ranks, numbered as in index().
  Communicator &world();

protected:
  Rank(std::vector<GridAxis> grid, int64_t index, int threads);

  /// Makes the communicator over `axes`. `members` are the numbers of its ranks in order, `place`
  /// is this rank's position there, `name` is for messages.
  virtual std::unique_ptr<Communicator> connect(const std::vector<int64_t> &members,
                                                int64_t place, const std::string &name) = 0;

private:
  std::vector<GridAxis> axes;
  int64_t ranks = 1, number;
  int threadCount;
  std::map<std::vector<std::string>, std::unique_ptr<Communicator>> communicators;
};

/// Number of ranks of a grid.
int64_t gridSize(const std::vector<GridAxis> &grid);

} // namespace colrow
