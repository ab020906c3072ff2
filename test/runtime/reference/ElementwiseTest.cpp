#include "Testing.h"

#include "runtime/reference/Elementwise.h"
#include "runtime/reference/Shape.h"

#include <cmath>

using namespace colrow::reference;

namespace {

constexpr int64_t least = std::numeric_limits<int64_t>::min();
constexpr int64_t greatest = std::numeric_limits<int64_t>::max();

} // namespace

TEST(Unary, Floats) {
  Tensor x = vectorOf({-2, -0.5, 0, 0.5, 3});
  EXPECT_EQ(neg(x, f64).toFloats(), (Floats{2, 0.5, -0.0, -0.5, -3}));
  EXPECT_EQ(abs(x, f64).toFloats(), (Floats{2, 0.5, 0, 0.5, 3}));
  EXPECT_EQ(sign(x, f64).toFloats(), (Floats{-1, -1, 0, 1, 1}));
  EXPECT_TRUE(std::isnan(sign(vectorOf({notANumber}), f64).item()));
  EXPECT_EQ(floor(x, f64).toFloats(), (Floats{-2, -1, 0, 0, 3}));
  EXPECT_EQ(ceil(x, f64).toFloats(), (Floats{-2, -0.0, 0, 1, 3}));
  EXPECT_EQ(round(vectorOf({-2.5, -1.5, -0.5, 0.5, 1.5, 2.5, 2.6}), f64).toFloats(),
            (Floats{-2, -2, -0.0, 0, 2, 2, 3}));
  EXPECT_EQ(reciprocal(vectorOf({4, -0.5, 0}), f64).toFloats(), (Floats{0.25, -2, infinity}));
  EXPECT_EQ(sqrt(vectorOf({0, 4, 2.25}), f64).toFloats(), (Floats{0, 2, 1.5}));
  EXPECT_EQ(rsqrt(vectorOf({4, 0.25}), f64).toFloats(), (Floats{0.5, 2}));
}

TEST(Unary, Transcendental) {
  EXPECT_NEAR(exp(vectorOf({1}), f64).item(), 2.718281828459045, 1e-15);
  EXPECT_NEAR(log(vectorOf({10}), f64).item(), 2.302585092994046, 1e-15);
  EXPECT_EQ(log(vectorOf({0}), f64).item(), -infinity);
  EXPECT_NEAR(tanh(vectorOf({0.5}), f64).item(), 0.46211715726000975, 1e-15);
  EXPECT_NEAR(erf(vectorOf({0.5}), f64).item(), 0.5204998778130465, 1e-15);
  EXPECT_NEAR(sin(vectorOf({1}), f64).item(), 0.8414709848078965, 1e-15);
  EXPECT_NEAR(cos(vectorOf({1}), f64).item(), 0.5403023058681398, 1e-15);
  EXPECT_NEAR(sigmoid(vectorOf({1}), f64).item(), 0.7310585786300049, 1e-15);
  EXPECT_EQ(sigmoid(vectorOf({-2000, 0, 2000}), f64).toFloats(), (Floats{0, 0.5, 1}));
}

TEST(Unary, Integers) {
  Tensor x = integersOf({-3, 0, least});
  EXPECT_EQ(neg(x, f64).toIntegers(), (Integers{3, 0, least}));
  EXPECT_EQ(abs(x, f64).toIntegers(), (Integers{3, 0, least}));
  EXPECT_EQ(sign(x, f64).toIntegers(), (Integers{-1, 0, -1}));
  EXPECT_EQ(neg(integersOf({1}, ElementType::u8), f64).toIntegers(), (Integers{255}));
  EXPECT_TRUE(failsWith("exp: expects a floating tensor, got i64[3]", [&] { exp(x, f64); }));
  EXPECT_TRUE(failsWith("neg: expects numbers, got b1[1]", [] { neg(booleansOf({1}), f64); }));
}

TEST(Unary, IsNaNAndNot) {
  Tensor x = isNaN(vectorOf({0, notANumber, infinity}));
  EXPECT_EQ(x.type(), ElementType::b1);
  EXPECT_EQ(x.toIntegers(), (Integers{0, 1, 0}));
  EXPECT_EQ(logicalNot(x).toIntegers(), (Integers{1, 0, 1}));
  EXPECT_TRUE(failsWith("expects booleans, got i64[1]", [] { logicalNot(integersOf({1})); }));
}

TEST(Unary, PrecisionRoundsEachResult) {
  EXPECT_EQ(exp(vectorOf({1}), f32).item(), double(float(std::exp(1.0))));
  Tensor third = div(vectorOf({1}), vectorOf({3}), f32);
  EXPECT_EQ(third.item(), double(1.0f / 3.0f));
  Tensor wide = Tensor::floats({1}, {1}, ElementType::f64);
  EXPECT_EQ(exp(wide, f32).item(), std::exp(1.0)); // f64 is not rounded
}

TEST(Unary, ReadsViews) {
  Tensor x = transpose(counted({2, 3}), {1, 0});
  EXPECT_EQ(neg(x, f64).toFloats(), (Floats{0, -3, -1, -4, -2, -5}));
  EXPECT_EQ(neg(Tensor::full(ElementType::f32, {2, 2}, 3), f64).toFloats(), Floats(4, -3));
}

