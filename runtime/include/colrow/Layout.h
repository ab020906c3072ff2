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

#include <cstdint>
#include <string>
#include <vector>

namespace colrow {

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
};

} // namespace colrow
