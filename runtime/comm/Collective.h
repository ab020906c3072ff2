//===- Collective.h - what all back ends of collectives have in common -----===//
//
// How a call is described and compared, and the one loop that reduces: in the order of the members,
// so that threads and processes come to the same bits.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "colrow/Rank.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

namespace colrow {

enum class Collective : int32_t {
  barrier, allReduce, allGather, reduceScatter, allToAll, broadcast
};

/// What a member asks for. Plain data: processes read each other's in shared memory.
struct Call {
  Collective what = Collective::barrier;
  ElementType type = ElementType::f32;
  int64_t count = 0;
  int64_t detail = 0; ///< reduction or root

  bool agrees(const Call &other) const {
    return what == other.what && type == other.type && count == other.count &&
           detail == other.detail;
  }

  /// "allReduce of 8 f32".
  std::string text() const {
    static constexpr const char *names[] = {"barrier",       "allReduce", "allGather",
                                            "reduceScatter", "allToAll",  "broadcast"};
    static constexpr const char *types[] = {"f32", "f64", "i64"};
    std::string name = names[int(what)];
    return what == Collective::barrier
               ? name
               : name + " of " + std::to_string(count) + " " + types[int(type)];
  }
};

inline size_t typeBytes(ElementType type) { return type == ElementType::f32 ? 4 : 8; }

inline std::string secondsText(double seconds) {
  char text[32];
  std::snprintf(text, sizeof(text), "%g", seconds);
  return text;
}

/// "ranks over tp disagree: rank 0 calls allReduce of 8 f32, rank 1 calls barrier".
inline std::string disagreement(const std::string &group, int64_t one, const std::string &oneCall,
                                int64_t other, const std::string &otherCall) {
  return "ranks over " + group + " disagree: rank " + std::to_string(one) + " calls " + oneCall +
         ", rank " + std::to_string(other) + " calls " + otherCall;
}

/// "rank 0 waits in allReduce of 8 f32 over tp for ranks 1, 2".
inline std::string waitText(int64_t rank, const Call &call, const std::string &group,
                            const std::vector<int64_t> &missing) {
  std::string text = "rank " + std::to_string(rank) + " waits in " + call.text() + " over " +
                     group + " for rank" + (missing.size() == 1 ? "" : "s");
  for (size_t i = 0; i < missing.size(); ++i)
    text += (i ? ", " : " ") + std::to_string(missing[i]);
  return text;
}

inline std::string abortText(int64_t rank, const Call &call, const std::string &group) {
  return "rank " + std::to_string(rank) + " left " + call.text() + " over " + group +
         " because another rank failed";
}

/// Elements that are reduced at a time: small enough to stay in the first cache.
constexpr int64_t reduceBlock = 2048;

/// into[i] = the reduction of from(m)[i] over all members m in order. `into` may be from(0) only.
template <typename T, typename From>
void reduceInOrder(int64_t members, From from, int64_t count, ReduceOp op, T *into) {
  if (count == 0)
    return; // pointers may be null then
  std::memmove(into, from(0), size_t(count) * sizeof(T));
  for (int64_t m = 1; m < members; ++m) {
    const T *next = from(m);
    if (op == ReduceOp::sum) {
      for (int64_t i = 0; i < count; ++i)
        into[i] += next[i];
    } else {
      for (int64_t i = 0; i < count; ++i)
        into[i] = next[i] > into[i] || next[i] != next[i] ? next[i] : into[i];
    }
  }
}

/// Calls function(T()) for the type.
template <typename Function> void byType(ElementType type, Function function) {
  switch (type) {
  case ElementType::f32: return function(float());
  case ElementType::f64: return function(double());
  case ElementType::i64: return function(int64_t());
  }
}

/// The part of `count` elements that member `place` reduces. Parts are whole cache lines, so that no
/// line is written by two members.
template <typename T> std::pair<int64_t, int64_t> partOf(int64_t place, int64_t members,
                                                         int64_t count) {
  constexpr int64_t line = 64 / sizeof(T);
  int64_t part = (count + members * line - 1) / (members * line) * line;
  return {std::min(count, part * place), std::min(count, part * (place + 1))};
}

} // namespace colrow
