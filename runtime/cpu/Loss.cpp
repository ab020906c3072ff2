//===- Loss.cpp - cross entropy over a cut vocabulary ---------------------===//
#include "colrow/KernelsLoss.h"

#include "colrow/KernelsEinsum.h"
#include "colrow/KernelsShape.h"
#include "colrow/Profile.h"
#include "colrow/Rank.h"

#include "ContextImpl.h"
#include "Rows.h"
#include "Strided.h"

#include <algorithm>
#include <cmath>

namespace colrow {
namespace {

/// Cross entropy of a few tokens whose logits on this rank are rows of memory.
class TokenLosses {
public:
  TokenLosses(Scratch &scratch, const VocabularySlice &vocabulary, int64_t mostTokens)
      : vocabulary(vocabulary), here(vocabulary.map.countBelow(vocabulary.valid)),
        numbers(vocabulary.labelSmoothing > 0 ? 3 : 2), most(scratch.get<float>(mostTokens)),
        sums(scratch.get<float>(numbers * mostTokens)) {}

  /// Of the slice's elements the first `here` are no padding: their global indices rise.
  int64_t validHere() const { return here; }

  /// The column of this rank that a label is in; -1 if it is on another rank or ignored.
  int64_t columnOf(int64_t label) const {
    if (label == vocabulary.ignoreLabel || label >= vocabulary.valid)
      return -1;
    return vocabulary.map.localIndex(label);
  }

  /// Returns the summed losses of `tokens` rows, `stride` apart. Leaves exp(logit - largest) in
  /// rows of `exps` (which may be `logits`), `expStride` apart: 0 if they are not wanted.
  double visit(const float *logits, int64_t stride, float *exps, int64_t expStride,
               const int64_t *labels, int64_t tokens) {
    for (int64_t t = 0; t < tokens; ++t)
      most[t] = maxOf(logits + t * stride, here);
    if (vocabulary.ranks)
      vocabulary.ranks->allReduce(most, tokens, ReduceOp::max);
    for (int64_t t = 0; t < tokens; ++t) {
      const float *row = logits + t * stride;
      float *exp = exps + t * expStride;
      int64_t column = columnOf(labels[t]);
      float *sum = sums + numbers * t;
      sum[1] = column < 0 ? 0 : row[column] - most[t];
      if (numbers > 2)
        sum[2] = float(sumOf(here, [=](int64_t j) { return row[j] - most[t]; }));
      for (int64_t j = 0; j < here; ++j)
        exp[j] = row[j];
      sum[0] = float(expOfDifference(exp, here, most[t]));
    }
    if (vocabulary.ranks)
      vocabulary.ranks->allReduce(sums, numbers * tokens);
    double loss = 0;
    for (int64_t t = 0; t < tokens; ++t) {
      if (labels[t] == vocabulary.ignoreLabel)
        continue;
      bool known = labels[t] >= 0 && labels[t] < vocabulary.valid;
      loss += known ? lossOf(t) : std::numeric_limits<double>::quiet_NaN();
    }
    return loss;
  }

  double logSumExp(int64_t token) const {
    return double(most[token]) + std::log(double(sums[numbers * token]));
  }

  /// From exponentials to the gradient, in place: factor times probability (1 + 2 zLoss logsumexp), less
  /// 1 at the label, of which smoothing gives every class its share.
  void gradient(float *exps, int64_t stride, const int64_t *labels, int64_t tokens,
                double factor) const {
    for (int64_t t = 0; t < tokens; ++t) {
      float *row = exps + t * stride;
      if (labels[t] == vocabulary.ignoreLabel) {
        std::fill(row, row + here, 0.0f);
        continue;
      }
      double scale = factor / double(sums[numbers * t]);
      if (vocabulary.zLoss > 0)
        scale *= 1 + 2 * vocabulary.zLoss * logSumExp(t);
      scaleAndSubtract(row, float(scale), factor, labels[t]);
    }
  }

