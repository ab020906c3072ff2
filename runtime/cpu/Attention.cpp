//===- Attention.cpp - scaled dot product attention -----------------------===//
//
// One head at a time, and of it one block of queries at a time against the keys that any of them
// sees: a causal mask's upper half is neither computed nor stored. With P the probabilities, M the
// dropout mask (0 or 1 / (1 - rate)), and dO the gradient of the result:
//
//   dV = (P M)' dO      dP = (dO V') M      dS = P (dP - rowsum(P dP))
//   dQ = dS K scale     dK = dS' Q scale
//
// dS is the gradient of the mask. Scores c tanh(x / c) with a cap c have the slope 1 - tanh(x /
// c)^2, which then is a factor of dQ and dK.
//
//===----------------------------------------------------------------------===//
#include "colrow/KernelsAttention.h"

#include "colrow/KernelsEinsum.h"
#include "colrow/KernelsShape.h"
#include "colrow/Math.h"
#include "colrow/Profile.h"

#include "ContextImpl.h"
#include "DropoutRuns.h"
#include "Rows.h"
#include "Strided.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

namespace colrow {
namespace {

/// Queries of a block. Large enough for products at full speed, small enough that little is
/// computed beyond the diagonal.
constexpr int64_t blockQueries = 128;

/// The probabilities of a query that sees no key.
constexpr float unseen = std::numeric_limits<float>::quiet_NaN();

/// Consecutive queries, and the keys 0 ... keys - 1 that they see.
struct Block {
  int64_t first, queries, keys;
};

/// The matrix of one batch element and head.
template <typename T> View<T> headOf(const View<T> &tensor, int64_t batch, int64_t head) {
  return {tensor.data + batch * tensor.strides[0] + head * tensor.strides[1],
          {tensor.shape[2], tensor.shape[3]},
          {tensor.strides[2], tensor.strides[3]}};
}

/// `count` rows of a matrix.
template <typename T> View<T> rowsOf(const View<T> &matrix, int64_t first, int64_t count) {
  return {matrix.data + first * matrix.strides[0], {count, matrix.shape[1]}, matrix.strides};
}

/// Zeros from row `first` of a matrix on.
void clearFrom(int64_t first, const Tensor &matrix) {
  for (int64_t i = first; i < matrix.shape[0]; ++i)
    for (int64_t j = 0; j < matrix.shape[1]; ++j)
      matrix.data[i * matrix.strides[0] + j * matrix.strides[1]] = 0;
}

/// The parts of attention that forward and backward share.
class Heads {
public:
  Heads(const char *kernel, const ConstTensor &q, const ConstTensor &k, const ConstTensor &v,
        const ConstTensor &out, const ConstTensor &logSumExp, const AttentionForm &form)
      : form(form) {
    require(q.rank() == 4 && k.rank() == 4 && v.rank() == 4 && out.rank() == 4, kernel,
            "expects operands of four dimensions");
    batches = q.shape[0], heads = q.shape[1], queries = q.shape[2];
    groups = k.shape[1], keys = k.shape[2];
    require(groups > 0 ? heads % groups == 0 : heads == 0, kernel,
            "expects kv heads to divide query heads");
    require(k.shape == Shape{batches, groups, keys, q.shape[3]} &&
                v.shape == Shape{batches, groups, keys, v.shape[3]} &&
                out.shape == Shape{batches, heads, queries, v.shape[3]},
            kernel, "expects operands and result that fit");
    require(logSumExp.shape == Shape{batches, heads, queries} && logSumExp.isContiguous(), kernel,
            "expects one contiguous log-sum-exp for each query");
    Shape scores{batches, heads, queries, keys};
    if (form.mask)
      maskStrides = broadcastStrides(kernel, form.mask.shape, form.mask.strides, scores);
    if (form.dropout.rate == 0)
      return;
    require(form.dropout.rate > 0 && form.dropout.rate <= 1, kernel,
            "expects a dropout rate between 0 and 1");
    require(form.probabilities && form.probabilities->localShape() == scores, kernel,
            "expects slices of the probabilities where there is dropout");
    dropout.emplace(form.dropout, form.probabilities->globalShape().numel());
  }

  int64_t groupOf(int64_t head) const { return head / (heads / groups); }
  bool isFirstOfGroup(int64_t head) const { return head % (heads / groups) == 0; }

  /// How many keys a query sees.
  int64_t visible(int64_t query) const {
    return form.causal ? std::clamp(query + form.queryOffset + 1, int64_t(0), keys) : keys;
  }

  int64_t blocks() const { return (queries + blockQueries - 1) / blockQueries; }

  Block block(int64_t number) const {
    int64_t first = number * blockQueries, count = std::min(blockQueries, queries - first);
    // A query that sees nothing has NaN for every key.
    bool seeSomething = visible(first) > 0;
    return {first, count, seeSomething ? visible(first + count - 1) : keys};
  }

