//===- Attention.cpp - scaled dot product attention -----------------------===//
//
// One head at a time. With P the probabilities, M the dropout mask (0 or 1 / (1 - rate)), and dO
// the gradient of the result:
//
//   dV = (P M)' dO      dP = (dO V') M      dS = P (dP - rowsum(P dP)) scale
//   dQ = dS K           dK = dS' Q
//
//===----------------------------------------------------------------------===//
#include "colrow/KernelsAttention.h"

#include "colrow/KernelsEinsum.h"

#include "ContextImpl.h"
#include "DropoutRuns.h"
#include "Rows.h"
#include "Strided.h"

#include <algorithm>
#include <optional>

namespace colrow {
namespace {

/// The matrix of one batch element and head.
template <typename T> View<T> headOf(const View<T> &tensor, int64_t batch, int64_t head) {
  return {tensor.data + batch * tensor.strides[0] + head * tensor.strides[1],
          {tensor.shape[2], tensor.shape[3]},
          {tensor.strides[2], tensor.strides[3]}};
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
    require(form.probabilities.localShape() == scores, kernel,
            "expects slices of the probabilities where there is dropout");
    dropout.emplace(form.dropout, form.probabilities.globalShape().numel());
  }

  int64_t groupOf(int64_t head) const { return head / (heads / groups); }
  bool isFirstOfGroup(int64_t head) const { return head % (heads / groups) == 0; }

  /// How many keys a query sees.
  int64_t visible(int64_t query) const {
    return form.causal ? std::clamp(query + form.queryOffset + 1, int64_t(0), keys) : keys;
  }

  /// From products of a query and its keys to what the softmax takes.
  void score(int64_t batch, int64_t head, int64_t query, float *row, int64_t count) const {
    for (int64_t j = 0; j < count; ++j)
      row[j] *= form.scale;
    if (!form.mask)
      return;
    const float *mask =
        form.mask.data + batch * maskStrides[0] + head * maskStrides[1] + query * maskStrides[2];
    for (int64_t j = 0; j < count; ++j)
      row[j] += mask[j * maskStrides[3]];
  }

  bool drops() const { return dropout.has_value(); }

  /// Drops from a row of probabilities, or of their gradients.
  void drop(int64_t batch, int64_t head, int64_t query, const float *in, float *result) const {
    const std::vector<IndexMap> &dims = form.probabilities.dims;
    int64_t row = (dims[0].globalIndex(batch) * dims[1].globalSize() + dims[1].globalIndex(head)) *
                      dims[2].globalSize() +
                  dims[2].globalIndex(query);
    for (const IndexMap::Run &run : dims[3].runs())
      dropout->apply(in + run.local, result + run.local, row * dims[3].globalSize() + run.global,
                     run.length);
  }

  int64_t batches, heads, queries, groups, keys;

private:
  const AttentionForm &form;
  Strides maskStrides;
  std::optional<DropoutRuns> dropout;
};

} // namespace

void attention(KernelContext &ctx, const ConstTensor &q, const ConstTensor &k, const ConstTensor &v,
               const AttentionForm &form, const Tensor &out, const Tensor &logSumExp) {
  Heads shape("attention", q, k, v, out, logSumExp, form);
  Scratch scratch(ctx);
  Tensor p(scratch.get<float>(shape.queries * shape.keys), {shape.queries, shape.keys});
  for (int64_t batch = 0; batch < shape.batches; ++batch)
    for (int64_t head = 0; head < shape.heads; ++head) {
      int64_t group = shape.groupOf(head);
      einsum(ctx, "sd,td->st", headOf(q, batch, head), headOf(k, batch, group), p);
      float *sums = logSumExp.data + (batch * shape.heads + head) * shape.queries;
      for (int64_t query = 0; query < shape.queries; ++query) {
        float *row = p.data + query * shape.keys;
        int64_t count = shape.visible(query);
        shape.score(batch, head, query, row, count);
        float most = maxOf(row, count);
        double sum = expOfDifference(row, count, most);
        float factor = float(1 / sum);
        sums[query] = most + float(std::log(sum));
        for (int64_t j = 0; j < count; ++j)
          row[j] *= factor;
        for (int64_t j = count; j < shape.keys; ++j)
          row[j] = count > 0 ? 0 : std::numeric_limits<float>::quiet_NaN();
        if (shape.drops())
          shape.drop(batch, head, query, row, row);
      }
      einsum(ctx, "st,te->se", p, headOf(v, batch, group), headOf(out, batch, head));
    }
}

void attentionGrad(KernelContext &ctx, const ConstTensor &dout, const ConstTensor &q,
                   const ConstTensor &k, const ConstTensor &v, const ConstTensor &logSumExp,
                   const AttentionForm &form, const Tensor &dq, const Tensor &dk,
                   const Tensor &dv) {
  Heads shape("attentionGrad", q, k, v, dout, logSumExp, form);
  require(dq.shape == q.shape && dk.shape == k.shape && dv.shape == v.shape, "attentionGrad",
          "expects gradients of the shapes of their operands");
  Scratch scratch(ctx);
  auto matrix = [&] {
    return Tensor(scratch.get<float>(shape.queries * shape.keys), {shape.queries, shape.keys});
  };
  Tensor p = matrix(), ds = matrix(), dropped = shape.drops() ? matrix() : p;
  for (int64_t batch = 0; batch < shape.batches; ++batch)
    for (int64_t head = 0; head < shape.heads; ++head) {
      int64_t group = shape.groupOf(head);
      int add = !shape.isFirstOfGroup(head); // heads of a group add up in its dk and dv
      ConstTensor dOut = headOf(dout, batch, head);
      const float *sums = logSumExp.data + (batch * shape.heads + head) * shape.queries;

      einsum(ctx, "sd,td->st", headOf(q, batch, head), headOf(k, batch, group), p);
      for (int64_t query = 0; query < shape.queries; ++query) {
        float *row = p.data + query * shape.keys;
        int64_t count = shape.visible(query);
        shape.score(batch, head, query, row, count);
        // The sum is 1, but where a mask hides all keys behind a large finite number: there its
        // logarithm was lost in that number.
        float factor = float(1 / expOfDifference(row, count, sums[query]));
        for (int64_t j = 0; j < count; ++j)
          row[j] *= factor;
        for (int64_t j = count; j < shape.keys; ++j)
          row[j] = count > 0 ? 0 : std::numeric_limits<float>::quiet_NaN();
        if (shape.drops())
          shape.drop(batch, head, query, row, dropped.data + query * shape.keys);
      }
      einsum(ctx, "st,se->te", dropped, dOut, headOf(dv, batch, group), add);

      einsum(ctx, "se,te->st", dOut, headOf(v, batch, group), ds);
      for (int64_t query = 0; query < shape.queries; ++query) {
        float *row = ds.data + query * shape.keys;
        const float *probability = p.data + query * shape.keys;
        if (shape.drops())
          shape.drop(batch, head, query, row, row);
        float mean = float(dotProduct(row, probability, shape.keys));
        for (int64_t j = 0; j < shape.keys; ++j)
          row[j] = probability[j] * (row[j] - mean) * form.scale;
      }
      einsum(ctx, "st,td->sd", ds, headOf(k, batch, group), headOf(dq, batch, head));
      einsum(ctx, "st,sd->td", ds, headOf(q, batch, head), headOf(dk, batch, group), add);
    }
}

} // namespace colrow
