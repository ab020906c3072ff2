//===- Slices.cpp - local indices and global ones -------------------------===//
#include "colrow/KernelsSlices.h"

#include <algorithm>

namespace colrow {

IndexMap::IndexMap(int64_t size) : local(size), whole(size) { pieces.push_back({0, 0, size}); }

IndexMap::IndexMap(const LocalDim &dim) : local(dim.localSize()), whole(dim.globalSize()) {
  for (int64_t i = 0; i < local; ++i) {
    int64_t global = dim.globalIndex(i);
    if (!pieces.empty() && pieces.back().global + pieces.back().length == global)
      ++pieces.back().length;
    else
      pieces.push_back({i, global, 1});
  }
  if (pieces.empty())
    pieces.push_back({0, 0, 0});
}

const IndexMap::Run &IndexMap::runOfLocal(int64_t localIndex) const {
  auto after = std::upper_bound(pieces.begin(), pieces.end(), localIndex,
                                [](int64_t index, const Run &run) { return index < run.local; });
  return *(after - 1);
}

int64_t IndexMap::localIndex(int64_t globalIndex) const {
  auto after = std::upper_bound(pieces.begin(), pieces.end(), globalIndex,
                                [](int64_t index, const Run &run) { return index < run.global; });
  if (after == pieces.begin())
    return -1;
  const Run &run = *(after - 1);
  int64_t within = globalIndex - run.global;
  return within < run.length ? run.local + within : -1;
}

int64_t IndexMap::countBelow(int64_t limit) const {
  int64_t count = 0;
  for (const Run &run : pieces)
    count += std::clamp(limit - run.global, int64_t(0), run.length);
  return count;
}

Slices Slices::whole(const Shape &shape) {
  Slices slices;
  for (int64_t size : shape)
    slices.dims.emplace_back(size);
  return slices;
}

Shape Slices::localShape() const {
  Shape shape;
  for (const IndexMap &dim : dims)
    shape.append(dim.localSize());
  return shape;
}

Shape Slices::globalShape() const {
  Shape shape;
  for (const IndexMap &dim : dims)
    shape.append(dim.globalSize());
  return shape;
}

} // namespace colrow
