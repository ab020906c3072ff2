#include "runtime/reference/Sharding.h"

#include "runtime/reference/Elementwise.h"
#include "runtime/reference/Walk.h"

#include <algorithm>
#include <cstring>
#include <iomanip>
#include <sstream>

namespace colrow::reference {

namespace {

int64_t ranksOf(const std::vector<GridAxis> &grid) {
  int64_t ranks = 1;
  for (const GridAxis &axis : grid)
    ranks *= axis.size;
  return ranks;
}

/// The summands of a partial value are numbered by the coordinates on its partial axes,
/// row-major in the order of the grid, whatever the order in which the placement lists them.
class Summands {
public:
  Summands(const Placement &placement, const std::vector<GridAxis> &grid) : grid(grid) {
    for (const std::string &name : placement.partialAxes) {
      auto named = [&](const GridAxis &axis) { return axis.name == name; };
      if (std::none_of(grid.begin(), grid.end(), named))
        throw Error("the grid has no axis '" + name + "'");
      for (const DimSlice &dim : placement.dims)
        for (const Cut &cut : dim.cuts)
          if (cut.axis == name)
            throw Error("axis '" + name + "' cannot both cut a dimension and be partial");
    }
    for (const GridAxis &axis : grid)
      isPartial.push_back(
          std::count(placement.partialAxes.begin(), placement.partialAxes.end(), axis.name) > 0);
  }

  int64_t count() const {
    int64_t summands = 1;
    for (size_t i = 0; i < grid.size(); ++i)
      summands *= isPartial[i] ? grid[i].size : 1;
    return summands;
  }

