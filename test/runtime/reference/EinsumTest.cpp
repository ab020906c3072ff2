#include "Testing.h"

#include "runtime/reference/Einsum.h"
#include "runtime/reference/Elementwise.h"
#include "runtime/reference/Reduce.h"
#include "runtime/reference/Shape.h"

using namespace colrow::reference;

TEST(Einsum, MatrixProduct) {
  Tensor a = Tensor::floats({2, 3}, {1, 2, 3, 4, 5, 6});
  Tensor b = Tensor::floats({3, 2}, {7, 8, 9, 10, 11, 12});
  Tensor c = einsum("mk,kn->mn", a, b, f64);
  EXPECT_EQ(c.shape(), (Shape{2, 2}));
  EXPECT_EQ(c.toFloats(), (Floats{58, 64, 139, 154}));
  EXPECT_EQ(einsum("mk,kn->nm", a, b, f64).toFloats(), (Floats{58, 139, 64, 154}));
}

TEST(Einsum, ScalarsInnerAndOuterProducts) {
  Tensor a = vectorOf({1, 2, 3}), b = vectorOf({4, 5, 6});
  EXPECT_EQ(einsum("i,i->", a, b, f64).item(), 32);
  EXPECT_EQ(einsum("i,i->i", a, b, f64).toFloats(), (Floats{4, 10, 18}));
  EXPECT_EQ(einsum("i,j->ij", vectorOf({1, 2}), a, f64).toFloats(), (Floats{1, 2, 3, 2, 4, 6}));
  EXPECT_EQ(einsum(",i->i", Tensor::scalar(ElementType::f32, 2), a, f64).toFloats(),
            (Floats{2, 4, 6}));
}

TEST(Einsum, NothingToSumOverGivesZero) {
  Tensor a = Tensor::floats({2, 0}, {}), b = Tensor::floats({0, 2}, {});
  EXPECT_EQ(einsum("mk,kn->mn", a, b, f64).toFloats(), Floats(4, 0));
}

// Against a product written with other kernels: broadcast, multiply, reduce.
TEST(Einsum, AgreesWithMultiplyAndReduce) {
  Tensor q = randomTensor({2, 5, 3, 4}, 1), k = randomTensor({2, 6, 3, 4}, 2); // bshd, bthd
  Tensor scores = einsum("bshd,bthd->bhst", q, k, f64);
  Tensor left = reshape(transpose(q, {0, 2, 1, 3}), {2, 3, 5, 1, 4});
  Tensor right = reshape(transpose(k, {0, 2, 1, 3}), {2, 3, 1, 6, 4});
  Tensor expected = reduceSum(mul(left, right, f64), {4}, false, f64);
  EXPECT_EQ(scores.shape(), (Shape{2, 3, 5, 6}));
  EXPECT_LT(maxDifference(scores, expected), 1e-14);
}

TEST(Einsum, ReadsViews) {
  Tensor a = randomTensor({3, 4}, 1), b = randomTensor({4, 5}, 2);
  Tensor expected = einsum("mk,kn->mn", a, b, f64);
  Tensor left = transpose(transpose(a, {1, 0}).materialize(), {1, 0});
  EXPECT_TRUE(identical(einsum("mk,kn->mn", left, b, f64), expected));
  Tensor shifted = slice(pad(a, {1, 2}, {0, 1}, 7), {1, 2}, {4, 6}, {1, 1});
  EXPECT_TRUE(identical(einsum("mk,kn->mn", shifted, b, f64), expected));
  Tensor ones = Tensor::full(ElementType::f32, {4, 2}, 1);
  EXPECT_LT(maxDifference(einsum("mk,kn->mn", a, ones, f64),
                          broadcastTo(reduceSum(a, {1}, true, f64), {3, 2})),
            1e-15);
}

TEST(Einsum, RoundsTheSumOnce) {
  Tensor a = rounded(randomTensor({4, 100}, 1), f32), b = rounded(randomTensor({100, 3}, 2), f32);
  EXPECT_TRUE(
      identical(einsum("mk,kn->mn", a, b, f32), rounded(einsum("mk,kn->mn", a, b, f64), f32)));
}

TEST(Einsum, Errors) {
  Tensor a = counted({2, 3}), b = counted({3, 2});
  auto fails = [&](const char *message, const char *equation) {
    return failsWith(message, [&] { einsum(equation, a, b, f64); });
  };
  EXPECT_TRUE(fails("expects the form", "mk,kn"));
  EXPECT_TRUE(fails("expects the form", "mk->kn"));
  EXPECT_TRUE(fails("'n' occurs in only one", "mk,kn->m"));
  EXPECT_TRUE(fails("'k' occurs in only one", "mk,jn->mnj"));
  EXPECT_TRUE(fails("'m' occurs twice in 'mm'", "mm,mn->mn"));
  EXPECT_TRUE(fails("'.' is no letter", "m.,.n->mn"));
  EXPECT_TRUE(fails("'mkj' does not fit f32[2x3]", "mkj,jk->m"));
  EXPECT_TRUE(fails("'m' is 2 and 3", "mk,mn->kn"));
  EXPECT_TRUE(failsWith("expects floating operands of one element type, got i64[1] and i64[1]",
                        [] { einsum("i,i->i", integersOf({1}), integersOf({1}), f64); }));
}
