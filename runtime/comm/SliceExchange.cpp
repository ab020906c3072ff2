//===- SliceExchange.cpp - slices of tensors between ranks ----------------===//

#include "colrow/SliceExchange.h"

#include <algorithm>

namespace colrow {

/// The number of the rank at place `member` among those along `axes` from `rank`.
static int64_t rankNumber(const Rank &rank, const std::vector<std::string> &axes, int64_t member) {
  std::vector<int64_t> coordinates = gridCoordinates(rank.index(), rank.grid());
  for (size_t a = axes.size(); a-- > 0;) {
    int64_t size = rank.axisSize(axes[a]);
    for (size_t i = 0; i < rank.grid().size(); ++i)
      if (rank.grid()[i].name == axes[a])
        coordinates[i] = member % size;
    member /= size;
  }
  int64_t number = 0;
  for (size_t i = 0; i < coordinates.size(); ++i)
    number = number * rank.grid()[i].size + coordinates[i];
  return number;
}

SliceExchange::Piece SliceExchange::common(const LocalShape &from, const LocalShape &to) {
  Piece piece;
  piece.fromSizes = from.localSizes();
  piece.toSizes = to.localSizes();
  for (size_t d = 0; d < from.rank(); ++d) {
    std::vector<int64_t> &inFrom = piece.from.emplace_back(), &inTo = piece.to.emplace_back();
    for (int64_t i = 0; i < from.dims[d].localSize(); ++i) {
      int64_t there = to.dims[d].localIndex(from.dims[d].globalIndex(i));
      if (there >= 0) {
        inFrom.push_back(i);
        inTo.push_back(there);
      }
    }
    piece.elements *= int64_t(inFrom.size());
  }
  return piece;
}

/// Calls visit(offset in the tensor, number in the piece) for every element of one side of a piece.
template <typename Visit>
static void walk(const std::vector<std::vector<int64_t>> &indices,
                 const std::vector<int64_t> &sizes, const Visit &visit) {
  std::vector<size_t> at(indices.size(), 0);
  for (const std::vector<int64_t> &dim : indices)
    if (dim.empty())
      return;
  for (int64_t number = 0;; ++number) {
    int64_t offset = 0;
    for (size_t d = 0; d < indices.size(); ++d)
      offset = offset * sizes[d] + indices[d][at[d]];
    visit(offset, number);
    size_t d = indices.size();
    while (d > 0 && ++at[d - 1] == indices[d - 1].size())
      at[--d] = 0;
    if (d == 0)
      return;
  }
}

template <typename T> void SliceExchange::copyPiece(const Piece &piece, const T *in, T *out) {
  std::vector<int64_t> offsets(piece.elements);
  walk(piece.from, piece.fromSizes, [&](int64_t offset, int64_t i) { offsets[i] = offset; });
  walk(piece.to, piece.toSizes, [&](int64_t offset, int64_t i) { out[offset] = in[offsets[i]]; });
}
template void SliceExchange::copyPiece(const Piece &, const float *, float *);
template void SliceExchange::copyPiece(const Piece &, const int64_t *, int64_t *);
template void SliceExchange::copyPiece(const Piece &, const uint8_t *, uint8_t *);

void SliceExchange::pack(const Piece &piece, const float *in, float *packed) {
  walk(piece.from, piece.fromSizes, [&](int64_t offset, int64_t i) { packed[i] = in[offset]; });
}
void SliceExchange::unpack(const Piece &piece, const float *packed, float *out) {
  walk(piece.to, piece.toSizes, [&](int64_t offset, int64_t i) { out[offset] = packed[i]; });
}

SliceExchange::SliceExchange(Rank &rank, const std::vector<std::string> &axes,
                             const std::vector<DimSlice> &from, const std::vector<DimSlice> &to)
    : ranks(rank.over(axes)) {
  LocalShape before = LocalShape::of(from, rank.grid(), rank.index());
  LocalShape after = LocalShape::of(to, rank.grid(), rank.index());
  mine = common(before, after);
  for (int64_t size : mine.fromSizes)
    fromElements *= size;
  for (int64_t size : mine.toSizes)
    toElements *= size;
  for (int64_t m = 0; m < ranks.size(); ++m) {
    int64_t other = rankNumber(rank, axes, m);
    sent.push_back(common(before, LocalShape::of(to, rank.grid(), other)));
    received.push_back(common(LocalShape::of(from, rank.grid(), other), after));
  }
}

void SliceExchange::allGather(const float *in, float *out) {
  incoming.resize(fromElements * ranks.size());
  ranks.allGather(in, incoming.data(), fromElements);
  for (int64_t m = 0; m < ranks.size(); ++m)
    unpack(received[m], incoming.data() + m * fromElements, out);
}

void SliceExchange::reduceScatter(const float *in, float *out) {
  outgoing.resize(toElements * ranks.size());
  for (int64_t m = 0; m < ranks.size(); ++m)
    pack(sent[m], in, outgoing.data() + m * toElements);
  ranks.reduceScatter(outgoing.data(), out, toElements);
}

void SliceExchange::allToAll(const float *in, float *out) {
  int64_t count = mine.elements; // every rank gives every rank as much
  outgoing.resize(count * ranks.size());
  incoming.resize(count * ranks.size());
  for (int64_t m = 0; m < ranks.size(); ++m)
    pack(sent[m], in, outgoing.data() + m * count);
  ranks.allToAll(outgoing.data(), incoming.data(), count);
  for (int64_t m = 0; m < ranks.size(); ++m)
    unpack(received[m], incoming.data() + m * count, out);
}

} // namespace colrow
