//===- KernelsSlices.h - local indices and global ones --------------------===//
//
// Some kernels must know which part of a cut dimension this rank holds: iota, lookups in a cut
// table, masks of padding, dropout (random bits are a function of the global element index), the
// loss over a cut vocabulary. They take an IndexMap for one dimension or Slices for all: the maps
// of Layout.h worked out once, so that kernels walk runs of memory rather than divide for each
// element.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "colrow/KernelsTensor.h"
#include "colrow/Layout.h"

#include <initializer_list>
#include <vector>

namespace colrow {

/// This rank's part of one dimension, as runs of consecutive global indices in rising order:
///
///   a dimension of 12 cut in 3 blocks over 2 ranks, rank 1:  global 2 3 | 6 7 | 10 11
///   runs {local 0, global 2, 2}, {local 2, global 6, 2}, {local 4, global 10, 2}
class IndexMap {
public:
  struct Run {
    int64_t local, global, length;
  };

  /// The whole dimension: local and global indices are the same.
  IndexMap(int64_t size);
  /// What this rank holds of a cut dimension.
  IndexMap(const LocalDim &dim);

  int64_t localSize() const { return local; }
  int64_t globalSize() const { return whole; }
  const std::vector<Run> &runs() const { return pieces; }

  int64_t globalIndex(int64_t localIndex) const {
    const Run &run = pieces.size() == 1 ? pieces[0] : runOfLocal(localIndex);
    return run.global + (localIndex - run.local);
  }
  /// Where this rank holds a global index; -1 if it does not, or if the index is in no slice.
  int64_t localIndex(int64_t globalIndex) const;
  /// How many of this rank's elements have a global index below `limit`. They come first.
  int64_t countBelow(int64_t limit) const;

private:
  const Run &runOfLocal(int64_t localIndex) const;

  int64_t local = 0, whole = 0;
  std::vector<Run> pieces;
};

/// This rank's part of a tensor: one map for each dimension.
struct Slices {
  std::vector<IndexMap> dims;

  Slices() = default;
  Slices(std::initializer_list<IndexMap> dims) : dims(dims) {}
  Slices(const LocalShape &shape) : dims(shape.dims.begin(), shape.dims.end()) {}
  /// A tensor that is whole on this rank.
  static Slices whole(const Shape &shape);

  int rank() const { return int(dims.size()); }
  Shape localShape() const;
  Shape globalShape() const;
};

} // namespace colrow
