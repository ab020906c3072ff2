#include "Testing.h"

#include "runtime/reference/Shape.h"

#include <cmath>
#include <cstring>

using namespace colrow::reference;

TEST(Tensor, HoldsValuesInRowMajorOrder) {
  Tensor x = counted({2, 3});
  EXPECT_EQ(x.describe(), "f32[2x3]");
  EXPECT_EQ(x.floatAt({0, 2}), 2);
  EXPECT_EQ(x.floatAt({1, 0}), 3);
  EXPECT_EQ(x.toString(), "f32[2x3] [[0, 1, 2], [3, 4, 5]]");
  EXPECT_TRUE(failsWith("index 3 on axis 1 is outside of f32[2x3]", [&] { x.floatAt({0, 3}); }));
  EXPECT_TRUE(failsWith("6 elements, got 5", [] { Tensor::floats({2, 3}, {1, 2, 3, 4, 5}); }));
}

TEST(Tensor, IntegersWrapToTheirType) {
  EXPECT_EQ(integersOf({300, -1}, ElementType::u8).toIntegers(), (Integers{44, 255}));
  EXPECT_EQ(integersOf({1LL << 31}, ElementType::i32).toIntegers(), (Integers{-(1LL << 31)}));
  EXPECT_EQ(booleansOf({0, 1, 7}).toIntegers(), (Integers{0, 1, 1}));
}

TEST(Tensor, FullTakesTheMemoryOfOne) {
  Tensor x = Tensor::full(ElementType::f32, {1 << 20, 1 << 20, 1 << 10}, 2.5);
  EXPECT_EQ(x.floatAt({5, 6, 7}), 2.5);
  EXPECT_EQ(x.strides(), (Shape{0, 0, 0}));
  EXPECT_EQ(Tensor::scalar(ElementType::i64, 7).integerItem(), 7);
  EXPECT_EQ(Tensor::boolean(true).integerItem(), 1);
  EXPECT_EQ(Tensor::full(ElementType::f32, {0, 3}, 1).toFloats(), Floats{});
}

TEST(Tensor, RawBytesGoInAndOut) {
  float f[] = {1.5f, -0.1f, INFINITY};
  Tensor x = Tensor::fromBytes(ElementType::f32, {3}, f, sizeof f);
  EXPECT_EQ(x.toFloats(), (Floats{1.5, double(-0.1f), infinity}));
  std::vector<uint8_t> bytes = x.toBytes();
  ASSERT_EQ(bytes.size(), sizeof f);
  EXPECT_EQ(std::memcmp(bytes.data(), f, sizeof f), 0);

  const uint8_t little[] = {0xfe, 0xff, 0xff, 0xff, 0x01, 0x02, 0x00, 0x00};
  Tensor y = Tensor::fromBytes(ElementType::i32, {2}, little, 8);
  EXPECT_EQ(y.toIntegers(), (Integers{-2, 513}));
  EXPECT_EQ(y.toBytes(), std::vector<uint8_t>(little, little + 8));
  for (ElementType type : {ElementType::f64, ElementType::i64, ElementType::u8, ElementType::b1}) {
    Tensor z = Tensor::full(type, {2, 3}, 1);
    std::vector<uint8_t> raw = z.toBytes();
    EXPECT_EQ(raw.size(), 6 * byteSize(type));
    EXPECT_TRUE(identical(Tensor::fromBytes(type, {2, 3}, raw.data(), raw.size()), z));
  }
  EXPECT_TRUE(failsWith("7 bytes are no whole number of i32 elements",
                        [&] { Tensor::fromBytes(ElementType::i32, {2}, little, 7); }));
  EXPECT_TRUE(
      failsWith("3 elements, got 2", [&] { Tensor::fromBytes(ElementType::i32, {3}, little, 8); }));
}

TEST(Tensor, MaterializeKeepsTheElementsOfAView) {
  Tensor view = transpose(counted({2, 3}), {1, 0});
  EXPECT_FALSE(view.isContiguous());
  Tensor dense = view.materialize();
  EXPECT_TRUE(dense.isContiguous());
  EXPECT_TRUE(identical(view, dense));
  EXPECT_EQ(dense.strides(), (Shape{2, 1}));
  EXPECT_EQ(dense.toFloats(), (Floats{0, 3, 1, 4, 2, 5}));
}

TEST(Tensor, IdenticalMeansBits) {
  EXPECT_TRUE(identical(vectorOf({notANumber, 1}), vectorOf({notANumber, 1})));
  EXPECT_FALSE(identical(vectorOf({0.0}), vectorOf({-0.0})));
  EXPECT_FALSE(identical(vectorOf({1}), vectorOf({std::nextafter(1, 2)})));
  EXPECT_FALSE(identical(vectorOf({1}), integersOf({1})));
  EXPECT_FALSE(identical(vectorOf({1}), Tensor::scalar(ElementType::f32, 1)));
}

TEST(Tensor, MaxDifference) {
  EXPECT_EQ(maxDifference(vectorOf({1, 2, infinity, notANumber}),
                          vectorOf({1.5, 2, infinity, notANumber})),
            0.5);
  EXPECT_EQ(maxDifference(vectorOf({1}), vectorOf({notANumber})), infinity);
  EXPECT_EQ(maxDifference(vectorOf({infinity}), vectorOf({-infinity})), infinity);
}

TEST(Tensor, RoundedIsAQuestionOfElementTypeAndPrecision) {
  Tensor x = vectorOf({0.1});
  EXPECT_EQ(rounded(x, f64).item(), 0.1);
  EXPECT_EQ(rounded(x, f32).item(), double(0.1f));
  Tensor wide = Tensor::floats({1}, {0.1}, ElementType::f64);
  EXPECT_EQ(rounded(wide, f32).item(), 0.1);
}

TEST(Tensor, BroadcastShapes) {
  EXPECT_EQ(broadcastShapes("add", {4, 1, 3}, {2, 1}), (Shape{4, 2, 3}));
  EXPECT_EQ(broadcastShapes("add", {}, {2, 1}), (Shape{2, 1}));
  EXPECT_EQ(broadcastShapes("add", {1}, {0}), (Shape{0}));
  EXPECT_TRUE(failsWith("add: shapes [2x3] and [2] do not broadcast", [] {
    broadcastShapes("add", {2, 3}, {2});
  }));
}
