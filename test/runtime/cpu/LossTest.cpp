#include "colrow/KernelsLoss.h"

#include "KernelTest.h"
#include "colrow/ThreadRanks.h"

using namespace colrow;

namespace {

struct Problem {
  int64_t tokens, hidden, stored, valid;
  Owned<float> x, w;
  Owned<int64_t> labels;
  double denominator, labelSmoothing = 0, zLoss = 0;

  Problem(int64_t tokens, int64_t hidden, int64_t stored, int64_t valid)
      : tokens(tokens), hidden(hidden), stored(stored), valid(valid),
        x(randomTensor({tokens, hidden}, 1)), w(randomTensor({stored, hidden}, 2)),
        labels(randomIntegers({tokens}, 0, valid, 3)), denominator(double(tokens) + 0.5) {
    for (float &value : w.values)
      value *= 3;
    for (int64_t t = 0; t < tokens; t += 4)
      labels[t] = -100;
    if (tokens > 2)
      labels[1] = 0, labels[2] = valid - 1;
    // Padding must not be read: here it would show.
    for (int64_t i = valid * hidden; i < w.numel(); ++i)
      w[i] = NAN;
  }

  std::vector<double> logits(const std::vector<double> &xs, const std::vector<double> &ws) const {
    std::vector<double> result(size_t(tokens * stored), NAN);
    for (int64_t t = 0; t < tokens; ++t)
      for (int64_t j = 0; j < valid; ++j) {
        double sum = 0;
        for (int64_t i = 0; i < hidden; ++i)
          sum += xs[size_t(t * hidden + i)] * ws[size_t(j * hidden + i)];
        result[size_t(t * stored + j)] = sum;
      }
    return result;
  }

  double lossOf(const std::vector<double> &logits) const {
    double loss = 0;
    for (int64_t t = 0; t < tokens; ++t) {
      if (labels[t] == -100)
        continue;
      const double *row = logits.data() + t * stored;
      double most = *std::max_element(row, row + valid), sum = 0, all = 0;
      for (int64_t j = 0; j < valid; ++j) {
        sum += std::exp(row[j] - most);
        all += row[j];
      }
      double logSumExp = most + std::log(sum);
      loss += (1 - labelSmoothing) * (logSumExp - row[labels[t]]) +
              labelSmoothing * (logSumExp - all / double(valid)) + zLoss * logSumExp * logSumExp;
    }
    return loss / denominator;
  }

  Problem with(double smoothing, double z) const {
    Problem other = *this;
    other.labelSmoothing = smoothing;
    other.zLoss = z;
    return other;
  }

  VocabularySlice slice(const IndexMap &map, Rank &rank) const {
    return {map, valid, &rank.over({"tp"}), -100, labelSmoothing, zLoss};
  }

