//===- Layout.h - where an element of a sharded dimension lives -----------===//
//
// The one place that computes offsets and sizes of slices. The compiler (layout attribute,
// localize), the reference interpreter and the runtime all use it, so a slice means the same
// in the types, in the numbers and in the files.
//
// A cut deals a dimension out over the ranks of one axis: size = blocks * n * unit, and the n
// units of every block go out in order, n / ranks to each rank. A fused QKV projection of 4
// heads of 16 is blocks = 3, unit = 16: at tp = 2 rank 0 holds columns 0..31 of each block.
//
//   blocks = 3:   |q0 q1 q2 q3|k0 k1 k2 k3|v0 v1 v2 v3|
//   rank 0 of 2:  |q0 q1      |k0 k1      |v0 v1      |
//
// Several axes may cut one dimension; they are listed outer first, and an inner cut counts its
// blocks inside the outer slice.
//
//===----------------------------------------------------------------------===//
#pragma once

#include <cassert>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

namespace colrow {

/// An axis of the grid of ranks. Ranks are numbered row-major over the axes.
struct GridAxis {
  std::string name;
  int64_t size = 1;
};

/// The coordinate of `rank` on every axis of the grid, in the order of its axes.
inline std::vector<int64_t> gridCoordinates(int64_t rank, const std::vector<GridAxis> &grid) {
  std::vector<int64_t> coordinates(grid.size());
  for (size_t i = grid.size(); i-- > 0;) {
    coordinates[i] = rank % grid[i].size;
    rank /= grid[i].size;
  }
  return coordinates;
}

/// One axis' cut of one dimension.
struct Cut {
  std::string axis;  ///< name of the grid axis, such as "tp"
  int64_t ranks = 1; ///< size of that axis
  int64_t blocks = 1;
  int64_t unit = 1;
};

/// One dimension: its global size and the cuts on it, outer first.
struct DimSlice {
  int64_t size = 0;
  std::vector<Cut> cuts;
  int64_t filled = 1; ///< blocks with padding behind equally many valid elements, see validIndex

  bool isCut() const { return !cuts.empty(); }

  /// Whether every cut deals out whole units, the same number to each rank.
  bool divides() const {
    int64_t local = size;
    for (const Cut &cut : cuts) {
      if (local % (cut.blocks * cut.unit * cut.ranks) != 0)
        return false;
      local /= cut.ranks;
    }
    return true;
  }

  /// Elements each rank holds. Needs divides().
  int64_t localSize() const {
    int64_t local = size;
    for (const Cut &cut : cuts)
      local /= cut.ranks;
    return local;
  }

  /// The global index of local element `local` on the rank with these coordinates, one for each
  /// cut in the order of `cuts`.
  int64_t globalIndex(int64_t local, const std::vector<int64_t> &coordinates) const {
    // Walk from the innermost slice out: each cut turns an index in its slice into an index in
    // the dimension (or outer slice) that it deals out.
    int64_t index = local;
    int64_t inner = localSize();
    for (size_t i = cuts.size(); i-- > 0;) {
      const Cut &cut = cuts[i];
      int64_t perBlock = inner / cut.blocks; // elements of one block on one rank
      int64_t block = index / perBlock, within = index % perBlock;
      index = block * perBlock * cut.ranks + coordinates[i] * perBlock + within;
      inner *= cut.ranks;
    }
    return index;
  }

  /// The inverse: the local index of a global element on the rank with these coordinates, or -1
  /// where another rank holds it.
  int64_t localIndex(int64_t global, const std::vector<int64_t> &coordinates) const {
    int64_t index = global;
    int64_t span = size; // of the slice that `index` counts in
    for (size_t i = 0; i < cuts.size(); ++i) {
      const Cut &cut = cuts[i];
      int64_t block = span / cut.blocks, perBlock = block / cut.ranks;
      int64_t within = index % block;
      if (within / perBlock != coordinates[i])
        return -1;
      index = index / block * perBlock + within % perBlock;
      span /= cut.ranks;
    }
    return index;
  }

  /// The number of a global element among `valid` elements, where each of the `filled` blocks of
  /// the dimension has padding behind equally many valid elements; -1 for padding.
  int64_t validIndex(int64_t global, int64_t valid) const {
    int64_t stored = size / filled, kept = valid / filled;
    return global % stored < kept ? global / stored * kept + global % stored : -1;
  }
};

/// One dimension as one rank holds it: the cuts, and the rank's coordinate on each of their axes.
struct LocalDim {
  DimSlice slice;
  std::vector<int64_t> coordinates;

  /// A dimension of `size` elements that no axis cuts.
  static LocalDim whole(int64_t size) { return {{size, {}}, {}}; }

  int64_t localSize() const { return slice.localSize(); }
  int64_t globalSize() const { return slice.size; }
  int64_t globalIndex(int64_t local) const { return slice.globalIndex(local, coordinates); }
  int64_t localIndex(int64_t global) const { return slice.localIndex(global, coordinates); }
};

/// A tensor's shape as one rank holds it: maps the rank's indices to those of the whole tensor.
struct LocalShape {
  std::vector<LocalDim> dims;

  /// The shape of a tensor that no axis cuts.
  static LocalShape whole(const std::vector<int64_t> &sizes) {
    LocalShape shape;
    for (int64_t size : sizes)
      shape.dims.push_back(LocalDim::whole(size));
    return shape;
  }

  /// What `rank` of the grid holds of a tensor with these dimensions. Throws std::invalid_argument
  /// where a cut names an axis that the grid lacks, or does not deal out whole units.
  static LocalShape of(const std::vector<DimSlice> &dims, const std::vector<GridAxis> &grid,
                       int64_t rank) {
    std::vector<int64_t> onGrid = gridCoordinates(rank, grid);
    LocalShape shape;
    for (const DimSlice &dim : dims) {
      if (!dim.divides())
        throw std::invalid_argument("a dimension of " + std::to_string(dim.size) +
                                    " does not divide into whole units for each rank");
      LocalDim local{dim, {}};
      for (const Cut &cut : dim.cuts) {
        size_t axis = 0;
        while (axis < grid.size() && grid[axis].name != cut.axis)
          ++axis;
        if (axis == grid.size() || grid[axis].size != cut.ranks)
          throw std::invalid_argument("the grid has no axis '" + cut.axis + "' of " +
                                      std::to_string(cut.ranks) + " ranks");
        local.coordinates.push_back(onGrid[axis]);
      }
      shape.dims.push_back(std::move(local));
    }
    return shape;
  }

  size_t rank() const { return dims.size(); }

  std::vector<int64_t> localSizes() const {
    std::vector<int64_t> sizes;
    for (const LocalDim &dim : dims)
      sizes.push_back(dim.localSize());
    return sizes;
  }

  std::vector<int64_t> globalSizes() const {
    std::vector<int64_t> sizes;
    for (const LocalDim &dim : dims)
      sizes.push_back(dim.globalSize());
    return sizes;
  }

  /// The row-major number, in the whole tensor, of the element at a local index.
  int64_t globalElement(const std::vector<int64_t> &local) const {
    assert(local.size() == dims.size());
    int64_t element = 0;
    for (size_t i = 0; i < dims.size(); ++i)
      element = element * dims[i].globalSize() + dims[i].globalIndex(local[i]);
    return element;
  }
};

} // namespace colrow
