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

namespace {

constexpr int64_t sizeOf(char letter) { return 2 + (letter - 'a') % 4; }

/// `x`, whose axes are named by `own`, as a view in the space of `letters`.
Tensor spread(const Tensor &x, const std::string &own, const std::string &letters) {
  Shape shape, strides;
  for (char letter : letters) {
    size_t axis = own.find(letter);
    shape.push_back(sizeOf(letter));
    strides.push_back(axis == std::string::npos ? 0 : x.strides()[axis]);
  }
  return x.view(shape, strides, x.offset());
}

} // namespace

// Against the definition: multiply in the space of all letters, sum over those not in the result.
TEST(Einsum, IsTheSumOfProducts) {
  for (const std::string equation :
       {"mk,kn->mn", "km,nk->nm", "bshd,bthd->bhst", "bhst,bthd->bshd", "kbmj,jnbk->mbn",
        "ab,ab->ab", "abc,cba->", "a,bc->cab", "abcd,dc->ba", "ba,a->ab", "de,bde->eb"}) {
    std::string a = equation.substr(0, equation.find(',')),
                b = equation.substr(a.size() + 1, equation.find('-') - a.size() - 1),
                result = equation.substr(equation.find('>') + 1), letters = result;
    std::vector<int64_t> summed;
    for (char letter : a)
      if (result.find(letter) == std::string::npos) {
        summed.push_back(static_cast<int64_t>(letters.size()));
        letters += letter;
      }
    auto operand = [](const std::string &own, uint64_t seed) {
      Shape shape;
      for (char letter : own)
        shape.push_back(sizeOf(letter));
      return randomTensor(shape, seed);
    };
    Tensor x = operand(a, 1), y = operand(b, 2);
    Tensor products = mul(spread(x, a, letters), spread(y, b, letters), f64);
    Tensor expected = reduceSum(products, summed, false, f64);
    Tensor computed = einsum(equation, x, y, f64);
    EXPECT_LT(maxDifference(computed, expected), 1e-13) << equation;
    EXPECT_TRUE(computed.isContiguous());
  }
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
