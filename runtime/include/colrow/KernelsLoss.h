//===- KernelsLoss.h - cross entropy over a cut vocabulary ----------------===//
//
// Each rank has a slice of the vocabulary. What the ranks tell each other is, for each token, one
// number (the largest logit) and then two (the sum of exponentials and the label's logit; with label
// smoothing three, the sum of logits too): never logits. Every rank returns the same bits.
//
// Loss = the sum over tokens whose label is not `ignoreLabel` of
//
//   l - (1 - labelSmoothing) logits[label] - labelSmoothing mean(logits) + zLoss l^2,
//
// l being logsumexp(logits), over `denominator` (the number of labels that count in the whole step). A
// label that is neither ignored nor in the vocabulary makes the loss NaN.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "colrow/KernelsContext.h"
#include "colrow/KernelsSlices.h"
#include "colrow/KernelsTensor.h"

#include <algorithm>

namespace colrow {

class Communicator; // colrow/Rank.h

/// Which part of the vocabulary is here, and who has the rest.
struct VocabularySlice {
  IndexMap map;  ///< this rank's part of the stored vocabulary
  int64_t valid; ///< size of the vocabulary; stored elements from there on are padding
  Communicator *ranks = nullptr; ///< the ranks it is cut over; null if it is whole
  int64_t ignoreLabel = -100;
  double labelSmoothing = 0, zLoss = 0;
};

/// Cross entropy of logits [t, v] and labels [t], v being the slice's size. `logSumExp` [t], over
/// the whole vocabulary, is left for the gradient. Padding is not read.
double crossEntropy(KernelContext &ctx, const ConstTensor &logits, const Integers &labels,
                    const VocabularySlice &vocabulary, double denominator, const Tensor &logSumExp);
/// dlogits = dloss times the gradient of the loss; 0 for padding. `dlogits` may be `logits`.
void crossEntropyGrad(KernelContext &ctx, float dloss, const ConstTensor &logits,
                      const Integers &labels, const VocabularySlice &vocabulary, double denominator,
                      const ConstTensor &logSumExp, const Tensor &dlogits);

/// A sensible size of the workspace below: rows of logits, and elements from one to the next. Rows
/// begin at cache lines, and an odd number of lines apart, so that they do not meet in the same sets
/// of a cache: products slow down by a sixth without either. All visits have about as many rows.
inline Shape logitWorkspace(int64_t tokens, int64_t columns,
                            int64_t mostBytes = int64_t(64) << 20) {
  int64_t stride = ((columns + 15) / 16 | 1) * 16;
  tokens = std::max(tokens, int64_t(1));
  int64_t rows = std::clamp(mostBytes / (stride * int64_t(sizeof(float))), int64_t(1), tokens);
  int64_t visits = (tokens + rows - 1) / rows;
  return {(tokens + visits - 1) / visits, stride};
}

/// Cross entropy of the logits x w', for x [t, h] and w [v, h] (may be strided: a weight stored
/// [h, v] is given permuted). Logits exist only for some tokens at a time: for as many as
/// `workspace` [tokens, at least v] has rows, which all ranks must have alike.
double linearCrossEntropy(KernelContext &ctx, const ConstTensor &x, const ConstTensor &w,
                          const Integers &labels, const VocabularySlice &vocabulary,
                          double denominator, const Tensor &workspace);

/// The same, and in the same visit of the logits the gradients of the loss: dx [t, h] (partial:
/// the sum over the ranks is the gradient) is overwritten, dw [v, h] (may be strided) is
/// overwritten (beta 0) or added to (beta 1).
double linearCrossEntropyGrad(KernelContext &ctx, const ConstTensor &x, const ConstTensor &w,
                              const Integers &labels, const VocabularySlice &vocabulary,
                              double denominator, const Tensor &dx, const Tensor &dw, int beta,
                              const Tensor &workspace);

} // namespace colrow
