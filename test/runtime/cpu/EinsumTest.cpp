#include "colrow/KernelsEinsum.h"
#include "colrow/Profile.h"

#include "KernelTest.h"

#include <map>
#include <string>
#include <thread>

using namespace colrow;

namespace {

struct Equation {
  std::string a, b, out;
  explicit Equation(const std::string &text) {
    size_t comma = text.find(','), arrow = text.find("->");
    a = text.substr(0, comma), b = text.substr(comma + 1, arrow - comma - 1);
    out = text.substr(arrow + 2);
  }
};

using Sizes = std::map<char, int64_t>;

Shape shapeOf(const std::string &letters, const Sizes &sizes) {
  Shape shape;
  for (char letter : letters)
    shape.append(sizes.at(letter));
  return shape;
}

/// One loop over all letters.
std::vector<double> naive(const Equation &equation, const Sizes &sizes, const Owned<float> &a,
                          const Owned<float> &b) {
  std::string letters;
  Shape all;
  for (auto &[letter, size] : sizes) {
    letters += letter;
    all.append(size);
  }
  std::vector<double> out(size_t(shapeOf(equation.out, sizes).numel()));
  if (all.numel() == 0)
    return out;
  auto stridesIn = [&](const std::string &operand) {
    std::vector<int64_t> strides(letters.size());
    int64_t stride = 1;
    for (size_t i = operand.size(); i-- > 0; stride *= sizes.at(operand[i]))
      strides[letters.find(operand[i])] = stride;
    return strides;
  };
  std::vector<int64_t> strides[3] = {stridesIn(equation.a), stridesIn(equation.b),
                                     stridesIn(equation.out)};
  std::vector<int64_t> index(letters.size());
  do {
    int64_t at[3] = {0, 0, 0};
    for (int n = 0; n < 3; ++n)
      for (size_t i = 0; i < index.size(); ++i)
        at[n] += index[i] * strides[n][i];
    out[size_t(at[2])] += double(a[at[0]]) * double(b[at[1]]);
  } while (nextIndex(index, all));
  return out;
}

void check(KernelContext &ctx, const std::string &text, const Sizes &sizes) {
  Equation equation(text);
  Owned<float> a = randomTensor(shapeOf(equation.a, sizes), 1);
  Owned<float> b = randomTensor(shapeOf(equation.b, sizes), 2);
  std::vector<double> expected = naive(equation, sizes, a, b);
  std::string what = text;
  for (auto &[letter, size] : sizes)
    what += std::string(" ") + letter + "=" + std::to_string(size);

  Owned<float> out(shapeOf(equation.out, sizes), NAN); // beta 0 must not read it
  einsum(ctx, text.c_str(), a, b, out);
  expectNear(out.values, expected, 2e-5, what);

  Owned<float> sum = randomTensor(out.shape, 3);
  for (size_t i = 0; i < expected.size(); ++i)
    expected[i] += double(sum.values[i]);
  einsum(ctx, text.c_str(), a, b, sum, 1);
  expectNear(sum.values, expected, 2e-5, what + " added");
}

const char *const equations[] = {
    "ti,io->to",       // linear
    "ti,oi->to",       // linear, torch's weight
    "to,io->ti",       // gradient of its input
    "ti,to->io",       // gradient of its weight
    "ti,to->oi",       //
    "bsi,io->bso",     // the same with batch and sequence apart
    "bsi,bso->io",     //
    "bsi,io->sbo",     // rows that do not merge
    "sbi,bso->io",     // sums that do not merge
    "bshd,bthd->bhst", // scores, heads inside
    "bhst,bthd->bshd", // values
    "bhst,bshd->bthd", // gradient of the values
    "bhsd,bhdt->bhst", // scores, heads outside
    "bhst,bhtd->bhsd", //
    "bshd,hdo->bso",   // output projection by heads
    "bhsd,hdo->bso",   // two sums that do not merge
    "sh,h->s",         // matrix times vector
    "h,sh->s",         //
    "k,k->",           // dot product
    "m,n->mn",         // outer product
    "bm,bm->bm",       // batch only
    "bmk,bk->bm",      //
    "abm,ban->mnab",   // columns of the result far apart
    "kab,kcd->bdac",   // everything interleaved
    "akbl,lckd->cadb", //
    "amk,kn->nam",     // transposed result
};

TEST(Einsum, EqualsNaiveLoops) {
  KernelContext ctx;
  // Small (plain loops), around vector widths, primes, and large enough for loops of products.
  const int64_t choices[][4] = {{1, 2, 3, 2}, {2, 3, 5, 7}, {5, 4, 17, 3}, {3, 16, 7, 9}};
  for (const char *text : equations)
    for (const auto &choice : choices) {
      Sizes sizes;
      int next = 0;
      for (char letter : std::string(text))
        if (std::isalpha(letter) && !sizes.count(letter))
          sizes[letter] = choice[next++ % 4];
      check(ctx, text, sizes);
    }
}

TEST(Einsum, EveryDimensionOnceOfSizeOne) {
  KernelContext ctx;
  for (const char *text : equations)
    for (char one : std::string(text)) {
      if (!std::isalpha(one))
        continue;
      Sizes sizes;
      int64_t size = 5;
      for (char letter : std::string(text))
        if (std::isalpha(letter) && !sizes.count(letter))
          sizes[letter] = letter == one ? 1 : size++;
      check(ctx, text, sizes);
    }
}

TEST(Einsum, EveryDimensionOnceEmpty) {
  KernelContext ctx;
  for (const char *text : equations)
    for (char none : std::string(text)) {
      if (!std::isalpha(none))
        continue;
      Sizes sizes;
      for (char letter : std::string(text))
        if (std::isalpha(letter))
          sizes[letter] = letter == none ? 0 : 4;
      check(ctx, text, sizes);
    }
}

TEST(Einsum, LargeProducts) {
  KernelContext ctx;
  check(ctx, "ti,io->to", {{'t', 130}, {'i', 257}, {'o', 67}});
  check(ctx, "ti,oi->to", {{'t', 64}, {'i', 300}, {'o', 503}});
  check(ctx, "bsi,io->sbo", {{'b', 3}, {'s', 71}, {'i', 67}, {'o', 80}}); // loop over b
  check(ctx, "sbi,bso->io", {{'b', 3}, {'s', 71}, {'i', 67}, {'o', 80}}); // summed loop
  check(ctx, "bhsd,hdo->bso", {{'b', 2}, {'h', 3}, {'s', 65}, {'d', 64}, {'o', 70}});
  check(ctx, "bshd,bthd->bhst", {{'b', 2}, {'h', 3}, {'s', 65}, {'t', 33}, {'d', 16}});
  check(ctx, "k,k->", {{'k', 5000}});
  check(ctx, "m,n->mn", {{'m', 65}, {'n', 130}});
}

TEST(Einsum, StridedOperands) {
  KernelContext ctx;
  // The three thirds of a fused projection, heads inside: views, not copies.
  int64_t b = 2, s = 11, h = 3, d = 8;
  Owned<float> qkv = randomTensor({b, s, 3 * h * d});
  auto third = [&](int64_t n) {
    return ConstTensor(qkv.values.data() + n * h * d, {b, s, h, d},
                       {s * 3 * h * d, 3 * h * d, d, 1});
  };
  Owned<float> scores({b, h, s, s});
  einsum(ctx, "bshd,bthd->bhst", third(0), third(1), scores);
  std::vector<double> expected;
  for (const auto &i : allIndices(scores.shape)) {
    double sum = 0;
    for (int64_t j = 0; j < d; ++j)
      sum += double(qkv[(i[0] * s + i[2]) * 3 * h * d + i[1] * d + j]) *
             double(qkv[(i[0] * s + i[3]) * 3 * h * d + h * d + i[1] * d + j]);
    expected.push_back(sum);
  }
  expectNear(scores.values, expected, 1e-5);

  // A result with holes: what is between its rows stays.
  Owned<float> x = randomTensor({40, 33}), w = randomTensor({33, 20}), out({40, 50}, 7.0f);
  einsum(ctx, "ti,io->to", x, w, Tensor(out.values.data() + 3, {40, 20}, {50, 1}));
  for (int64_t t = 0; t < 40; ++t)
    for (int64_t o = 0; o < 50; ++o) {
      double sum = 7;
      if (o >= 3 && o < 23) {
        sum = 0;
        for (int64_t i = 0; i < 33; ++i)
          sum += double(x[t * 33 + i]) * double(w[i * 20 + o - 3]);
      }
      ASSERT_NEAR(out[t * 50 + o], sum, 1e-5);
    }

  // Stride 0: one row for all, and one element for all.
  Owned<float> row = randomTensor({33}), one = randomTensor({1}), repeated({40, 20});
  einsum(ctx, "ti,io->to", ConstTensor(row.values.data(), {40, 33}, {0, 1}), w, repeated);
  Owned<float> ones({40, 20});
  einsum(ctx, "ti,io->to", ConstTensor(one.values.data(), {40, 33}, {0, 0}), w, ones);
  for (int64_t o = 0; o < 20; ++o) {
    double sum = 0, all = 0;
    for (int64_t i = 0; i < 33; ++i) {
      sum += double(row[i]) * double(w[i * 20 + o]);
      all += double(one[0]) * double(w[i * 20 + o]);
    }
    for (int64_t t = 0; t < 40; ++t) {
      ASSERT_NEAR(repeated[t * 20 + o], sum, 1e-5);
      ASSERT_NEAR(ones[t * 20 + o], all, 1e-5);
    }
  }
}

std::string messageOf(const char *text, const Shape &a, const Shape &b, const Shape &out) {
  KernelContext ctx;
  Owned<float> x(a), y(b), z(out);
  try {
    einsum(ctx, text, x, y, z);
  } catch (const std::invalid_argument &error) {
    return error.what();
  }
  return "";
}

TEST(Einsum, RefusesWhatIsNoProduct) {
  EXPECT_EQ(messageOf("ti,o->o", {2, 3}, {4}, {4}),
            "einsum \"ti,o->o\": letter 't' is in one operand only");
  EXPECT_EQ(messageOf("t,t->tu", {2}, {2}, {2, 3}),
            "einsum \"t,t->tu\": letter 'u' is in one operand only");
  EXPECT_EQ(messageOf("ti,io->to", {2, 3}, {4, 5}, {2, 5}),
            "einsum \"ti,io->to\": letter 'i' has sizes 3 and 4");
  EXPECT_EQ(messageOf("tt,to->o", {2, 2}, {2, 5}, {5}),
            "einsum \"tt,to->o\": letter 't' occurs twice in one operand");
  EXPECT_EQ(messageOf("ti,io->to", {2, 3, 1}, {3, 5}, {2, 5}),
            "einsum \"ti,io->to\": expects 2 dimensions of 'ti', got 3");
  EXPECT_EQ(messageOf("ti,io", {2, 3}, {3, 5}, {2, 5}),
            "einsum \"ti,io\": expects two operands and a result, as in \"ti,io->to\"");
}

TEST(Einsum, SameBitsOnEveryThread) {
  // Ranks are threads: however many run, each computes what one alone does.
  Owned<float> x = randomTensor({64, 300}, 1), w = randomTensor({300, 96}, 2);
  auto compute = [&] {
    KernelContext ctx;
    Owned<float> out({64, 96});
    for (int round = 0; round < 3; ++round)
      einsum(ctx, "ti,io->to", x, w, out);
    return out.values;
  };
  std::vector<float> alone = compute();
  std::vector<std::vector<float>> results(4);
  std::vector<std::thread> threads;
  for (auto &result : results)
    threads.emplace_back([&] { result = compute(); });
  for (std::thread &thread : threads)
    thread.join();
  for (auto &result : results)
    EXPECT_EQ(result, alone);
}

TEST(Einsum, ContextMayMoveBetweenThreads) {
  // Prepared in one thread, used in another, with other scratch in between.
  KernelContext ctx;
  check(ctx, "ti,io->to", {{'t', 65}, {'i', 90}, {'o', 70}});
  std::thread([&] {
    check(ctx, "ti,io->to", {{'t', 65}, {'i', 90}, {'o', 70}});
    check(ctx, "kab,kcd->bdac", {{'k', 9}, {'a', 11}, {'b', 12}, {'c', 13}, {'d', 14}});
  }).join();
  check(ctx, "ti,io->to", {{'t', 65}, {'i', 90}, {'o', 70}});
}

TEST(Einsum, MoreThanOneThread) {
  KernelContext ctx(2);
  check(ctx, "ti,io->to", {{'t', 130}, {'i', 257}, {'o', 67}});
  check(ctx, "bshd,bthd->bhst", {{'b', 2}, {'h', 3}, {'s', 65}, {'t', 33}, {'d', 16}});
}

} // namespace

TEST(Einsum, TellsItsProfileWhatItMultiplies) {
  Profile profile;
  ProfileAttachment attachment(profile);
  KernelContext ctx;
  Owned<float> a({2, 3, 4}), b({2, 4, 5}), out({2, 3, 5});
  einsum(ctx, "bmk,bkn->bmn", a.view(), b.view(), out.view());
  ASSERT_EQ(profile.entries().size(), 1u);
  auto &[name, entry] = *profile.entries().begin();
  EXPECT_EQ(name, "einsum bmk,bkn->bmn [2, 3, 4] [2, 4, 5]");
  EXPECT_EQ(entry.flops, 2 * 2 * 3 * 4 * 5);
  EXPECT_EQ(entry.bytes, 4 * (2 * 3 * 4 + 2 * 4 * 5 + 2 * 3 * 5));
}
