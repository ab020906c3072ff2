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
    int64_t global = last.slice.validIndex(last.globalIndex(i), info.valid.back());
    if (global < 0)
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
      int64_t global =
          shape.dims[d].slice.validIndex(shape.dims[d].globalIndex(index[d]), info.valid[d]);
      valid = global >= 0;
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

namespace {

/// Rows [first, end) of a whole parameter in an orientation.
struct Piece {
  int64_t first, end, columns;
  int64_t storedColumns; ///< of the storage, where this is its transpose; else 0

  int64_t elements() const { return (end - first) * columns; }

  /// Calls visit(local, in the piece, count, stride in the piece) for runs of a rank's slice.
  template <typename Visit>
  void forEachRun(const ParameterInfo &info, const LocalShape &shape, const Visit &visit) const {
    colrow::forEachRun(info, shape, [&](int64_t local, int64_t valid, int64_t count) {
      int64_t row = storedColumns ? valid / storedColumns : 0;
      int64_t at = storedColumns ? valid % storedColumns : valid;
      int64_t low = storedColumns ? first : first * columns;
      int64_t high = storedColumns ? end : end * columns;
      int64_t from = std::max(at, low), to = std::min(at + count, high);
      if (from < to)
        visit(local + from - at, storedColumns ? (from - low) * columns + row : from - low,
              to - from, storedColumns ? columns : 1);
    });
  }
};

} // namespace

void gather(const ParameterInfo &info, Rank &rank, const float *slice, Orientation orientation,
            const std::function<void(const float *, int64_t)> &take, int64_t pieceElements) {
  std::vector<std::string> axes;
  for (const DimSlice &dim : info.dims)
    for (const Cut &cut : dim.cuts)
      if (std::find(axes.begin(), axes.end(), cut.axis) == axes.end())
        axes.push_back(cut.axis);
  std::vector<GridAxis> groupGrid;
  for (const std::string &axis : axes)
    groupGrid.push_back({axis, rank.axisSize(axis)});
  Communicator &group = rank.over(axes);

  bool transposed = info.transposed && orientation == Orientation::torch;
  int64_t elements = elementCount(info.valid);
  int64_t rows = info.valid.empty() ? 1 : transposed ? info.valid[1] : info.valid[0];
  int64_t columns = rows ? elements / rows : 0;
  int64_t step = std::max(int64_t(1), pieceElements / std::max(columns, int64_t(1)));
  std::vector<float> whole, packed;
  for (int64_t first = 0; first < rows; first += step) {
    Piece piece{first, std::min(rows, first + step), columns, transposed ? info.valid[1] : 0};
    if (take)
      whole.resize(size_t(piece.elements()));
    // Member m of the group has the coordinates of m, row-major over `axes`, on them.
    for (int64_t member = 0; member < group.size(); ++member) {
      LocalShape shape = LocalShape::of(info.dims, groupGrid, member);
      packed.clear();
      piece.forEachRun(info, shape, [&](int64_t local, int64_t, int64_t count, int64_t) {
        if (member == group.index())
          packed.insert(packed.end(), slice + local, slice + local + count);
        else
          packed.resize(packed.size() + size_t(count));
      });
      group.broadcast(packed.data(), int64_t(packed.size()), member);
      const float *next = packed.data();
      if (take)
        piece.forEachRun(info, shape, [&](int64_t, int64_t at, int64_t count, int64_t stride) {
          for (int64_t i = 0; i < count; ++i)
            whole[size_t(at + i * stride)] = *next++;
        });
    }
    if (take)
      take(whole.data(), piece.elements());
  }
}

} // namespace colrow
