//===- Rank.cpp - a rank's place on the grid -------------------------------===//

#include "colrow/Rank.h"

namespace colrow {

int64_t gridSize(const std::vector<GridAxis> &grid) {
  int64_t size = 1;
  for (const GridAxis &axis : grid)
    size *= axis.size;
  return size;
}

Rank::Rank(std::vector<GridAxis> grid, int64_t index, int threads)
    : axes(std::move(grid)), ranks(gridSize(axes)), number(index), threadCount(threads) {}

int64_t Rank::axisSize(const std::string &name) const {
  for (const GridAxis &axis : axes)
    if (axis.name == name)
      return axis.size;
  return 1;
}

int64_t Rank::coordinate(const std::string &name) const {
  int64_t stride = 1;
  for (size_t i = axes.size(); i-- > 0; stride *= axes[i].size)
    if (axes[i].name == name)
      return number / stride % axes[i].size;
  return 0;
}

std::vector<int64_t> Rank::coordinates(const DimSlice &dim) const {
  std::vector<int64_t> result;
  for (const Cut &cut : dim.cuts)
    result.push_back(coordinate(cut.axis));
  return result;
}

Communicator &Rank::over(const std::vector<std::string> &names) {
  std::unique_ptr<Communicator> &communicator = communicators[names];
  if (communicator)
    return *communicator;
  // Member numbers: this rank's own with the coordinates on `names` counted through, the last
  // name fastest.
  std::string title;
  std::vector<int64_t> members = {number};
  int64_t place = 0;
  for (const std::string &name : names) {
    title += (title.empty() ? "" : ", ") + name;
    int64_t stride = 1, size = 1;
    for (size_t i = axes.size(); i-- > 0; stride *= axes[i].size)
      if (axes[i].name == name) {
        size = axes[i].size;
        break;
      }
    std::vector<int64_t> next;
    for (int64_t member : members)
      for (int64_t c = 0; c < size; ++c)
        next.push_back(member + (c - coordinate(name)) * stride);
    members = std::move(next);
    place = place * size + coordinate(name);
  }
  communicator = connect(members, place, title.empty() ? "no axes" : title);
  return *communicator;
}

Communicator &Rank::world() {
  std::vector<std::string> names;
  for (const GridAxis &axis : axes)
    names.push_back(axis.name);
  return over(names);
}

} // namespace colrow
