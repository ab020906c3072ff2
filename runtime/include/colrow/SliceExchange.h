//===- SliceExchange.h - slices of tensors between ranks ------------------===//
#pragma once

#include "colrow/Rank.h"

#include <string>
#include <vector>

namespace colrow {

/// A change of how one tensor is cut, over the ranks along some axes. `from` and `to` are its
/// dimensions before and after; the axes of the exchange are those on which they differ. Slices are
/// row-major over their local shape. Each method stands beside its transpose.
///
///   SliceExchange exchange(rank, {"tp"}, {{8, {{"tp", 2, 1, 1}}}}, {{8, {}}});
///   exchange.allGather(slice, whole); // 4 elements in, 8 out
class SliceExchange {
public:
  SliceExchange(Rank &rank, const std::vector<std::string> &axes,
                const std::vector<DimSlice> &from, const std::vector<DimSlice> &to);

  /// Slices to the whole, on every rank.
  void allGather(const float *in, float *out);
  /// Summands of the whole to the rank's slice of the sum.
  void reduceScatter(const float *in, float *out);

  /// The rank's slice of a whole tensor. Moves nothing between ranks; T is float, int64_t, uint8_t.
  template <typename T> void takeShard(const T *in, T *out) const { copyPiece(mine, in, out); }
  /// A slice in its place among zeros.
  template <typename T> void place(const T *in, T *out) const {
    for (int64_t i = 0; i < toElements; ++i)
      out[i] = T(0);
    copyPiece(mine, in, out);
  }

  /// From slices along one dimension to slices along another. Transpose: itself, turned around.
  void allToAll(const float *in, float *out);

private:
  /// What a tensor on one rank and a tensor on another have in common: for each dimension the
  /// indices in both, in rising order.
  struct Piece {
    std::vector<std::vector<int64_t>> from, to;
    std::vector<int64_t> fromSizes, toSizes;
    int64_t elements = 1;
  };

  static Piece common(const LocalShape &from, const LocalShape &to);
  template <typename T> static void copyPiece(const Piece &piece, const T *in, T *out);
  /// Between a tensor and the piece's elements one behind the other.
  static void pack(const Piece &piece, const float *in, float *packed);
  static void unpack(const Piece &piece, const float *packed, float *out);

  Communicator &ranks;
  Piece mine;                         ///< between this rank before and this rank after
  std::vector<Piece> sent, received;  ///< by member: what it needs of this rank, and the reverse
  int64_t fromElements = 1, toElements = 1;
  std::vector<float> outgoing, incoming;
};

} // namespace colrow
