#include "Testing.h"

#include "runtime/reference/Reduce.h"
#include "runtime/reference/Shape.h"

#include <cmath>

using namespace colrow::reference;

TEST(Reduce, SumOverAxes) {
  Tensor x = counted({2, 3, 2});
  EXPECT_EQ(reduceSum(x, {1}, false, f64).toFloats(), (Floats{6, 9, 24, 27}));
  EXPECT_EQ(reduceSum(x, {0, 2}, true, f64).toFloats(), (Floats{14, 22, 30}));
  EXPECT_EQ(reduceSum(x, {2, 0}, true, f64).shape(), (Shape{1, 3, 1}));
  EXPECT_EQ(reduceSum(x, {0, 1, 2}, false, f64).item(), 66);
  EXPECT_TRUE(identical(reduceSum(x, {}, false, f64), x));
  EXPECT_EQ(reduceSum(integersOf({1, 2, 3}), {0}, false, f64).integerItem(), 6);
  EXPECT_EQ(reduceSum(integersOf({200, 100}, ElementType::u8), {0}, false, f64).integerItem(), 44);
}

TEST(Reduce, OthersOverAxes) {
  Tensor x = Tensor::floats({2, 2}, {1, -5, 3, 2});
  EXPECT_EQ(reduceProd(x, {1}, false, f64).toFloats(), (Floats{-5, 6}));
  EXPECT_EQ(reduceMax(x, {0}, false).toFloats(), (Floats{3, 2}));
  EXPECT_EQ(reduceMin(x, {1}, true).toFloats(), (Floats{-5, 2}));
  EXPECT_TRUE(std::isnan(reduceMax(vectorOf({1, notANumber, 2}), {0}, false).item()));
  EXPECT_TRUE(std::isnan(reduceMin(vectorOf({1, notANumber, 2}), {0}, false).item()));
  EXPECT_EQ(reduceMax(booleansOf({0, 1}), {0}, false).integerItem(), 1);
  EXPECT_EQ(reduceMin(booleansOf({0, 1}), {0}, false).integerItem(), 0);
}

TEST(Reduce, NothingGivesTheNeutralElement) {
  Tensor x = Tensor::floats({2, 0}, {});
  EXPECT_EQ(reduceSum(x, {1}, false, f64).toFloats(), (Floats{0, 0}));
  EXPECT_EQ(reduceProd(x, {1}, false, f64).toFloats(), (Floats{1, 1}));
  EXPECT_EQ(reduceMax(x, {1}, false).toFloats(), (Floats{-infinity, -infinity}));
  EXPECT_EQ(reduceMin(x, {1}, false).toFloats(), (Floats{infinity, infinity}));
  Tensor i = integersOf({}, ElementType::i32);
  EXPECT_EQ(reduceMax(i, {0}, false).integerItem(), -2147483648LL);
  EXPECT_EQ(reduceMin(i, {0}, false).integerItem(), 2147483647);
  EXPECT_EQ(reduceMax(integersOf({}, ElementType::b1), {0}, false).integerItem(), 0);
  EXPECT_EQ(reduceMin(integersOf({}, ElementType::b1), {0}, false).integerItem(), 1);
}

TEST(Reduce, AccumulatesInDoubleAndRoundsOnce) {
  Tensor x = vectorOf({1, 1e-8, 1e-8, -1}); // in float the small ones would be lost
  EXPECT_EQ(reduceSum(x, {0}, false, f32).item(), double(float(1 + 1e-8 + 1e-8 - 1)));
}

TEST(Reduce, ReadsLazyBroadcasts) {
  Tensor x = broadcastTo(vectorOf({1, 2}), {1000, 2});
  EXPECT_EQ(reduceSum(x, {0}, false, f64).toFloats(), (Floats{1000, 2000}));
}

TEST(Reduce, Errors) {
  EXPECT_TRUE(failsWith("reduce_sum: f32[2] has no axis 1",
                        [] { reduceSum(counted({2}), {1}, false, f64); }));
  EXPECT_TRUE(failsWith("axis 0 occurs twice", [] { reduceMax(counted({2}), {0, 0}, false); }));
  EXPECT_TRUE(failsWith("reduce_sum: expects numbers, got b1[1]",
                        [] { reduceSum(booleansOf({1}), {0}, false, f64); }));
}

TEST(Cumsum, AllForms) {
  Tensor x = vectorOf({1, 2, 3});
  EXPECT_EQ(cumsum(x, 0, false, false, f64).toFloats(), (Floats{1, 3, 6}));
  EXPECT_EQ(cumsum(x, 0, true, false, f64).toFloats(), (Floats{0, 1, 3}));
  EXPECT_EQ(cumsum(x, 0, false, true, f64).toFloats(), (Floats{6, 5, 3}));
  EXPECT_EQ(cumsum(x, 0, true, true, f64).toFloats(), (Floats{5, 3, 0}));
  EXPECT_EQ(cumsum(counted({2, 3}), 0, false, false, f64).toFloats(), (Floats{0, 1, 2, 3, 5, 7}));
  EXPECT_EQ(cumsum(transpose(counted({2, 3}), {1, 0}), 1, false, false, f64).toFloats(),
            (Floats{0, 3, 1, 5, 2, 7}));
  EXPECT_EQ(cumsum(integersOf({1, 0, 1}), 0, false, false, f64).toIntegers(), (Integers{1, 1, 2}));
  EXPECT_TRUE(failsWith("no axis 1", [&] { cumsum(x, 1, false, false, f64); }));
}
