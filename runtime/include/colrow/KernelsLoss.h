//===- KernelsLoss.h - cross entropy over a cut vocabulary ----------------===//
//
// Each rank has a slice of the vocabulary. What the ranks tell each other is, for each token, one
// number (the largest logit) and then two (the sum of exponentials and the label's logit): never
// logits. Every rank returns the same bits.
//
// Loss = the sum over tokens whose label is not `ignoreLabel` of logsumexp(logits) - logits[label],
// over `denominator` (the number of labels that count in the whole step). A label that is neither
// ignored nor in the vocabulary makes the loss NaN.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "colrow/KernelsContext.h"
#include "colrow/KernelsSlices.h"
#include "colrow/KernelsTensor.h"

namespace colrow {

class Communicator; // colrow/Rank.h

/// Which part of the vocabulary is here, and who has the rest.
struct VocabularySlice {
  IndexMap map;  ///< this rank's part of the stored vocabulary
  int64_t valid; ///< size of the vocabulary; stored elements from there on are padding
  Communicator *ranks = nullptr; ///< the ranks it is cut over; null if it is whole
  int64_t ignoreLabel = -100;
};

/// Cross entropy of logits [t, v] and labels [t], v being the slice's size. `logSumExp` [t], over
/// the whole vocabulary, is left for the gradient. Padding is not read.
double crossEntropy(KernelContext &ctx, const ConstTensor &logits, const Integers &labels,
                    const VocabularySlice &vocabulary, double denominator, const Tensor &logSumExp);
/// dlogits = dloss times the gradient of the loss; 0 for padding. `dlogits` may be `logits`.
void crossEntropyGrad(KernelContext &ctx, float dloss, const ConstTensor &logits,
                      const Integers &labels, const VocabularySlice &vocabulary, double denominator,
                      const ConstTensor &logSumExp, const Tensor &dlogits);

/// Bytes of logits that the functions below have in scratch at one time, at most (but always those
/// of one token).
constexpr int64_t logitBytes = int64_t(128) << 20;

/// Cross entropy of the logits x w', for x [t, h] and w [v, h] (may be strided: a weight stored
/// [h, v] is given permuted). Logits exist only for some tokens at a time.
double linearCrossEntropy(KernelContext &ctx, const ConstTensor &x, const ConstTensor &w,
                          const Integers &labels, const VocabularySlice &vocabulary,
                          double denominator, int64_t chunkBytes = logitBytes);

/// The same, and in the same visit of the logits the gradients of the loss: dx [t, h] (partial:
/// the sum over the ranks is the gradient) is overwritten, dw [v, h] (may be strided) is
/// overwritten if beta is 0 and added to if it is 1.
double linearCrossEntropyGrad(KernelContext &ctx, const ConstTensor &x, const ConstTensor &w,
                              const Integers &labels, const VocabularySlice &vocabulary,
                              double denominator, const Tensor &dx, const Tensor &dw, int beta = 0,
                              int64_t chunkBytes = logitBytes);

} // namespace colrow
