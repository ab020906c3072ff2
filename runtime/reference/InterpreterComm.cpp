//===- InterpreterComm.cpp - conversions of layout between thread ranks ---===//
//
// All that moves slices is one thing: pieces, each the part of a whole tensor that one rank holds,
// are written into the part that this rank shall hold, element by element through global indices.
// Gathering takes the pieces of all ranks of the group, take_shard and place only the rank's own.
//
//===----------------------------------------------------------------------===//

#include "runtime/reference/InterpreterKernels.h"
#include "runtime/reference/Walk.h"

using namespace mlir;

namespace colrow {

using reference::Shape;
using reference::Tensor;

namespace {

/// One comm op on one rank.
class Exchange {
public:
  Exchange(Operation *op, ArrayAttr axes, Type from, Type to, const Place &place)
      : place(place), from(cast<RankedTensorType>(from)), to(cast<RankedTensorType>(to)) {
    for (Attribute axis : axes)
      names.push_back(cast<StringAttr>(axis).str());
    if (!place.rank)
      throw Error(op->getName().getStringRef().str() + " needs ranks to talk to");
    for (const AxisState &state :
         getLayout(from) ? getLayout(from).getStates() : ArrayRef<AxisState>())
      maximum |= state.isPartialMax() && llvm::is_contained(names, state.axis.getValue());
  }

  Tensor allReduce(const Tensor &x) {
    ReduceOp how = maximum ? ReduceOp::max : ReduceOp::sum;
    return withValues(x, [&](auto *values, int64_t count) {
      place.rank->over(names).allReduce(values, count, how);
    });
  }

  /// The pieces of all ranks of the group, put together.
  Tensor gather(const Tensor &x) {
    Communicator &group = place.rank->over(names);
    int64_t count = x.size();
    Tensors pieces;
    auto exchange = [&](auto values) {
      decltype(values) all(count * group.size());
      group.allGather(values.data(), all.data(), count);
      for (int64_t m = 0; m < group.size(); ++m)
        pieces.push_back(tensorOf(x, x.shape(), decltype(values)(all.begin() + m * count,
                                                                 all.begin() + (m + 1) * count)));
    };
    if (x.isFloat())
      exchange(x.toFloats());
    else
      exchange(x.toIntegers());
    return put(pieces, ranksOfGroup());
  }

  /// The rank's own piece alone; zeros where it has nothing.
  Tensor own(const Tensor &x) { return put({x}, {place.index()}); }

private:
  /// A tensor of the element type of `like`.
  static Tensor tensorOf(const Tensor &like, const Shape &shape, std::vector<double> values) {
    return Tensor::floats(shape, std::move(values), like.type());
  }
  static Tensor tensorOf(const Tensor &like, const Shape &shape, std::vector<int64_t> values) {
    return Tensor::integers(shape, std::move(values), like.type());
  }

  /// Reduction happens in the type that the precision says, so that fp32 adds as fp32 does.
  template <typename Fn> Tensor withValues(const Tensor &x, Fn fn) {
    if (!x.isFloat()) {
      std::vector<int64_t> values = x.toIntegers();
      fn(values.data(), x.size());
      return tensorOf(x, x.shape(), std::move(values));
    }
    std::vector<double> values = x.toFloats();
    if (place.precision == reference::Precision::f32 && x.type() == reference::ElementType::f32) {
      std::vector<float> floats(values.begin(), values.end());
      fn(floats.data(), x.size());
      values.assign(floats.begin(), floats.end());
    } else {
      fn(values.data(), x.size());
    }
    return tensorOf(x, x.shape(), std::move(values));
  }