  /// row * scale, less `factor` at the label, of which smoothing gives every class its share.
  void scaleAndSubtract(float *row, float scale, double factor, int64_t label) const {
    double smoothing = vocabulary.labelSmoothing;
    float share = float(factor * smoothing / double(vocabulary.valid));
    for (int64_t j = 0; j < here; ++j)
      row[j] = row[j] * scale - share;
    int64_t column = columnOf(label);
    if (column >= 0)
      row[column] -= float(factor * (1 - smoothing));
  }

private:
  double lossOf(int64_t t) const {
    const float *sum = sums + numbers * t;
    double smoothing = vocabulary.labelSmoothing, log = std::log(double(sum[0]));
    double loss = log - (1 - smoothing) * double(sum[1]);
    if (numbers > 2)
      loss -= smoothing * double(sum[2]) / double(vocabulary.valid);
    if (vocabulary.zLoss > 0)
      loss += vocabulary.zLoss * logSumExp(t) * logSumExp(t);
    return loss;
  }

  const VocabularySlice &vocabulary;
  int64_t here, numbers;
  float *most, *sums; ///< for each token the largest logit; `numbers` of them: the sum of exponentials,
                      ///< the label's logit less the largest, the sum of all logits less the largest
};

void requireVocabulary(const char *kernel, const VocabularySlice &vocabulary, int64_t columns,
                       const Integers &labels, int64_t tokens) {
  require(vocabulary.map.localSize() == columns, kernel,
          "expects the slice to have the size of the vocabulary here");
  require(vocabulary.valid > 0 && vocabulary.valid <= vocabulary.map.globalSize(), kernel,
          "expects a valid size between 1 and the stored vocabulary");
  require(labels.numel() == tokens && labels.isContiguous(), kernel,
          "expects one label for each token");
}

/// Where linearCrossEntropyGrad puts its results.
struct LossGradients {
  const Tensor &dx, &dw;
  int beta;
};

/// Loss and, if wanted, gradients, in chunks of tokens. All ranks have slices of one size,
/// hence the same chunks.
double visitChunks(const char *kernel, KernelContext &ctx, const ConstTensor &x,
                   const ConstTensor &w, const Integers &labels, const VocabularySlice &vocabulary,
                   double denominator, const LossGradients *gradients, const Tensor &workspace) {
  require(x.rank() == 2 && w.rank() == 2 && x.shape[1] == w.shape[1], kernel,
          "expects x [tokens, hidden] and w [vocabulary, hidden]");
  int64_t tokens = x.shape[0], hidden = x.shape[1], columns = w.shape[0];
  requireVocabulary(kernel, vocabulary, columns, labels, tokens);
  int64_t chunk = workspace.shape[0], stride = workspace.shape[1];
  require(workspace.rank() == 2 && chunk > 0 && stride >= columns && workspace.isContiguous(),
          kernel, "expects a workspace of rows of logits");

  Scratch scratch(ctx);
  TokenLosses losses(scratch, vocabulary, chunk);
  // Rows of w that are padding take no part: as if they were not there.
  int64_t here = losses.validHere();
  float *logits = workspace.data;
  ConstTensor weight(w.data, {here, hidden}, w.strides);
  int adds = gradients ? gradients->beta : 0;
  if (gradients && !adds) {
    const Tensor &dw = gradients->dw;
    int64_t from = tokens ? here : 0; // the products write the others
    fill(ctx, 0.0f, Tensor(dw.data + from * dw.strides[0], {columns - from, hidden}, dw.strides));
  }

  double loss = 0;
  for (int64_t first = 0; first < tokens; first += chunk) {
    int64_t count = std::min(chunk, tokens - first);
    auto rows = [&](auto view) {
      view.data += first * view.strides[0];
      view.shape[0] = count;
      return view;
    };
    Tensor chunkLogits(logits, {count, here}, {stride, 1});
    einsum(ctx, "th,vh->tv", rows(x), weight, chunkLogits);
    loss += losses.visit(logits, stride, logits, stride, labels.data + first, count);
    if (!gradients)
      continue;
    const Tensor &dw = gradients->dw;
    losses.gradient(logits, stride, labels.data + first, count, 1 / denominator);
    einsum(ctx, "tv,vh->th", chunkLogits, weight, rows(gradients->dx));
    einsum(ctx, "tv,th->vh", chunkLogits, rows(x), Tensor(dw.data, {here, hidden}, dw.strides), adds);
    adds = 1;
  }
  return loss / denominator;
}

} // namespace

double crossEntropy(KernelContext &ctx, const ConstTensor &logits, const Integers &labels,
                    const VocabularySlice &vocabulary, double denominator,
                    const Tensor &logSumExp) {
  ProfileScope scope("crossEntropy", logits, labels);
  requireContiguous("crossEntropy", logits, logSumExp);
  require(logits.rank() == 2 && logSumExp.numel() == logits.shape[0], "crossEntropy",
          "expects logits [tokens, vocabulary] and one log-sum-exp for each token");
  int64_t tokens = logits.shape[0], columns = logits.shape[1];
  requireVocabulary("crossEntropy", vocabulary, columns, labels, tokens);
  Scratch scratch(ctx);
  TokenLosses losses(scratch, vocabulary, tokens);
  float *exps = scratch.get<float>(columns);
  double loss = losses.visit(logits.data, columns, exps, 0, labels.data, tokens);
  for (int64_t t = 0; t < tokens; ++t)
    logSumExp.data[t] = float(losses.logSumExp(t));
  return loss / denominator;
}

void crossEntropyGrad(KernelContext &, float dloss, const ConstTensor &logits,
                      const Integers &labels, const VocabularySlice &vocabulary, double denominator,
                      const ConstTensor &logSumExp, const Tensor &dlogits) {
  ProfileScope scope("crossEntropyGrad", logits, labels, dlogits);
  requireContiguous("crossEntropyGrad", logits, logSumExp, dlogits);
  require(logits.rank() == 2 && logSumExp.numel() == logits.shape[0] &&
              dlogits.shape == logits.shape,
          "crossEntropyGrad", "expects gradients of logits [tokens, vocabulary]");
  int64_t tokens = logits.shape[0], columns = logits.shape[1];
  requireVocabulary("crossEntropyGrad", vocabulary, columns, labels, tokens);
  int64_t here = vocabulary.map.countBelow(vocabulary.valid);
  double smoothing = vocabulary.labelSmoothing;
  float factor = float(double(dloss) / denominator);
  float share = float(double(factor) * smoothing / double(vocabulary.valid));
  for (int64_t t = 0; t < tokens; ++t) {
    const float *row = logits.data + t * columns;
    float *gradient = dlogits.data + t * columns;
    bool counts = labels.data[t] != vocabulary.ignoreLabel;
    float scale = factor * float(1 + 2 * vocabulary.zLoss * double(logSumExp.data[t]));
    for (int64_t j = 0; j < here; ++j)
      gradient[j] = counts ? math::exp(row[j] - logSumExp.data[t]) * scale - share : 0;
    std::fill(gradient + here, gradient + columns, 0.0f);
    int64_t column = counts ? vocabulary.map.localIndex(labels.data[t]) : -1;
    if (column >= 0 && column < here)
      gradient[column] -= float(double(factor) * (1 - smoothing));
  }
}

double linearCrossEntropy(KernelContext &ctx, const ConstTensor &x, const ConstTensor &w,
                          const Integers &labels, const VocabularySlice &vocabulary,
                          double denominator, const Tensor &workspace) {
  ProfileScope scope("linearCrossEntropy", x, w, labels);
  return visitChunks("linearCrossEntropy", ctx, x, w, labels, vocabulary, denominator, nullptr,
                     workspace);
}

double linearCrossEntropyGrad(KernelContext &ctx, const ConstTensor &x, const ConstTensor &w,
                              const Integers &labels, const VocabularySlice &vocabulary,
                              double denominator, const Tensor &dx, const Tensor &dw, int beta,
                              const Tensor &workspace) {
  ProfileScope scope("linearCrossEntropyGrad", x, w, labels, dx, dw);
  require(dx.shape == x.shape && dw.shape == w.shape, "linearCrossEntropyGrad",
          "expects gradients of the shapes of their operands");
  require(beta == 0 || beta == 1, "linearCrossEntropyGrad", "expects beta to be 0 or 1");
  LossGradients gradients{dx, dw, beta};
  return visitChunks("linearCrossEntropyGrad", ctx, x, w, labels, vocabulary, denominator,
                     &gradients, workspace);
}

} // namespace colrow
