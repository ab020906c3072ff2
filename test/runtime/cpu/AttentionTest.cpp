#include "colrow/KernelsAttention.h"

#include "KernelTest.h"
#include "colrow/Philox.h"

using namespace colrow;

namespace {

struct Sizes {
  int64_t b, h, hk, s, t, d, e;
};

/// What the reference is a function of, all in double: q, k, v and what is fixed.
struct Reference {
  Sizes n;
  double scale = 1;
  bool causal = false;
  int64_t offset = 0;
  std::vector<double> mask = {};    ///< [b, h, s, t], or empty
  std::vector<double> dropout = {}; ///< factors of the probabilities, or empty
  double cap = 0;

  std::vector<double> operator()(const std::vector<double> &q, const std::vector<double> &k,
                                 const std::vector<double> &v) const {
    std::vector<double> out(size_t(n.b * n.h * n.s * n.e));
    for (int64_t row = 0; row < n.b * n.h * n.s; ++row) {
      int64_t b = row / (n.h * n.s), h = row / n.s % n.h, i = row % n.s;
      int64_t group = b * n.hk + h / (n.h / n.hk);
      std::vector<double> p(size_t(n.t));
      double most = -INFINITY, sum = 0;
      for (int64_t j = 0; j < n.t; ++j) {
        double score = 0;
        for (int64_t c = 0; c < n.d; ++c)
          score += q[size_t(row * n.d + c)] * k[size_t((group * n.t + j) * n.d + c)];
        score *= scale;
        if (cap != 0)
          score = cap * std::tanh(score / cap);
        if (!mask.empty())
          score += mask[size_t(row * n.t + j)];
        if (causal && j > i + offset)
          score = -INFINITY;
        p[size_t(j)] = score;
        most = std::max(most, score);
      }
      for (double &value : p)
        sum += value = std::exp(value - most);
      for (int64_t j = 0; j < n.t; ++j) {
        double weight = p[size_t(j)] / sum;
        if (!dropout.empty())
          weight *= dropout[size_t(row * n.t + j)];
        for (int64_t c = 0; c < n.e; ++c)
          out[size_t(row * n.e + c)] += weight * v[size_t((group * n.t + j) * n.e + c)];
      }
    }
    return out;
  }
};

struct Passes {
  Owned<float> out, logSumExp, dq, dk, dv, dmask;
};

/// Forward and backward of contiguous operands.
Passes run(const Sizes &n, const Owned<float> &q, const Owned<float> &k, const Owned<float> &v,
           const Owned<float> &dout, const AttentionForm &form) {
  KernelContext ctx;
  Passes r{Owned<float>({n.b, n.h, n.s, n.e}, NAN),
           Owned<float>({n.b, n.h, n.s}, NAN),
           Owned<float>(q.shape, NAN),
           Owned<float>(k.shape, NAN),
           Owned<float>(v.shape, NAN),
           {}};
  attention(ctx, q, k, v, form, r.out, r.logSumExp);
  if (form.mask)
    r.dmask = Owned<float>(form.mask.shape, NAN);
  attentionGrad(ctx, dout, q, k, v, r.logSumExp, form, r.dq, r.dk, r.dv,
                form.mask ? Tensor(r.dmask) : Tensor());
  return r;
}

void check(const Sizes &n, bool causal, int64_t offset, const Shape *maskShape, double rate,
           float cap = 0) {
  Owned<float> q = randomTensor({n.b, n.h, n.s, n.d}, 1),
               k = randomTensor({n.b, n.hk, n.t, n.d}, 2);
  Owned<float> v = randomTensor({n.b, n.hk, n.t, n.e}, 3),
               dout = randomTensor({n.b, n.h, n.s, n.e}, 4);
  Reference reference{n};
  AttentionForm form;
  form.scale = 1.7f;
  reference.scale = double(form.scale);
  form.cap = cap;
  reference.cap = double(cap);
  form.causal = reference.causal = causal;
  form.queryOffset = reference.offset = offset;
  Shape scores{n.b, n.h, n.s, n.t};
  Owned<float> mask;
  std::vector<size_t> repeated; // by element of the scores, that of the mask
  if (maskShape) {
    mask = randomTensor(*maskShape, 5);
    // Hide some keys, but never all of a row.
    for (int64_t i = 1; i < mask.numel(); i += 3)
      if (i % n.t != 0)
        mask[i] = -INFINITY;
    form.mask = mask;
    for (const auto &index : allIndices(scores)) {
      std::vector<int64_t> from(index.end() - maskShape->rank(), index.end());
      for (int i = 0; i < maskShape->rank(); ++i)
        if ((*maskShape)[i] == 1)
          from[size_t(i)] = 0;
      repeated.push_back(size_t(positionOf(from, *maskShape)));
      reference.mask.push_back(double(mask[int64_t(repeated.back())]));
    }
  }
  Slices slices = Slices::whole(scores);
  if (rate > 0) {
    form.dropout = {77, 3, 99, 2, rate};
    form.probabilities = &slices;
    for (int64_t i = 0; i < scores.numel(); ++i)
      reference.dropout.push_back(
          dropoutKeeps(77, 3, 99, uint64_t(2 * scores.numel() + i), rate) ? 1 / (1 - rate) : 0);
  }

  Passes r = run(n, q, k, v, dout, form);
  std::vector<double> qs = toDouble(q.values), ks = toDouble(k.values), vs = toDouble(v.values);
  std::vector<double> weight = toDouble(dout.values);
  expectNear(r.out.values, reference(qs, ks, vs), 2e-6, "out");
  auto slope = [&](std::vector<double> &operand) {
    std::vector<double> at = operand;
    std::vector<double> result = numericGradient(
        [&](const std::vector<double> &x) {
          operand = x;
          return dot(weight, reference(qs, ks, vs));
        },
        at);
    operand = at;
    return result;
  };
  expectNear(r.dq.values, slope(qs), 1e-5, "dq");
  expectNear(r.dk.values, slope(ks), 1e-5, "dk");
  expectNear(r.dv.values, slope(vs), 1e-5, "dv");
  if (!maskShape)
    return;
  std::vector<double> whole = reference.mask;
  std::vector<double> dmask = numericGradient(
      [&](const std::vector<double> &change) {
        for (size_t i = 0; i < whole.size(); ++i)
          reference.mask[i] = whole[i] + change[repeated[i]];
        return dot(weight, reference(qs, ks, vs));
      },
      std::vector<double>(size_t(mask.numel())));
  expectNear(r.dmask.values, dmask, 1e-5, "dmask");
}

TEST(Attention, EqualsNaiveAndItsGradientTheSlope) {
  const Sizes sizes[] = {{1, 1, 1, 1, 1, 1, 1},
                         {2, 3, 3, 5, 5, 4, 4},
                         {2, 4, 2, 7, 7, 8, 8},
                         {1, 6, 1, 3, 9, 5, 2},
                         {1, 2, 2, 17, 17, 9, 9}};
  for (const Sizes &n : sizes) {
    check(n, false, 0, nullptr, 0);
    check(n, true, n.t - n.s, nullptr, 0);
    check(n, true, 0, nullptr, 0);
    check(n, false, 0, nullptr, 0.4);
    const Shape masks[] = {{n.b, 1, 1, n.t}, {n.s, n.t}, {1, n.h, n.s, n.t}, {n.b, n.h, n.s, n.t}};
    for (const Shape &mask : masks)
      check(n, false, 0, &mask, 0);
    check(n, true, n.t - n.s, &masks[0], 0.25);
    check(n, true, n.t - n.s, nullptr, 0, 1.3f);
    check(n, false, 0, &masks[2], 0.25, 1.3f);
  }
}

TEST(Attention, EmptyOperands) {
  check({0, 2, 2, 3, 3, 4, 4}, true, 0, nullptr, 0);
  check({1, 0, 0, 3, 3, 4, 4}, true, 0, nullptr, 0);
  check({2, 2, 1, 0, 3, 4, 4}, false, 0, nullptr, 0.5);
}

/// Gradients of the reference, without dropout, for sizes whose slopes would take too long.
struct ReferenceGradient {
  std::vector<double> dq, dk, dv;