TEST(Cast, FloatsToIntegers) {
  Tensor x = vectorOf({2.9, -2.9, infinity, -infinity, notANumber, 300});
  EXPECT_EQ(cast(x, ElementType::i64, f64).toIntegers(),
            (Integers{2, -2, greatest, least, 0, 300}));
  EXPECT_EQ(cast(x, ElementType::i32, f64).toIntegers(),
            (Integers{2, -2, 2147483647, -2147483648LL, 0, 300}));
  EXPECT_EQ(cast(x, ElementType::u8, f64).toIntegers(), (Integers{2, 0, 255, 0, 0, 255}));
  EXPECT_EQ(cast(vectorOf({0, -0.0, 0.1, notANumber}), ElementType::b1, f64).toIntegers(),
            (Integers{0, 0, 1, 1}));
}

TEST(Cast, Others) {
  EXPECT_EQ(cast(integersOf({257, -1}), ElementType::u8, f64).toIntegers(), (Integers{1, 255}));
  EXPECT_EQ(cast(integersOf({0, -4}), ElementType::b1, f64).toIntegers(), (Integers{0, 1}));
  Tensor big = integersOf({16777217}); // 2^24 + 1
  EXPECT_EQ(cast(big, ElementType::f32, f64).item(), 16777217);
  EXPECT_EQ(cast(big, ElementType::f32, f32).item(), 16777216);
  Tensor wide = Tensor::floats({1}, {0.1}, ElementType::f64);
  EXPECT_EQ(cast(wide, ElementType::f32, f32).item(), double(0.1f));
  EXPECT_EQ(cast(wide, ElementType::f32, f64).item(), 0.1);
  EXPECT_EQ(cast(booleansOf({1}), ElementType::f32, f64).type(), ElementType::f32);
}

TEST(Binary, ArithmeticBroadcasts) {
  Tensor row = vectorOf({1, 2, 3}), column = Tensor::floats({2, 1}, {10, 20});
  EXPECT_EQ(add(column, row, f64).toFloats(), (Floats{11, 12, 13, 21, 22, 23}));
  EXPECT_EQ(sub(row, column, f64).toFloats(), (Floats{-9, -8, -7, -19, -18, -17}));
  EXPECT_EQ(mul(row, Tensor::scalar(ElementType::f32, 2), f64).toFloats(), (Floats{2, 4, 6}));
  EXPECT_EQ(div(row, vectorOf({2, 0, -0.0}), f64).toFloats(), (Floats{0.5, infinity, -infinity}));
  EXPECT_EQ(add(Tensor::floats({0, 1}, {}), row, f64).shape(), (Shape{0, 3}));
}

TEST(Binary, TypesMustAgree) {
  EXPECT_TRUE(failsWith("add: expects operands of one element type, got f32[1] and i64[1]",
                        [] { add(vectorOf({1}), integersOf({1}), f64); }));
  EXPECT_TRUE(failsWith("add: expects numbers, got b1[1]",
                        [] { add(booleansOf({1}), booleansOf({1}), f64); }));
}

TEST(Binary, IntegerDivisionTruncates) {
  Tensor a = integersOf({7, -7, 7, -7, least}), b = integersOf({2, 2, -2, -2, -1});
  EXPECT_EQ(div(a, b, f64).toIntegers(), (Integers{3, -3, -3, 3, least}));
  EXPECT_EQ(mod(a, b, f64).toIntegers(), (Integers{1, 1, -1, -1, 0}));
  EXPECT_EQ(fmod(a, b, f64).toIntegers(), (Integers{1, -1, 1, -1, 0}));
  for (auto op : {colrow::reference::div, colrow::reference::mod, colrow::reference::fmod})
    EXPECT_TRUE(failsWith("an integer is divided by zero",
                          [&] { op(integersOf({1}), integersOf({0}), f64); }));
}

TEST(Binary, FloatRemainders) {
  Tensor a = vectorOf({5.5, -5.5, 5.5, -5.5}), b = vectorOf({2, 2, -2, -2});
  EXPECT_EQ(mod(a, b, f64).toFloats(), (Floats{1.5, 0.5, -0.5, -1.5}));
  EXPECT_EQ(fmod(a, b, f64).toFloats(), (Floats{1.5, -1.5, 1.5, -1.5}));
}

TEST(Binary, IntegersWrapAround) {
  EXPECT_EQ(add(integersOf({greatest}), integersOf({1}), f64).toIntegers(), (Integers{least}));
  Tensor small = integersOf({200}, ElementType::u8);
  EXPECT_EQ(add(small, small, f64).toIntegers(), (Integers{144}));
  EXPECT_EQ(sub(integersOf({1}, ElementType::u8), small, f64).toIntegers(), (Integers{57}));
  Tensor wide = integersOf({1 << 20}, ElementType::i32);
  EXPECT_EQ(mul(wide, wide, f64).toIntegers(), (Integers{0}));
}

