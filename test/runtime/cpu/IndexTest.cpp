#include "colrow/KernelsIndex.h"

#include "KernelTest.h"

using namespace colrow;

namespace {

/// Cuts of one axis that a lookup may meet: whole, even, in blocks, and with empty slices.
std::vector<std::vector<IndexMap>> cutsOf(int64_t size) {
  std::vector<std::vector<IndexMap>> cuts{{IndexMap(size)}};
  for (const Cut &cut : {Cut{"tp", 2, 1, 1}, Cut{"tp", 2, 3, 1}, Cut{"tp", 4, 1, 3}}) {
    std::vector<IndexMap> ranks;
    for (int64_t rank = 0; rank < cut.ranks; ++rank)
      ranks.emplace_back(LocalDim{{size, {cut}}, {rank}});
    cuts.push_back(ranks);
  }
  return cuts;
}

/// What a rank holds of `whole`, cut along `axis`.
Owned<float> sliceOf(const Owned<float> &whole, int axis, const IndexMap &map) {
  Shape shape = whole.shape;
  shape[axis] = map.localSize();
  Owned<float> part(shape);
  for (auto index : allIndices(shape)) {
    int64_t to = positionOf(index, shape);
    index[size_t(axis)] = map.globalIndex(index[size_t(axis)]);
    part[to] = whole[positionOf(index, whole.shape)];
  }
  return part;
}

TEST(Take, RanksSumUpToTheWholeLookup) {
  KernelContext ctx;
  for (int axis = 0; axis < 3; ++axis) {
    Shape shape{12, 12, 12};
    shape[(axis + 1) % 3] = 5;
    Owned<float> table = randomTensor(shape);
    Owned<int64_t> ids = randomIntegers({2, 3}, -3, 15); // some in no slice
    Shape outShape;
    for (int i = 0; i < 3; ++i) {
      if (i != axis)
        outShape.append(shape[i]);
      else
        for (int64_t size : ids.shape)
          outShape.append(size);
    }
    for (const auto &ranks : cutsOf(12)) {
      std::vector<double> sum(size_t(outShape.numel())), expected(sum.size());
      for (const auto &i : allIndices(outShape)) {
        std::vector<int64_t> from(i.begin(), i.begin() + axis);
        int64_t id = ids[i[size_t(axis)] * 3 + i[size_t(axis) + 1]];
        from.push_back(id);
        from.insert(from.end(), i.begin() + axis + 2, i.end());
        if (id >= 0 && id < 12)
          expected[size_t(positionOf(i, outShape))] = double(table[positionOf(from, shape)]);
      }
      for (const IndexMap &map : ranks) {
        Owned<float> out(outShape, NAN);
        take(ctx, sliceOf(table, axis, map), ids, axis, map, out.view());
        for (int64_t i = 0; i < out.numel(); ++i)
          sum[size_t(i)] += double(out[i]);
      }
      EXPECT_EQ(sum, expected);
    }
  }
}

TEST(TakeGrad, IsTheTransposeOfTake) {
  KernelContext ctx;
  Owned<int64_t> ids = randomIntegers({7}, -1, 13);
  for (int axis = 0; axis < 2; ++axis) {
    Shape shape = axis == 0 ? Shape{12, 5} : Shape{5, 12};
    Shape outShape = axis == 0 ? Shape{7, 5} : Shape{5, 7};
    Owned<float> table = randomTensor(shape, 1), weight = randomTensor(outShape, 2);
    for (const auto &ranks : cutsOf(12))
      for (const IndexMap &map : ranks) {
        Owned<float> part = sliceOf(table, axis, map), out(outShape);
        take(ctx, part, ids, axis, map, out.view());
        Owned<float> gradient(part.shape, NAN);
        takeGrad(ctx, weight, ids, axis, map, gradient);
        double forward = dot(toDouble(weight.values), toDouble(out.values));
        EXPECT_NEAR(forward, dot(toDouble(gradient.values), toDouble(part.values)), 1e-5);

        Owned<float> twice = gradient;
        takeGrad(ctx, weight, ids, axis, map, twice, 1);
        for (int64_t i = 0; i < twice.numel(); ++i)
          EXPECT_NEAR(twice[i], 2 * gradient[i], 1e-5);
      }
  }
}

TEST(TakeAlong, RanksSumUpAndTheGradientIsTheTranspose) {
  KernelContext ctx;
  for (int axis = 0; axis < 2; ++axis) {
    Shape shape = axis == 0 ? Shape{12, 5} : Shape{5, 12};
    Shape idsShape = axis == 0 ? Shape{3, 4} : Shape{4, 3}; // smaller in the other dimension too
    Owned<float> table = randomTensor(shape, 1), weight = randomTensor(idsShape, 2);
    Owned<int64_t> ids = randomIntegers(idsShape, -1, 13);
    std::vector<double> expected(size_t(idsShape.numel()));
    for (auto i : allIndices(idsShape)) {
      int64_t to = positionOf(i, idsShape);
      i[size_t(axis)] = ids[to];
      if (ids[to] >= 0 && ids[to] < 12)
        expected[size_t(to)] = double(table[positionOf(i, shape)]);
    }
    for (const auto &ranks : cutsOf(12)) {
      std::vector<double> sum(expected.size());
      for (const IndexMap &map : ranks) {
        Owned<float> part = sliceOf(table, axis, map), out(idsShape, NAN);
        takeAlong(ctx, part, ids, axis, map, out.view());
        for (int64_t i = 0; i < out.numel(); ++i)
          sum[size_t(i)] += double(out[i]);
        Owned<float> gradient(part.shape, NAN);
        takeAlongGrad(ctx, weight, ids, axis, map, gradient);
        EXPECT_NEAR(dot(toDouble(weight.values), toDouble(out.values)),
                    dot(toDouble(gradient.values), toDouble(part.values)), 1e-5);
      }
      EXPECT_EQ(sum, expected);
    }
  }
}

TEST(Take, IntegersEmptyAndWrongShapes) {
  KernelContext ctx;
  Owned<int64_t> table({3}, std::vector<int64_t>{10, 20, 30}), ids({2}, std::vector<int64_t>{2, 0});
  Owned<int64_t> out({2});
  take(ctx, table, ids, 0, 3, out.view());
  EXPECT_EQ(out.values, (std::vector<int64_t>{30, 10}));
  Owned<int64_t> scalar(Shape{}, 1), element(Shape{});
  take(ctx, table, scalar, 0, 3, element.view());
  EXPECT_EQ(element[0], 20);
  Owned<int64_t> none({0}), nothing({0});
  take(ctx, table, none, 0, 3, nothing.view());
  EXPECT_THROW(take(ctx, table, ids, 0, 4, out.view()), std::invalid_argument);
  EXPECT_THROW(take(ctx, table, ids, 1, 3, out.view()), std::invalid_argument);
  EXPECT_THROW(take(ctx, table, ids, 0, 3, element.view()), std::invalid_argument);
}

} // namespace