  int64_t ofRank(int64_t rank) const {
    std::vector<int64_t> coordinates = gridCoordinates(rank, grid);
    int64_t summand = 0;
    for (size_t i = 0; i < grid.size(); ++i)
      if (isPartial[i])
        summand = summand * grid[i].size + coordinates[i];
    return summand;
  }

private:
  const std::vector<GridAxis> &grid;
  std::vector<bool> isPartial;
};

LocalShape localShape(const Placement &placement, const std::vector<GridAxis> &grid, int64_t rank) {
  try {
    return LocalShape::of(placement.dims, grid, rank);
  } catch (const std::invalid_argument &error) {
    throw Error(error.what());
  }
}

Tensor randomLike(const Tensor &x, std::mt19937_64 &random, Precision precision) {
  if (x.isFloat()) {
    std::normal_distribution<double> normal;
    std::vector<double> values(x.size());
    for (double &value : values)
      value = roundTo(x.type(), precision, normal(random));
    return Tensor::floats(x.shape(), std::move(values), x.type());
  }
  std::uniform_int_distribution<int64_t> uniform(-100, 100);
  std::vector<int64_t> values(x.size());
  for (int64_t &value : values)
    value = uniform(random);
  return Tensor::integers(x.shape(), std::move(values), x.type());
}

/// Random tensors of which `whole` is the sum.
std::vector<Tensor> randomSummands(const Tensor &whole, int64_t count, std::mt19937_64 &random,
                                   Precision precision) {
  std::vector<Tensor> summands;
  Tensor rest = whole;
  for (int64_t i = 0; i + 1 < count; ++i) {
    summands.push_back(randomLike(whole, random, precision));
    rest = sub(rest, summands.back(), precision);
  }
  summands.push_back(rest);
  return summands;
}

/// Random tensors of which `whole` is the maximum: each element of it is in one of them.
std::vector<Tensor> randomBelow(const Tensor &whole, int64_t count, std::mt19937_64 &random,
                                Precision precision) {
  std::uniform_int_distribution<int64_t> anyOf(0, count - 1);
  std::vector<int64_t> holders(whole.size());
  for (int64_t &holder : holders)
    holder = anyOf(random);
  Tensor holder = Tensor::integers(whole.shape(), std::move(holders));
  std::vector<Tensor> below;
  for (int64_t i = 0; i < count; ++i) {
    Tensor isHolder =
        compare(holder, Tensor::scalar(ElementType::i64, static_cast<double>(i)), Predicate::eq);
    Tensor less = sub(whole, abs(randomLike(whole, random, precision), precision), precision);
    below.push_back(select(isHolder, whole, less));
  }
  return below;
}

std::string indexText(int64_t element, const Shape &shape) {
  Shape strides = rowMajorStrides(shape);
  std::string text = "[";
  for (size_t i = 0; i < shape.size(); ++i) {
    text += (i ? ", " : "") + std::to_string(element / strides[i]);
    element %= strides[i];
  }
  return text + "]";
}

/// Puts the slices of `ranks` together; elements held more than once must have equal bits.
template <typename T>
std::vector<T> assemble(const std::vector<Tensor> &locals, const std::vector<int64_t> &ranks,
                        const Placement &placement, const std::vector<GridAxis> &grid,
                        const Shape &shape) {
  std::vector<T> whole(elementCount(shape));
  std::vector<int64_t> writer(whole.size(), -1);
  for (int64_t rank : ranks) {
    Tensor dense = locals[rank].materialize();
    const T *from = dense.data<T>() + dense.offset();
    forEachElement(localShape(placement, grid, rank), [&](int64_t local, int64_t global) {
      if (writer[global] < 0) {
        whole[global] = from[local];
        writer[global] = rank;
      } else if (std::memcmp(&whole[global], &from[local], sizeof(T)) != 0) {
        std::ostringstream message;
        message << std::setprecision(17) << "ranks " << writer[global] << " and " << rank
                << " should hold the same bits, but element " << indexText(global, shape) << " of ["
                << toString(shape) << "] is " << whole[global] << " and " << from[local];
        throw Error(message.str());
      }
    });
  }
  return whole;
}

} // namespace

Tensor sliceOf(const Tensor &whole, const LocalShape &shape) {
  if (whole.shape() != shape.globalSizes())
    throw Error("cannot cut " + whole.describe() + " as a tensor of shape [" +
                toString(shape.globalSizes()) + "]");
  auto cut = [&](auto zero) {
    using T = decltype(zero);
    std::vector<T> values(elementCount(shape.localSizes()));
    Tensor dense = whole.materialize();
    const T *from = dense.data<T>() + dense.offset();
    forEachElement(shape, [&](int64_t local, int64_t global) { values[local] = from[global]; });
    return values;
  };
  bool isCut = std::any_of(shape.dims.begin(), shape.dims.end(),
                           [](const LocalDim &dim) { return dim.slice.isCut(); });
  if (!isCut)
    return whole;
  if (whole.isFloat())
    return Tensor::floats(shape.localSizes(), cut(double(0)), whole.type());
  return Tensor::integers(shape.localSizes(), cut(int64_t(0)), whole.type());
}

std::vector<Tensor> distribute(const Tensor &whole, const Placement &placement,
                               const std::vector<GridAxis> &grid, std::mt19937_64 &random,
                               Precision precision) {
  Summands numbering(placement, grid);
  std::vector<Tensor> summands = placement.maximum
                                     ? randomBelow(whole, numbering.count(), random, precision)
                                     : randomSummands(whole, numbering.count(), random, precision);
  std::vector<Tensor> locals;
  for (int64_t rank = 0; rank < ranksOf(grid); ++rank)
    locals.push_back(sliceOf(summands[numbering.ofRank(rank)], localShape(placement, grid, rank)));
  return locals;
}

Tensor collect(const std::vector<Tensor> &locals, const Placement &placement,
               const std::vector<GridAxis> &grid, Precision precision) {
  if (static_cast<int64_t>(locals.size()) != ranksOf(grid))
    throw Error("expects a tensor from each of " + std::to_string(ranksOf(grid)) + " ranks, got " +
                std::to_string(locals.size()));
  Summands numbering(placement, grid);
  std::vector<std::vector<int64_t>> ranksOfSummand(numbering.count());
  ElementType type = locals.front().type();
  Shape shape;
  for (const DimSlice &dim : placement.dims)
    shape.push_back(dim.size);
  for (int64_t rank = 0; rank < ranksOf(grid); ++rank) {
    Shape expected = localShape(placement, grid, rank).localSizes();
    if (locals[rank].shape() != expected || locals[rank].type() != type)
      throw Error("rank " + std::to_string(rank) + " holds " + locals[rank].describe() +
                  ", expected " + toString(type) + "[" + toString(expected) + "]");
    ranksOfSummand[numbering.ofRank(rank)].push_back(rank);
  }
  Tensor value;
  for (const std::vector<int64_t> &ranks : ranksOfSummand) {
    Tensor summand =
        isFloat(type)
            ? Tensor::floats(shape, assemble<double>(locals, ranks, placement, grid, shape), type)
            : Tensor::integers(shape, assemble<int64_t>(locals, ranks, placement, grid, shape),
                               type);
    if (!value.defined())
      value = summand;
    else
      value = placement.maximum ? max(value, summand, precision) : add(value, summand, precision);
  }
  return value;
}

} // namespace colrow::reference