  double loss() const { return lossOf(logits(toDouble(x.values), toDouble(w.values))); }
};

std::vector<float> rowsOf(const std::vector<float> &whole, const IndexMap &map, int64_t columns) {
  std::vector<float> part;
  for (int64_t i = 0; i < map.localSize(); ++i)
    for (int64_t j = 0; j < columns; ++j)
      part.push_back(whole[size_t(map.globalIndex(i) * columns + j)]);
  return part;
}

struct Result {
  std::vector<double> losses; ///< of every rank, and of both functions
  std::vector<double> dx, dw; ///< whole
};

/// Loss and gradients of the fused kernel on `cut.ranks` ranks, `chunk` tokens at a time; dw is
/// added to `before`.
Result compute(const Problem &p, const Cut &cut, int64_t chunk, int beta = 0, float before = 0,
               bool transposedWeight = false) {
  Result result;
  size_t ranks = size_t(cut.ranks);
  result.losses.resize(2 * ranks);
  result.dw.resize(size_t(p.stored * p.hidden));
  std::vector<Owned<float>> dxs(ranks);
  runRanks({{"tp", cut.ranks}}, [&](Rank &rank) {
    KernelContext ctx;
    size_t me = size_t(rank.index());
    LocalDim dim{{p.stored, {cut}}, {rank.index()}};
    VocabularySlice vocabulary = p.slice(IndexMap(dim), rank);
    int64_t rows = vocabulary.map.localSize();
    Owned<float> w({rows, p.hidden}, rowsOf(p.w.values, vocabulary.map, p.hidden));
    Owned<float> dw({rows, p.hidden}, beta ? before : NAN), &dx = dxs[me];
    dx = Owned<float>({p.tokens, p.hidden}, NAN);
    Owned<float> logits({chunk, (rows + 15) / 16 * 16}, NAN);
    Tensor weight = w, dWeight = dw;
    if (transposedWeight) { // any strides will do: rows are columns of the same memory
      weight = Tensor(w.values.data(), {p.hidden, rows}).permuted({1, 0});
      dWeight = Tensor(dw.values.data(), {p.hidden, rows}).permuted({1, 0});
      for (int64_t i = 0; i < rows; ++i)
        for (int64_t j = 0; j < p.hidden; ++j)
          w[j * rows + i] = p.w[vocabulary.map.globalIndex(i) * p.hidden + j];
    }
    result.losses[me] =
        linearCrossEntropy(ctx, p.x, weight, p.labels, vocabulary, p.denominator, logits);
    result.losses[ranks + me] = linearCrossEntropyGrad(ctx, p.x, weight, p.labels, vocabulary,
                                                       p.denominator, dx, dWeight, beta, logits);
    for (int64_t i = 0; i < rows; ++i)
      for (int64_t j = 0; j < p.hidden; ++j)
        result.dw[size_t(vocabulary.map.globalIndex(i) * p.hidden + j)] =
            double(transposedWeight ? dw[j * rows + i] : dw[i * p.hidden + j]);
  });
  result.dx.resize(size_t(p.tokens * p.hidden));
  for (const Owned<float> &dx : dxs)
    for (int64_t i = 0; i < dx.numel(); ++i)
      result.dx[size_t(i)] += double(dx[i]);
  return result;
}

/// More than the problems have.
constexpr int64_t allTokens = 1000;

std::vector<float> toFloat(const std::vector<double> &values) {
  return {values.begin(), values.end()};
}

const Cut cuts[] = {{"tp", 1, 1, 1}, {"tp", 2, 1, 1}, {"tp", 4, 1, 1}, {"tp", 2, 2, 1}};

TEST(LinearCrossEntropy, EqualsNaiveAndItsGradientTheSlope) {
  for (const Problem &p :
       {Problem(7, 3, 16, 13), Problem(1, 2, 8, 8), Problem(5, 4, 8, 1), Problem(0, 3, 8, 5),
        Problem(7, 3, 16, 13).with(0.1, 0), Problem(7, 3, 16, 13).with(0, 0.02),
        Problem(7, 3, 16, 13).with(0.3, 0.02), Problem(5, 4, 8, 5).with(1, 0)}) {
    std::vector<double> xs = toDouble(p.x.values), ws = toDouble(p.w.values);
    auto ofX = [&](const std::vector<double> &at) { return p.lossOf(p.logits(at, ws)); };
    auto ofW = [&](const std::vector<double> &at) { return p.lossOf(p.logits(xs, at)); };
    std::vector<double> dx = numericGradient(ofX, xs), dw = numericGradient(ofW, ws);
    for (double &value : dw) // no slope at padding, whose value is NaN
      value = std::isnan(value) ? 0 : value;
    for (const Cut &cut : cuts)
      for (int64_t chunk : {int64_t(1), int64_t(3), allTokens}) {
        Result r = compute(p, cut, chunk);
        for (double loss : r.losses) {
          EXPECT_NEAR(loss, p.loss(), 2e-6);
          EXPECT_EQ(loss, r.losses[0]); // the same bits everywhere
        }
        expectNear(toFloat(r.dx), dx, 3e-6, "dx");
        expectNear(toFloat(r.dw), dw, 3e-6, "dw");
      }
  }
}

TEST(LinearCrossEntropy, EmptySlices) {
  // 300 tokens padded to 512: at tp = 4 the last rank has padding only.
  Problem p(9, 8, 512, 300);
  Result one = compute(p, {"tp", 1, 1, 1}, allTokens);
  Result four = compute(p, {"tp", 4, 1, 1}, 2048);
  EXPECT_NEAR(one.losses[0], p.loss(), 2e-6);
  for (double loss : four.losses)
    EXPECT_NEAR(loss, one.losses[0], 1e-6);
  expectNear(toFloat(four.dx), one.dx, 1e-6);
  expectNear(toFloat(four.dw), one.dw, 1e-6);
  for (size_t i = 300 * 8; i < 512 * 8; ++i)
    ASSERT_EQ(four.dw[i], 0.0); // padding stays zero
}

TEST(LinearCrossEntropy, AccumulatesAndTakesStridedWeights) {
  Problem p(7, 3, 16, 13);
  Result plain = compute(p, {"tp", 2, 1, 1}, 100);
  Result added = compute(p, {"tp", 2, 1, 1}, 100, 1, 2.0f);
  Result strided = compute(p, {"tp", 2, 1, 1}, 100, 0, 0, true);
  for (double &value : added.dw)
    value -= 2;
  expectNear(toFloat(added.dw), plain.dw, 1e-6);
  expectNear(toFloat(strided.dw), plain.dw, 1e-6);
  expectNear(toFloat(strided.dx), plain.dx, 1e-6);
}

TEST(LinearCrossEntropy, LargeLogitsAndUnknownLabels) {
  Problem p(6, 2, 8, 8);
  for (float &value : p.w.values)
    value *= 300; // exponentials overflow unless the largest logit is taken off
  EXPECT_NEAR(compute(p, {"tp", 2, 1, 1}, allTokens).losses[0], p.loss(), 1e-4 * p.loss());
  for (int64_t label : {int64_t(8), int64_t(-1), int64_t(1000)}) {
    p.labels[1] = label;
    for (double loss : compute(p, {"tp", 2, 1, 1}, allTokens).losses)
      EXPECT_TRUE(std::isnan(loss)) << label;
  }
  for (int64_t &label : p.labels.values)
    label = -100;
  Result none = compute(p, {"tp", 2, 1, 1}, allTokens);
  EXPECT_EQ(none.losses[0], 0);
  EXPECT_EQ(none.dx, std::vector<double>(none.dx.size(), 0.0));
  EXPECT_EQ(none.dw, std::vector<double>(none.dw.size(), 0.0));
}

TEST(LinearCrossEntropy, WorkspaceIsBounded) {
  for (int64_t tokens : {0, 1, 7, 1024, 100000})
    for (int64_t columns : {1, 16, 25216, 50304}) {
      constexpr int64_t most = int64_t(1) << 20;
      Shape shape = logitWorkspace(tokens, columns, most);
      EXPECT_GE(shape[0], 1);
      EXPECT_LE(shape[0], std::max<int64_t>(tokens, 1));
      EXPECT_GE(shape[1], columns);
      EXPECT_EQ(shape[1] % 32, 16); // an odd number of cache lines
      EXPECT_TRUE(shape[0] == 1 || shape.numel() * 4 <= most);
    }
}

TEST(LinearCrossEntropy, RefusesWorkspacesThatDoNotFit) {
  Problem p(6, 2, 8, 8);
  KernelContext ctx;
  Owned<float> narrow({4, 7}), none({0, 8});
  VocabularySlice vocabulary{IndexMap(8), 8};
  for (const Tensor &workspace : {Tensor(narrow), Tensor(none)})
    EXPECT_THROW(linearCrossEntropy(ctx, p.x, p.w, p.labels, vocabulary, 1, workspace),
                 std::invalid_argument);
}

// What torch 2.14 has in float64 for logits 3 sin(1 + 7 t + 3 j) of token t and class j:
//   F.cross_entropy(logits, labels, label_smoothing=e)
//       + c * logits[labels != -100].logsumexp(-1).square().mean()
// with four elements of its gradient: [0, 4], [0, 5], [2, 0], [3, 11].
TEST(CrossEntropy, EqualsTorch) {
  constexpr int64_t tokens = 5, classes = 13;
  struct Expected {
    double smoothing, zLoss, loss, gradients[4];
  };
  const Expected all[] = {
      {0.1,
       0,
       2.7574283630682355,
       {-0.20151797983340997, 0.0011135239811402749, -0.20856654126117125, -0.0017517162397101928}},
      {0,
       0.01,
       2.7899097088294083,
       {-0.22279265912312107, 0.0032520181133918738, -0.22996848965496064, 0.0001860503383250212}},
      {0.1,
       0.01,
       2.9179119084854768,
       {-0.199715736046198, 0.00132894119031495, -0.20689156657803756, -0.001737026584751902}},
      {1,
       0,
       3.909448159972852,
       {0.0061743278588977275, -0.016194168326552034, -0.0008742335688635486,
        -0.0190594085474025}}};
  constexpr int64_t at[4][2] = {{0, 4}, {0, 5}, {2, 0}, {3, 11}};
  for (const Expected &expected : all)
    for (int64_t ranks : {1, 2, 3}) {
      constexpr int64_t stored = 18; // 13, padded for six of them
      std::vector<float> gradient(size_t(tokens * stored));
      runRanks({{"tp", ranks}}, [&](Rank &rank) {
        KernelContext ctx;
        LocalDim dim{{stored, {{"tp", ranks, 1, 1}}}, {rank.index()}};
        IndexMap map(dim);
        VocabularySlice vocabulary{
            map, classes, &rank.over({"tp"}), -100, expected.smoothing, expected.zLoss};
        Owned<float> logits({tokens, map.localSize()}, NAN), sums({tokens});
        Owned<int64_t> labels({tokens}, std::vector<int64_t>{4, -100, 0, 12, 7});
        for (int64_t i = 0; i < logits.numel(); ++i)
          if (int64_t j = dim.globalIndex(i % map.localSize()); j < classes)
            logits[i] = float(3 * std::sin(1 + 7 * double(i / map.localSize()) + 3 * double(j)));
        EXPECT_NEAR(crossEntropy(ctx, logits, labels, vocabulary, 4, sums), expected.loss, 2e-6);
        crossEntropyGrad(ctx, 1, logits, labels, vocabulary, 4, sums, logits);
        for (int64_t i = 0; i < logits.numel(); ++i)
          gradient[size_t(i / map.localSize() * stored + dim.globalIndex(i % map.localSize()))] =
              logits[i];
      });
      for (size_t i = 0; i < 4; ++i)
        EXPECT_NEAR(double(gradient[size_t(at[i][0] * stored + at[i][1])]), expected.gradients[i],
                    2e-7);
    }
}

TEST(CrossEntropy, EqualsNaiveAndItsGradientTheSlope) {
  for (const Problem &p : {Problem(7, 3, 16, 13), Problem(7, 3, 16, 13).with(0.3, 0.02)}) {
    std::vector<double> logits = p.logits(toDouble(p.x.values), toDouble(p.w.values));
    std::vector<float> given = toFloat(logits);
    for (int64_t i = 0; i < p.tokens * p.stored; ++i)
      logits[size_t(i)] = double(given[size_t(i)]);
    std::vector<double> slope =
        numericGradient([&](const std::vector<double> &at) { return p.lossOf(at); }, logits);
    for (double &value : slope)
      value = std::isnan(value) ? 0 : value * 0.5; // dloss
    for (const Cut &cut : cuts) {
      std::vector<float> gradient(given.size());
      runRanks({{"tp", cut.ranks}}, [&](Rank &rank) {
        KernelContext ctx;
        LocalDim dim{{p.stored, {cut}}, {rank.index()}};
        VocabularySlice vocabulary = p.slice(IndexMap(dim), rank);
        Owned<float> part({p.tokens, vocabulary.map.localSize()}), sums({p.tokens});
        auto place = [&](int64_t i) {
          return size_t(i / part.shape[1] * p.stored + dim.globalIndex(i % part.shape[1]));
        };
        for (int64_t i = 0; i < part.numel(); ++i)
          part[i] = given[place(i)];
        EXPECT_NEAR(crossEntropy(ctx, part, p.labels, vocabulary, p.denominator, sums),
                    p.lossOf(logits), 2e-6);
        crossEntropyGrad(ctx, 0.5f, part, p.labels, vocabulary, p.denominator, sums, part);
        for (int64_t i = 0; i < part.numel(); ++i)
          gradient[place(i)] = part[i];
      });
      expectNear(gradient, slope, 2e-6);
    }
  }
}

TEST(CrossEntropy, RefusesWhatDoesNotFit) {
  KernelContext ctx;
  Owned<float> logits({2, 5}), sums({2});
  Owned<int64_t> labels({2}), three({3});
  EXPECT_THROW(crossEntropy(ctx, logits, labels, {IndexMap(4), 4}, 1, sums), std::invalid_argument);
  EXPECT_THROW(crossEntropy(ctx, logits, labels, {IndexMap(5), 6}, 1, sums), std::invalid_argument);
  EXPECT_THROW(crossEntropy(ctx, logits, labels, {IndexMap(5), 0}, 1, sums), std::invalid_argument);
  EXPECT_THROW(crossEntropy(ctx, logits, three, {IndexMap(5), 5}, 1, sums), std::invalid_argument);
}

} // namespace