  /// Room for the scores of the largest block.
  int64_t scores() const { return std::min(blockQueries, queries) * keys; }

  /// From products of a query and its keys to what the softmax takes. `slope` is left where there
  /// is a cap and it is not null: what a change of each product, scaled, changes of it.
  void score(int64_t batch, int64_t head, int64_t query, float *row, int64_t count,
             float *slope = nullptr) const {
    for (int64_t j = 0; j < count; ++j)
      row[j] *= form.scale;
    if (caps()) {
      for (int64_t j = 0; j < count; ++j)
        row[j] = math::tanh(row[j] / form.cap);
      for (int64_t j = 0; slope && j < count; ++j)
        slope[j] = 1 - row[j] * row[j];
      for (int64_t j = 0; j < count; ++j)
        row[j] *= form.cap;
    }
    if (!form.mask)
      return;
    const float *mask =
        form.mask.data + batch * maskStrides[0] + head * maskStrides[1] + query * maskStrides[2];
    for (int64_t j = 0; j < count; ++j)
      row[j] += mask[j * maskStrides[3]];
  }

  bool caps() const { return form.cap != 0; }
  bool drops() const { return dropout.has_value(); }

  /// Drops from the first `count` of a row of probabilities, or of their gradients.
  void drop(int64_t batch, int64_t head, int64_t query, const float *in, float *result,
            int64_t count) const {
    const std::vector<IndexMap> &dims = form.probabilities->dims;
    int64_t row = (dims[0].globalIndex(batch) * dims[1].globalSize() + dims[1].globalIndex(head)) *
                      dims[2].globalSize() +
                  dims[2].globalIndex(query);
    for (const IndexMap::Run &run : dims[3].runs())
      if (run.local < count)
        dropout->apply(in + run.local, result + run.local, row * dims[3].globalSize() + run.global,
                       std::min(run.length, count - run.local));
  }

  int64_t batches, heads, queries, groups, keys;

private:
  const AttentionForm &form;
  Strides maskStrides;
  std::optional<DropoutRuns> dropout;
};

/// The gradient of the mask, where it is wanted: sums over what the mask repeats.
class MaskGradient {
public:
  MaskGradient(KernelContext &ctx, const Heads &heads, const AttentionForm &form,
               const Tensor &result)
      : result(result) {
    if (!result)
      return;
    require(form.mask && form.mask.shape == result.shape, "attentionGrad",
            "expects the gradient of a mask that is there, and of its shape");
    strides = broadcastStrides("attentionGrad", result.shape, result.strides,
                               {heads.batches, heads.heads, heads.queries, heads.keys});
    fill(ctx, 0.0f, result);
  }

