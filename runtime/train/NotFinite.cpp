//===- NotFinite.cpp - where numbers stopped being finite ------------------===//

#include "NotFinite.h"
#include "Format.h"
#include "Slices.h"

#include <cmath>
#include <limits>

namespace colrow {
namespace {

/// By what a tensor is called for: of several, the one that explains more.
enum Content : int64_t { finite, infinite, nan };

Content contentOf(const float *data, int64_t count, bool mayBeInfinite = false) {
  Content found = finite;
  for (int64_t i = 0; i < count; ++i) {
    if (std::isnan(data[i]))
      return nan;
    if (std::isinf(data[i]) && !mayBeInfinite)
      found = infinite;
  }
  return found;
}

/// A tensor by its place in an order that all ranks follow.
struct Finding {
  int64_t place = std::numeric_limits<int64_t>::max();
  int64_t number = 0;
  Content content = finite;
};

/// The earliest of all ranks' findings; nothing where all is finite.
std::optional<Finding> earliest(Finding own, Rank &rank) {
  int64_t place = -own.place;
  rank.world().allReduce(&place, 1, ReduceOp::max);
  if (-place == Finding().place)
    return std::nullopt;
  bool mine = own.place == -place;
  // Ranks that found it at this place agree on the number; the others do not know it.
  int64_t rest[] = {mine ? own.number : -1, mine ? own.content : finite};
  rank.world().allReduce(rest, 2, ReduceOp::max);
  return Finding{-place, rest[0], Content(rest[1])};
}

const char *nameOf(Content content) { return content == nan ? "nan" : "infinity"; }

class FirstValue : public ValueObserver {
public:
  explicit FirstValue(const ProgramInfo &info) : info(info) {}

  void see(size_t value, const float *data, int64_t count) override {
    ++seen;
    if (finding.content != finite)
      return;
    Content content = contentOf(data, count, info.values[value].mayBeInfinite);
    if (content != finite)
      finding = {seen, int64_t(value), content};
  }

  const ProgramInfo &info;
  int64_t seen = 0;
  Finding finding;
};

/// The first of the parameters, in this order, whose tensor is not finite on any rank.
template <typename TensorOf>
std::optional<Finding> firstOf(const std::vector<size_t> &order, const ProgramInfo &info,
                               Rank &rank, TensorOf tensorOf) {
  Finding own;
  for (size_t i = 0; i < order.size() && own.content == finite; ++i) {
    Content content =
        contentOf(tensorOf(order[i]), sliceElements(info.parameters[order[i]]));
    if (content != finite)
      own = {int64_t(i), int64_t(order[i]), content};
  }
  return earliest(own, rank);
}

} // namespace

std::optional<std::string> describeFirstNotFinite(const ProgramInfo &info, Rank &rank,
                                                  Program &program,
                                                  const std::function<void()> &repeat) {
  std::vector<size_t> all(info.parameters.size());
  for (size_t i = 0; i < all.size(); ++i)
    all[i] = i;
  if (auto found = firstOf(all, info, rank, [&](size_t p) { return program.parameter(p); }))
    return fmt::format("the parameter '{}' holds {}", info.parameters[size_t(found->number)].name,
                       nameOf(found->content));
  FirstValue first(info);
  program.observe(&first);
  repeat();
  program.observe(nullptr);
  std::optional<Finding> found = earliest(first.finding, rank);
  if (!found)
    return std::nullopt;
  const ValueInfo &value = info.values[size_t(found->number)];
  return fmt::format("the first tensor that is not finite is '{}'{}, which holds {}", value.name,
                     value.node.empty() ? "" : " (output of node '" + value.node + "')",
                     nameOf(found->content));
}

std::optional<std::string> describeGradientNotFinite(const ProgramInfo &info, Rank &rank,
                                                     Program &program) {
  auto found = firstOf(info.gradientOrder, info, rank,
                       [&](size_t p) { return program.gradient(p); });
  if (!found)
    return std::nullopt;
  return fmt::format("the first gradient that is not finite is that of '{}', which holds {}",
                     info.parameters[size_t(found->number)].name, nameOf(found->content));
}

} // namespace colrow
