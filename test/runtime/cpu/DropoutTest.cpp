#include "colrow/KernelsDropout.h"

#include "KernelTest.h"
#include "colrow/Philox.h"

using namespace colrow;

namespace {

const DropoutSite site{1234, 5, 0xabcdef, 3, 0.3};

TEST(Dropout, IsTheGeneratorAtTheGlobalIndex) {
  KernelContext ctx;
  LocalDim rows{{6, {{"dp", 2, 1, 1}}}, {1}};
  for (int64_t rank : {0, 1}) {
    LocalDim columns{{36, {{"tp", 2, 3, 2}}}, {rank}}; // runs of 6: not aligned to blocks of 4
    Slices slices{IndexMap(rows), 5, IndexMap(columns)};
    Owned<float> x = randomTensor(slices.localShape()), y(x.shape, NAN);
    dropout(ctx, x, slices, site, y);
    for (const auto &i : allIndices(x.shape)) {
      int64_t global = (rows.globalIndex(i[0]) * 5 + i[1]) * 36 + columns.globalIndex(i[2]);
      uint64_t index = uint64_t(3 * 6 * 5 * 36 + global);
      float value = x[positionOf(i, x.shape)];
      bool kept = dropoutKeeps(site.seed, site.step, site.id, index, site.rate);
      ASSERT_EQ(y[positionOf(i, x.shape)], kept ? value * float(1 / 0.7) : 0.0f);
    }
    Owned<float> inPlace = x;
    dropout(ctx, inPlace, slices, site, inPlace);
    EXPECT_EQ(inPlace.values, y.values);
  }
}

TEST(Dropout, DropsTheRate) {
  KernelContext ctx;
  Owned<float> x({40000}, 1.0f), y({40000});
  dropout(ctx, x, Slices::whole(x.shape), site, y);
  double sum = 0, kept = 0;
  for (float value : y.values)
    sum += double(value), kept += value != 0;
  EXPECT_NEAR(kept / 40000, 0.7, 0.01);
  EXPECT_NEAR(sum / 40000, 1, 0.015);
}

TEST(Dropout, SiteFromItsOperand) {
  Owned<int64_t> random({4}, std::vector<int64_t>{1234, 5, 3, 1});
  DropoutSite active = dropoutSite(random, site.id, site.rate);
  EXPECT_EQ(active.seed, site.seed);
  EXPECT_EQ(active.step, site.step);
  EXPECT_EQ(active.id, site.id);
  EXPECT_EQ(active.microbatch, site.microbatch);
  EXPECT_EQ(active.rate, site.rate);
  random[3] = 0;
  EXPECT_EQ(dropoutSite(random, site.id, site.rate).rate, 0);
}

TEST(Dropout, RatesZeroAndOne) {
  KernelContext ctx;
  Owned<float> x = randomTensor({13}), y({13}, NAN), none({0});
  DropoutSite off = site, all = site;
  off.rate = 0;
  all.rate = 1;
  dropout(ctx, x, Slices::whole(x.shape), off, y);
  EXPECT_EQ(y.values, x.values);
  dropout(ctx, x, Slices::whole(x.shape), all, y);
  EXPECT_EQ(y.values, std::vector<float>(13, 0.0f));
  dropout(ctx, none, Slices::whole(none.shape), site, none);
  Owned<float> scalar(Shape{}, 1.0f);
  dropout(ctx, scalar, Slices::whole(Shape{}), all, scalar);
  EXPECT_EQ(scalar[0], 0.0f);
  EXPECT_THROW(dropout(ctx, x, Slices::whole({12}), site, y), std::invalid_argument);
}

} // namespace