TEST(Binary, MaxAndMinKeepNaN) {
  Tensor a = vectorOf({1, notANumber, 3, -infinity}), b = vectorOf({2, 1, notANumber, 0});
  Floats most = max(a, b, f64).toFloats(), fewest = min(a, b, f64).toFloats();
  EXPECT_EQ(most[0], 2);
  EXPECT_EQ(fewest[0], 1);
  for (int i : {1, 2}) {
    EXPECT_TRUE(std::isnan(most[i]));
    EXPECT_TRUE(std::isnan(fewest[i]));
  }
  EXPECT_EQ(most[3], 0);
  EXPECT_EQ(fewest[3], -infinity);
  EXPECT_EQ(max(integersOf({-1, 4}), integersOf({0, 3}), f64).toIntegers(), (Integers{0, 4}));
}

TEST(Binary, Power) {
  EXPECT_EQ(pow(vectorOf({2, 9, -2}), vectorOf({-1, 0.5, 3}), f64).toFloats(),
            (Floats{0.5, 3, -8}));
  EXPECT_EQ(
      pow(integersOf({3, -2, -1, 1, 5, 0}), integersOf({4, 3, -3, -7, -1, 0}), f64).toIntegers(),
      (Integers{81, -8, -1, 1, 0, 1}));
  EXPECT_EQ(pow(integersOf({-1}), integersOf({-4}), f64).toIntegers(), (Integers{1}));
  Tensor mixed = pow(vectorOf({1.5}), integersOf({2}), f64);
  EXPECT_EQ(mixed.type(), ElementType::f32);
  EXPECT_EQ(mixed.item(), 2.25);
  EXPECT_EQ(pow(integersOf({2}), vectorOf({0.5}), f64).toIntegers(), (Integers{1}));
  EXPECT_TRUE(
      failsWith("zero to a negative power", [] { pow(integersOf({0}), integersOf({-1}), f64); }));
}

TEST(Binary, Logic) {
  Tensor a = booleansOf({0, 0, 1, 1}), b = booleansOf({0, 1, 0, 1});
  EXPECT_EQ(logicalAnd(a, b).toIntegers(), (Integers{0, 0, 0, 1}));
  EXPECT_EQ(logicalOr(a, b).toIntegers(), (Integers{0, 1, 1, 1}));
  EXPECT_EQ(logicalXor(a, b).toIntegers(), (Integers{0, 1, 1, 0}));
  EXPECT_TRUE(
      failsWith("and: expects booleans, got f32[1]", [&] { logicalAnd(a, vectorOf({1})); }));
}

TEST(Binary, Compare) {
  struct Case {
    Predicate predicate;
    Integers expected;
  } cases[] = {{Predicate::eq, {0, 1, 0, 0}}, {Predicate::ne, {1, 0, 1, 1}},
               {Predicate::lt, {1, 0, 0, 0}}, {Predicate::le, {1, 1, 0, 0}},
               {Predicate::gt, {0, 0, 1, 0}}, {Predicate::ge, {0, 1, 1, 0}}};
  for (const Case &c : cases) {
    Tensor result =
        compare(vectorOf({1, 2, 3, notANumber}), vectorOf({2, 2, 2, notANumber}), c.predicate);
    EXPECT_EQ(result.type(), ElementType::b1);
    EXPECT_EQ(result.toIntegers(), c.expected);
  }
  // Integers are compared as integers: these two are one double.
  EXPECT_EQ(
      compare(integersOf({greatest}), integersOf({greatest - 1}), Predicate::eq).integerItem(), 0);
}

TEST(Binary, RoundingMatchesFloatArithmetic) {
  Tensor a = rounded(randomTensor({1000}, 1), f32), b = rounded(randomTensor({1000}, 2), f32);
  Floats x = a.toFloats(), y = b.toFloats();
  Floats sum = add(a, b, f32).toFloats(), product = mul(a, b, f32).toFloats(),
         quotient = div(a, b, f32).toFloats();
  for (size_t i = 0; i < x.size(); ++i) {
    EXPECT_EQ(sum[i], double(float(x[i]) + float(y[i])));
    EXPECT_EQ(product[i], double(float(x[i]) * float(y[i])));
    EXPECT_EQ(quotient[i], double(float(x[i]) / float(y[i])));
  }
}

TEST(Select, ChoosesElementsAndBroadcastsAllThree) {
  Tensor condition = Tensor::integers({2, 1}, {1, 0}, ElementType::b1);
  Tensor result = select(condition, vectorOf({1, 2}), Tensor::scalar(ElementType::f32, notANumber));
  EXPECT_EQ(result.shape(), (Shape{2, 2}));
  EXPECT_EQ(result.floatAt({0, 1}), 2);
  EXPECT_TRUE(std::isnan(result.floatAt({1, 0})));
  EXPECT_EQ(select(booleansOf({1, 0}), integersOf({1, 2}), integersOf({3, 4})).toIntegers(),
            (Integers{1, 4}));
  EXPECT_TRUE(failsWith("select: expects operands of one element type",
                        [] { select(booleansOf({1}), vectorOf({1}), integersOf({1})); }));
}