  void add(int64_t batch, int64_t head, int64_t query, const float *row, int64_t count) const {
    if (!result)
      return;
    float *sums = result.data + batch * strides[0] + head * strides[1] + query * strides[2];
    for (int64_t j = 0; j < count; ++j)
      sums[j * strides[3]] += row[j];
  }

private:
  const Tensor &result;
  Strides strides;
};

} // namespace

void attention(KernelContext &ctx, const ConstTensor &q, const ConstTensor &k, const ConstTensor &v,
               const AttentionForm &form, const Tensor &out, const Tensor &logSumExp) {
  ProfileScope scope("attention", q, k, v, out, logSumExp);
  Heads shape("attention", q, k, v, out, logSumExp, form);
  Scratch scratch(ctx);
  float *memory = scratch.get<float>(shape.scores());
  for (int64_t batch = 0; batch < shape.batches; ++batch)
    for (int64_t head = 0; head < shape.heads; ++head) {
      int64_t group = shape.groupOf(head);
      ConstTensor qs = headOf(q, batch, head), ks = headOf(k, batch, group),
                  vs = headOf(v, batch, group);
      float *sums = logSumExp.data + (batch * shape.heads + head) * shape.queries;
      for (int64_t number = 0; number < shape.blocks(); ++number) {
        Block block = shape.block(number);
        Tensor p(memory, {block.queries, block.keys});
        einsum(ctx, "sd,td->st", rowsOf(qs, block.first, block.queries), rowsOf(ks, 0, block.keys),
               p);
        for (int64_t i = 0; i < block.queries; ++i) {
          float *row = p.data + i * block.keys;
          int64_t query = block.first + i, count = shape.visible(query);
          shape.score(batch, head, query, row, count);
          float most = maxOf(row, count);
          double sum = expOfDifference(row, count, most);
          float factor = float(1 / sum);
          sums[query] = most + float(std::log(sum));
          for (int64_t j = 0; j < count; ++j)
            row[j] *= factor;
          std::fill(row + count, row + block.keys, count > 0 ? 0.0f : unseen);
          if (shape.drops())
            shape.drop(batch, head, query, row, row, block.keys);
        }
        einsum(ctx, "st,te->se", p, rowsOf(vs, 0, block.keys),
               rowsOf(headOf(out, batch, head), block.first, block.queries));
      }
    }
}

void attentionGrad(KernelContext &ctx, const ConstTensor &dout, const ConstTensor &q,
                   const ConstTensor &k, const ConstTensor &v, const ConstTensor &logSumExp,
                   const AttentionForm &form, const Tensor &dq, const Tensor &dk, const Tensor &dv,
                   const Tensor &dmask) {
  ProfileScope scope("attentionGrad", dout, q, k, v, logSumExp, dq, dk, dv, dmask);
  Heads shape("attentionGrad", q, k, v, dout, logSumExp, form);
  require(dq.shape == q.shape && dk.shape == k.shape && dv.shape == v.shape, "attentionGrad",
          "expects gradients of the shapes of their operands");
  MaskGradient maskGradient(ctx, shape, form, dmask);
  Scratch scratch(ctx);
  auto room = [&](bool wanted) { return wanted ? scratch.get<float>(shape.scores()) : nullptr; };
  float *memory[4] = {room(true), room(true), room(shape.drops()), room(shape.caps())};
  for (int64_t batch = 0; batch < shape.batches; ++batch)
    for (int64_t head = 0; head < shape.heads; ++head) {
      int64_t group = shape.groupOf(head);
      ConstTensor qs = headOf(q, batch, head), ks = headOf(k, batch, group),
                  vs = headOf(v, batch, group), douts = headOf(dout, batch, head);
      Tensor dqs = headOf(dq, batch, head), dks = headOf(dk, batch, group),
             dvs = headOf(dv, batch, group);
      const float *sums = logSumExp.data + (batch * shape.heads + head) * shape.queries;

      // Heads of a group add up in its dk and dv, and so do blocks. The last block sees most keys:
      // it comes first and writes, and what it does not see starts as 0.
      int add = !shape.isFirstOfGroup(head);
      if (!add) {
        int64_t seen = shape.blocks() > 0 ? shape.block(shape.blocks() - 1).keys : 0;
        clearFrom(seen, dks);
        clearFrom(seen, dvs);
      }
      for (int64_t number = shape.blocks(); number-- > 0; add = 1) {
        Block block = shape.block(number);
        auto ofQueries = [&](auto matrix) { return rowsOf(matrix, block.first, block.queries); };
        auto ofKeys = [&](auto matrix) { return rowsOf(matrix, 0, block.keys); };
        Shape size{block.queries, block.keys};
        Tensor p(memory[0], size), ds(memory[1], size);
        Tensor dropped = shape.drops() ? Tensor(memory[2], size) : p;

        einsum(ctx, "sd,td->st", ofQueries(qs), ofKeys(ks), p);
        for (int64_t i = 0; i < block.queries; ++i) {
          float *row = p.data + i * block.keys;
          int64_t query = block.first + i, count = shape.visible(query);
          shape.score(batch, head, query, row, count,
                      memory[3] ? memory[3] + i * block.keys : nullptr);
          // The sum is 1, but where a mask hides all keys behind a large finite number: there its
          // logarithm was lost in that number.
          float factor = float(1 / expOfDifference(row, count, sums[query]));
          for (int64_t j = 0; j < count; ++j)
            row[j] *= factor;
          std::fill(row + count, row + block.keys, count > 0 ? 0.0f : unseen);
          if (shape.drops())
            shape.drop(batch, head, query, row, dropped.data + i * block.keys, block.keys);
        }
        einsum(ctx, "st,se->te", dropped, ofQueries(douts), ofKeys(dvs), add);

        einsum(ctx, "se,te->st", ofQueries(douts), ofKeys(vs), ds);
        for (int64_t i = 0; i < block.queries; ++i) {
          float *row = ds.data + i * block.keys;
          const float *probability = p.data + i * block.keys;
          if (shape.drops())
            shape.drop(batch, head, block.first + i, row, row, block.keys);
          float mean = float(dotProduct(row, probability, block.keys));
          for (int64_t j = 0; j < block.keys; ++j)
            row[j] = probability[j] * (row[j] - mean);
          maskGradient.add(batch, head, block.first + i, row, block.keys);
          // The slope of a key that is not seen was not computed.
          for (int64_t j = 0, count = shape.visible(block.first + i); memory[3] && j < count; ++j)
            row[j] *= memory[3][i * block.keys + j];
          for (int64_t j = 0; j < block.keys; ++j)
            row[j] *= form.scale;
        }
        einsum(ctx, "st,td->sd", ds, ofKeys(ks), ofQueries(dqs));
        einsum(ctx, "st,sd->td", ds, ofQueries(qs), ofKeys(dks), add);
      }
    }
}

} // namespace colrow