  /// The numbers of the ranks that differ from this one only along the axes, in the order of the
  /// communicator: row-major over the axes as listed.
  std::vector<int64_t> ranksOfGroup() {
    std::vector<GridAxis> grid = gridAxes(place.grid);
    std::vector<int64_t> mine = gridCoordinates(place.index(), grid);
    std::vector<GridAxis> group;
    std::vector<size_t> positions;
    for (const std::string &name : names)
      for (size_t i = 0; i < grid.size(); ++i)
        if (grid[i].name == name) {
          group.push_back(grid[i]);
          positions.push_back(i);
        }
    int64_t count = 1;
    for (const GridAxis &axis : group)
      count *= axis.size;
    std::vector<int64_t> ranks;
    for (int64_t member = 0; member < count; ++member) {
      std::vector<int64_t> theirs = gridCoordinates(member, group), at = mine;
      for (size_t i = 0; i < positions.size(); ++i)
        at[positions[i]] = theirs[i];
      int64_t rank = 0;
      for (size_t i = 0; i < grid.size(); ++i)
        rank = rank * grid[i].size + at[i];
      ranks.push_back(rank);
    }
    return ranks;
  }

  Tensor put(const Tensors &pieces, const std::vector<int64_t> &ranks) {
    return pieces.front().isFloat() ? putAs<double>(pieces, ranks)
                                    : putAs<int64_t>(pieces, ranks);
  }

  template <typename T> Tensor putAs(const Tensors &pieces, const std::vector<int64_t> &ranks) {
    LocalShape target = place.localShape(to);
    Shape sizes = target.localSizes(), strides = reference::rowMajorStrides(sizes);
    std::vector<T> values(reference::elementCount(sizes), T(0));
    for (auto [piece, rank] : llvm::zip(pieces, ranks)) {
      LocalShape source = localShapeOf(from, place.grid, rank);
      Tensor dense = piece.materialize();
      const T *data = dense.template data<T>() + dense.offset();
      // distance[d][i]: what the piece's index i on dimension d adds to the position in the
      // result, or -1 where this rank does not hold that element.
      std::vector<std::vector<int64_t>> distance(sizes.size());
      for (size_t d = 0; d < sizes.size(); ++d)
        for (int64_t i = 0; i < source.dims[d].localSize(); ++i) {
          int64_t local = target.dims[d].localIndex(source.dims[d].globalIndex(i));
          distance[d].push_back(local < 0 ? -1 : local * strides[d]);
        }
      int64_t next = 0;
      auto visit = [&](auto &self, size_t d, int64_t at) -> void {
        if (d == sizes.size()) {
          if (at >= 0)
            values[at] = data[next];
          ++next;
          return;
        }
        for (int64_t step : distance[d])
          self(self, d + 1, at < 0 || step < 0 ? -1 : at + step);
      };
      visit(visit, 0, 0);
    }
    return tensorOf(pieces.front(), sizes, std::move(values));
  }

  const Place &place;
  RankedTensorType from, to;
  std::vector<std::string> names;
  bool maximum = false;
};

} // namespace

std::optional<Tensors> evaluateComm(Operation *op, const Tensors &in, const Place &place) {
  auto exchange = [&](auto comm) {
    return Exchange(op, comm.getAxes(), comm.getFrom(), comm.getTo(), place);
  };
  return TypeSwitch<Operation *, std::optional<Tensors>>(op)
      .Case([&](CommAllReduceOp comm) { return Tensors{exchange(comm).allReduce(in[0])}; })
      .Case([&](CommAllGatherOp comm) { return Tensors{exchange(comm).gather(in[0])}; })
      .Case([&](CommAllToAllOp comm) { return Tensors{exchange(comm).gather(in[0])}; })
      .Case([&](CommReduceScatterOp comm) {
        // The slice of the sum: everybody's sum has the bits that a reduce-scatter gives.
        Exchange both = exchange(comm);
        return Tensors{both.own(both.allReduce(in[0]))};
      })
      .Case([&](CommTakeShardOp comm) { return Tensors{exchange(comm).own(in[0])}; })
      .Case([&](CommPlaceOp comm) { return Tensors{exchange(comm).own(in[0])}; })
      .Default([](Operation *) { return std::nullopt; });
}

} // namespace colrow
