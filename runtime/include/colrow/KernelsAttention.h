//===- KernelsAttention.h - scaled dot product attention ------------------===//
#pragma once

#include "colrow/KernelsContext.h"
#include "colrow/KernelsDropout.h"
#include "colrow/KernelsSlices.h"
#include "colrow/KernelsTensor.h"

namespace colrow {

/// What attention does between its two products.
struct AttentionForm {
  float scale = 1; ///< scores are multiplied with it

  /// Query i sees keys 0 ... i + queryOffset only. The offset is the number of keys that are before
  /// the first query: 0 if both start together.
  bool causal = false;
  int64_t queryOffset = 0;

  /// Added to the scaled scores; broadcasts to [b, h, s, t]. Absent: nothing is added.
  ConstTensor mask;

  /// Dropout of the probabilities, by their element index in the global tensor [b, h, s, t].
  /// `probabilities` says which part of that tensor this rank has; needed if the rate is not 0.
  DropoutSite dropout;
  const Slices *probabilities = nullptr;

  /// Scaled scores x become cap * tanh(x / cap), before the mask is added; 0: they stay.
  float cap = 0;
};

/// out = dropout(softmax(scale * q k' + mask)) v, for q [b, h, s, d], k [b, hk, t, d],
/// v [b, hk, t, e] and out [b, h, s, e]. Heads come in hk groups of h / hk consecutive ones that
/// share a head of k and v. `logSumExp` [b, h, s] is left for the gradient.
///
/// All of q, k, v and out may be strided: memory laid out [b, s, h, d] is given as
/// View.permuted({0, 2, 1, 3}), the query third of a fused projection as a view with its strides.
/// The probabilities of a block of one head's queries are in scratch, never more.
///
/// A query that sees nothing gives NaN, as a softmax over -infinity does.
void attention(KernelContext &ctx, const ConstTensor &q, const ConstTensor &k, const ConstTensor &v,
               const AttentionForm &form, const Tensor &out, const Tensor &logSumExp);

/// The gradient: dq, dk, dv (shapes of q, k, v, may be strided) are overwritten, and dmask (shape
/// of the mask) where it is given. Probabilities are computed again from the scores and
/// `logSumExp`, the dropped ones are the same.
void attentionGrad(KernelContext &ctx, const ConstTensor &dout, const ConstTensor &q,
                   const ConstTensor &k, const ConstTensor &v, const ConstTensor &logSumExp,
                   const AttentionForm &form, const Tensor &dq, const Tensor &dk, const Tensor &dv,
                   const Tensor &dmask = {});

} // namespace colrow