  ReferenceGradient(const Reference &reference, const std::vector<double> &q,
                    const std::vector<double> &k, const std::vector<double> &v,
                    const std::vector<double> &out, const std::vector<double> &dout)
      : dq(q.size()), dk(k.size()), dv(v.size()) {
    const Sizes &n = reference.n;
    for (int64_t row = 0; row < n.b * n.h * n.s; ++row) {
      int64_t group = row / (n.h * n.s) * n.hk + row / n.s % n.h / (n.h / n.hk);
      int64_t count = reference.causal ? std::min(n.t, row % n.s + reference.offset + 1) : n.t;
      const double *qRow = &q[size_t(row * n.d)], *dOut = &dout[size_t(row * n.e)];
      auto dotOf = [](const double *x, const double *y, int64_t length) {
        double sum = 0;
        for (int64_t c = 0; c < length; ++c)
          sum += x[c] * y[c];
        return sum;
      };
      double mean = dotOf(&out[size_t(row * n.e)], dOut, n.e), sum = 0;
      std::vector<double> p(size_t(std::max<int64_t>(count, 0)));
      for (int64_t j = 0; j < count; ++j)
        sum += p[size_t(j)] =
            std::exp(reference.scale * dotOf(qRow, &k[size_t((group * n.t + j) * n.d)], n.d));
      for (int64_t j = 0; j < count; ++j) {
        const size_t key = size_t((group * n.t + j) * n.d), value = size_t((group * n.t + j) * n.e);
        double probability = p[size_t(j)] / sum;
        double ds = probability * (dotOf(dOut, &v[value], n.e) - mean) * reference.scale;
        for (int64_t c = 0; c < n.d; ++c) {
          dq[size_t(row * n.d + c)] += ds * k[key + size_t(c)];
          dk[key + size_t(c)] += ds * qRow[c];
        }
        for (int64_t c = 0; c < n.e; ++c)
          dv[value + size_t(c)] += probability * dOut[c];
      }
    }
  }
};

TEST(Attention, BlocksOfQueries) {
  struct Case {
    Sizes n;
    bool causal;
    int64_t offset;
  };
  const Case cases[] = {
      {{1, 2, 1, 300, 300, 16, 12}, true, 0},  // three blocks, the last a part, two heads a group
      {{1, 1, 1, 257, 200, 16, 16}, true, 0},  // later blocks see all keys
      {{1, 1, 1, 130, 290, 16, 16}, true, 40}, // nobody sees the last keys
      {{2, 2, 2, 256, 130, 8, 8}, false, 0},
  };
  for (const Case &c : cases) {
    const Sizes &n = c.n;
    Owned<float> q = randomTensor({n.b, n.h, n.s, n.d}, 1),
                 k = randomTensor({n.b, n.hk, n.t, n.d}, 2),
                 v = randomTensor({n.b, n.hk, n.t, n.e}, 3),
                 dout = randomTensor({n.b, n.h, n.s, n.e}, 4);
    AttentionForm form;
    form.scale = 0.75f;
    form.causal = c.causal;
    form.queryOffset = c.offset;
    Passes r = run(n, q, k, v, dout, form);
    Reference reference{n, 0.75, c.causal, c.offset};
    std::vector<double> qs = toDouble(q.values), ks = toDouble(k.values), vs = toDouble(v.values);
    std::vector<double> out = reference(qs, ks, vs);
    ReferenceGradient gradient(reference, qs, ks, vs, out, toDouble(dout.values));
    expectNear(r.out.values, out, 2e-6, "out");
    expectNear(r.dq.values, gradient.dq, 1e-5, "dq");
    expectNear(r.dk.values, gradient.dk, 1e-5, "dk");
    expectNear(r.dv.values, gradient.dv, 1e-5, "dv");
  }
}

TEST(Attention, BlocksDropWhatOneMatrixWould) {
  // A mask hides what causality hides, but computes it: one long row of keys is dropped alike.
  Sizes n{1, 2, 2, 200, 200, 8, 8};
  Owned<float> q = randomTensor({n.b, n.h, n.s, n.d}, 1), k = randomTensor(q.shape, 2);
  Owned<float> v = randomTensor(q.shape, 3), dout = randomTensor(q.shape, 4);
  AttentionForm form;
  form.dropout = {1, 2, 3, 1, 0.5};
  Slices slices = Slices::whole({n.b, n.h, n.s, n.t});
  form.probabilities = &slices;
  Owned<float> mask({n.s, n.t});
  for (int64_t i = 0; i < mask.numel(); ++i)
    mask[i] = i % n.t > i / n.t ? -INFINITY : 0;
  form.mask = mask;
  Passes expected = run(n, q, k, v, dout, form);
  form.mask = {};
  form.causal = true;
  Passes r = run(n, q, k, v, dout, form);
  expectNear(r.out.values, toDouble(expected.out.values), 2e-6, "out");
  expectNear(r.dq.values, toDouble(expected.dq.values), 1e-5, "dq");
  expectNear(r.dk.values, toDouble(expected.dk.values), 1e-5, "dk");
  expectNear(r.dv.values, toDouble(expected.dv.values), 1e-5, "dv");
}

TEST(Attention, ScratchIsABlockOfOneHead) {
  Sizes n{1, 2, 2, 1024, 1024, 8, 8};
  Owned<float> q = randomTensor({n.b, n.h, n.s, n.d}, 1), out(q.shape), dq(q.shape), dk(q.shape),
               dv(q.shape), sums({n.b, n.h, n.s});
  AttentionForm form;
  form.causal = true;
  KernelContext ctx;
  attention(ctx, q, q, q, form, out, sums);
  attentionGrad(ctx, out, q, q, q, sums, form, dq, dk, dv);
  EXPECT_LE(ctx.scratchPeak(), size_t(2 * 1024 * 1024)); // the scores of one head are four
}

TEST(Attention, StridedOperands) {
  // A fused projection, [b, s, 3 h d]: nothing is transposed, and gradients go where they belong.
  Sizes n{2, 3, 3, 6, 6, 8, 8};
  int64_t width = 3 * n.h * n.d;
  Owned<float> fused = randomTensor({n.b, n.s, width}), dfused({n.b, n.s, width}, NAN);
  Owned<float> dout = randomTensor({n.b, n.s, n.h, n.e}, 9), out({n.b, n.s, n.h, n.e}, NAN);
  auto third = [&](Owned<float> &tensor, int64_t i) {
    return Tensor(tensor.values.data() + i * n.h * n.d, {n.b, n.h, n.s, n.d},
                  {n.s * width, n.d, width, 1});
  };
  auto outside = [](Owned<float> &tensor) { return tensor.view().permuted({0, 2, 1, 3}); };
  AttentionForm form;
  form.scale = 0.5f;
  form.causal = true;
  KernelContext ctx;
  Owned<float> sums({n.b, n.h, n.s});
  attention(ctx, third(fused, 0), third(fused, 1), third(fused, 2), form, outside(out), sums);
  attentionGrad(ctx, outside(dout), third(fused, 0), third(fused, 1), third(fused, 2), sums, form,
                third(dfused, 0), third(dfused, 1), third(dfused, 2));

  // The same from contiguous copies.
  auto contiguous = [&](Tensor view) {
    Owned<float> copy(view.shape);
    int64_t to = 0;
    for (const auto &i : allIndices(view.shape)) {
      int64_t at = 0;
      for (int j = 0; j < 4; ++j)
        at += i[size_t(j)] * view.strides[j];
      copy[to++] = view.data[at];
    }
    return copy;
  };
  Passes r = run(n, contiguous(third(fused, 0)), contiguous(third(fused, 1)),
                 contiguous(third(fused, 2)), contiguous(outside(dout)), form);
  expectNear(contiguous(outside(out)).values, toDouble(r.out.values), 1e-6);
  expectNear(contiguous(third(dfused, 0)).values, toDouble(r.dq.values), 2e-6);
  expectNear(contiguous(third(dfused, 1)).values, toDouble(r.dk.values), 2e-6);
  expectNear(contiguous(third(dfused, 2)).values, toDouble(r.dv.values), 2e-6);
}

/// The rank's part of [b, h, s, d], batch and heads cut.
Owned<float> partOf(const Owned<float> &whole, const IndexMap &batch, const IndexMap &heads) {
  Owned<float> part({batch.localSize(), heads.localSize(), whole.shape[2], whole.shape[3]});
  for (auto index : allIndices(part.shape)) {
    int64_t to = positionOf(index, part.shape);
    index[0] = batch.globalIndex(index[0]);
    index[1] = heads.globalIndex(index[1]);
    part[to] = whole[positionOf(index, whole.shape)];
  }
  return part;
}

TEST(Attention, DropsTheSameOnEveryGrid) {
  Sizes n{2, 4, 4, 5, 5, 8, 8};
  Owned<float> q = randomTensor({n.b, n.h, n.s, n.d}, 1), k = randomTensor(q.shape, 2);
  Owned<float> v = randomTensor(q.shape, 3), dout = randomTensor(q.shape, 4);
  AttentionForm form;
  form.causal = true;
  form.dropout = {1, 2, 3, 1, 0.5};
  Slices slices = Slices::whole({n.b, n.h, n.s, n.t});
  form.probabilities = &slices;
  Passes whole = run(n, q, k, v, dout, form);
  for (int64_t dp = 0; dp < 2; ++dp)
    for (int64_t tp = 0; tp < 2; ++tp) {
      IndexMap batch(LocalDim{{n.b, {{"dp", 2, 1, 1}}}, {dp}});
      IndexMap heads(LocalDim{{n.h, {{"tp", 2, 2, 1}}}, {tp}}); // heads tp and tp + 2
      Slices cut = {batch, heads, n.s, n.t};
      form.probabilities = &cut;
      auto part = [&](const Owned<float> &tensor) { return partOf(tensor, batch, heads); };
      Passes local = run({1, 2, 2, 5, 5, 8, 8}, part(q), part(k), part(v), part(dout), form);
      EXPECT_EQ(local.out.values, part(whole.out).values);
      EXPECT_EQ(local.dq.values, part(whole.dq).values);
      EXPECT_EQ(local.dk.values, part(whole.dk).values);
      EXPECT_EQ(local.dv.values, part(whole.dv).values);
    }
}

TEST(Attention, AQueryThatSeesNothingGivesNaN) {
  Sizes n{1, 1, 1, 2, 2, 4, 4};
  Owned<float> q = randomTensor({1, 1, 2, 4}, 1), k = randomTensor(q.shape, 2), v = k, dout = q;
  AttentionForm form;
  form.causal = true;
  form.queryOffset = -1;
  Passes r = run(n, q, k, v, dout, form);
  for (int i = 0; i < 4; ++i) {
    EXPECT_TRUE(std::isnan(r.out[i]));
    EXPECT_FALSE(std::isnan(r.out[4 + i]));
  }
}

TEST(Attention, AMaskOfOneLargeNumberChangesNothing) {
  Sizes n{1, 2, 2, 3, 5, 4, 4};
  Owned<float> q = randomTensor({1, 2, 3, 4}, 1), k = randomTensor({1, 2, 5, 4}, 2);
  Owned<float> v = randomTensor(k.shape, 3), dout = randomTensor(q.shape, 4);
  AttentionForm form;
  form.scale = 0; // else the scores are lost in the mask
  Passes expected = run(n, q, k, v, dout, form);
  Owned<float> mask({1}, -1e38f);
  form.mask = mask;
  Passes r = run(n, q, k, v, dout, form);
  expectNear(r.out.values, toDouble(expected.out.values), 1e-6, "out");
  expectNear(r.dv.values, toDouble(expected.dv.values), 1e-6, "dv");
}

TEST(Attention, RefusesWhatDoesNotFit) {
  KernelContext ctx;
  Owned<float> q({1, 3, 2, 4}), k({1, 2, 2, 4}), out({1, 3, 2, 4}), sums({1, 3, 2});
  EXPECT_THROW(attention(ctx, q, k, k, {}, out, sums), std::invalid_argument);
  AttentionForm form;
  form.dropout.rate = 0.5; // without slices
  EXPECT_THROW(attention(ctx, q, q, q, form, out, sums), std::invalid_argument);
  Owned<float> mask({3});
  form = {};
  form.mask = mask;
  EXPECT_THROW(attention(ctx, q, q, q, form, out, sums), std::invalid_argument);
}

} // namespace
