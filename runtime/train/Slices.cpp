//===- Slices.cpp - whole parameters to ranks' slices and back -------------===//

#include "Slices.h"

#include <algorithm>

namespace colrow {

int64_t elementCount(const std::vector<int64_t> &shape) {
  int64_t count = 1;
  for (int64_t size : shape)
    count *= size;
  return count;
}

int64_t sliceElements(const ParameterInfo &info) {
  int64_t count = 1;
  for (const DimSlice &dim : info.dims)
    count *= dim.localSize();
  return count;
}

void forEachRun(const ParameterInfo &info, const LocalShape &shape,
                const std::function<void(int64_t, int64_t, int64_t)> &visit) {
  size_t rank = shape.rank();
  if (rank == 0) {
    visit(0, 0, 1);
    return;
  }
  // Runs along the last dimension: the same for every row.
  struct Run {
    int64_t local, global, count;
  };
  std::vector<Run> runs;
  const LocalDim &last = shape.dims.back();
  for (int64_t i = 0; i < last.localSize(); ++i) {
    int64_t global = last.globalIndex(i);
    if (global >= info.valid.back())
      continue;
    if (!runs.empty() && runs.back().local + runs.back().count == i &&
        runs.back().global + runs.back().count == global)
      ++runs.back().count;
    else
      runs.push_back({i, global, 1});
  }
  std::vector<int64_t> sizes = shape.localSizes(), index(rank - 1, 0);
  int64_t rows = 1;
  for (size_t d = 0; d + 1 < rank; ++d)
    rows *= sizes[d];
  for (int64_t row = 0; row < rows; ++row) {
    int64_t wholeRow = 0;
    bool valid = true;
    for (size_t d = 0; d + 1 < rank && valid; ++d) {
      int64_t global = shape.dims[d].globalIndex(index[d]);
      valid = global < info.valid[d];
      wholeRow = wholeRow * info.valid[d] + global;
    }
    if (valid)
      for (const Run &run : runs)
        visit(row * sizes.back() + run.local, wholeRow * info.valid.back() + run.global,
              run.count);
    for (size_t d = rank - 1; d-- > 0;) {
      if (++index[d] < sizes[d])
        break;
      index[d] = 0;
    }
  }
}

void scatter(const ParameterInfo &info, const Rank &rank, const float *whole, float *slice) {
  LocalShape shape = LocalShape::of(info.dims, rank.grid(), rank.index());
  std::fill(slice, slice + sliceElements(info), 0.0f);
  forEachRun(info, shape, [&](int64_t local, int64_t valid, int64_t count) {
    std::copy_n(whole + valid, count, slice + local);
  });
}

std::vector<float> gather(const ParameterInfo &info, Rank &rank, const float *slice) {
  std::vector<std::string> axes;
  for (const DimSlice &dim : info.dims)
    for (const Cut &cut : dim.cuts)
      if (std::find(axes.begin(), axes.end(), cut.axis) == axes.end())
        axes.push_back(cut.axis);
  Communicator &group = rank.over(axes);
  int64_t count = sliceElements(info);
  std::vector<float> slices(size_t(group.size() * count));
  group.allGather(slice, slices.data(), count);

  std::vector<float> whole(size_t(elementCount(info.valid)));
  // Member m of the group has the coordinates of m, row-major over `axes`, on them.
  for (int64_t member = 0; member < group.size(); ++member) {
    std::vector<GridAxis> groupGrid;
    for (const std::string &axis : axes)
      groupGrid.push_back({axis, rank.axisSize(axis)});
    LocalShape shape = LocalShape::of(info.dims, groupGrid, member);
    const float *from = slices.data() + member * count;
    forEachRun(info, shape, [&](int64_t local, int64_t valid, int64_t run) {
      std::copy_n(from + local, run, whole.data() + valid);
    });
  }
  return whole;
}

} // namespace colrow
