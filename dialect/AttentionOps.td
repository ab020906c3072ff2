//===- AttentionOps.td - scaled dot product attention ----------*- tablegen -*-===//
//
// One operation for what an exporter writes as a dozen: two products with scale, mask, softmax and
// dropout between them. No kernel holds the scores of more than one head at a time.
//
//===----------------------------------------------------------------------===//

#ifndef COLROW_ATTENTIONOPS_TD
#define COLROW_ATTENTIONOPS_TD

include "dialect/OpBase.td"

class Colrow_AttentionBase<string mnemonic, list<Trait> traits = []>
    : Colrow_InferredOp<mnemonic, [AttrSizedOperandSegments, Colrow_Decomposable,
                                   Colrow_MatrixProduct, Colrow_RankDependent,
                                   Colrow_RandomSite] # traits> {
  let hasVerifier = 1;
}

/// What stands between the two products.
defvar attentionForm = (ins Optional<AnyRankedTensor>:$mask, Optional<AnyRankedTensor>:$random,
                            F64Attr:$scale, OptionalAttr<F64Attr>:$cap,
                            OptionalAttr<I64Attr>:$causal,
                            OptionalAttr<F64Attr>:$rate, OptionalAttr<I64Attr>:$id,
                            OptionalAttr<TypeAttr>:$global);

def Colrow_AttentionOp : Colrow_AttentionBase<"attention",
    [Colrow_Differentiable, Colrow_EvaluationForm]> {
  let summary = "dropout(softmax(scale q k' + mask)) v, with the scores capped where asked for";
  let description = [{
    Scaled dot product attention (Vaswani et al., arXiv 1706.03762, equation 1) of query [b, h, s, d],
    key [b, hk, t, d] and value [b, hk, t, e]: a tensor [b, h, s, e]. Heads come in hk groups of h / hk
    consecutive ones, each with one head of key and value (Ainslie et al., arXiv 2305.13245).

    - `cap` bounds the scaled scores x to cap tanh(x / cap) (Gemma 2, arXiv 2408.00118, section 2).
    - `mask` is added to these. It broadcasts to [b, h, s, t]: what hides keys, slopes over the
      distance (ALiBi), or a trained bias.
    - `causal` lets query i see the keys 0 to i + `causal` only: 0 where both start together.
    - `random`, `rate` and `id` are those of `colrow.dropout`, for the probabilities [b, h, s, t]: the
      same elements are dropped on every grid, and where the probabilities were written out.

    A query that sees nothing, because of `causal` or of a mask of -inf, gives NaN as softmax does.
    Keys, and the dimension of the scores' product, must be whole; a cut of the heads cuts all
    operands along their groups.

    ```mlir
    %y = colrow.attention %q, %k, %v scale 0.25 causal 0
        : (tensor<2x4x8x16xf32>, tensor<2x4x8x16xf32>, tensor<2x4x8x16xf32>)
        -> tensor<2x4x8x16xf32>
    ```
  }];
  let arguments = !con((ins AnyRankedTensor:$query, AnyRankedTensor:$key, AnyRankedTensor:$value),
                       attentionForm);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{
    $query `,` $key `,` $value (`mask` $mask^)? (`random` $random^ `rate` $rate `id` $id)?
    `scale` $scale (`cap` $cap^)? (`causal` $causal^)? attr-dict `:`
    functional-type(operands, results)
  }];
}

def Colrow_AttentionWithStatisticsOp : Colrow_AttentionBase<"attention_with_statistics"> {
  let summary = "attention that also yields what its gradient needs";
  let description = [{
    log_sum_exp [b, h, s] is the logarithm of the sum over the keys of exp(score). Differentiation
    puts it in the place of attention.
  }];
  let arguments = !con((ins AnyRankedTensor:$query, AnyRankedTensor:$key, AnyRankedTensor:$value),
                       attentionForm);
  let results = (outs AnyRankedTensor:$result, AnyRankedTensor:$log_sum_exp);
  let assemblyFormat = [{
    $query `,` $key `,` $value (`mask` $mask^)? (`random` $random^ `rate` $rate `id` $id)?
    `scale` $scale (`cap` $cap^)? (`causal` $causal^)? attr-dict `:`
    functional-type(operands, results)
  }];
}

def Colrow_AttentionGradOp : Colrow_AttentionBase<"attention_grad"> {
  let summary = "gradients of attention by query, key, value and, where asked for, mask";
  let description = [{
    Probabilities are computed again from the scores and `log_sum_exp`; the dropped ones are the same.
    Cut queries, heads of a group and elements of the value's heads are summed over where a gradient
    lacks them, and so is what the mask repeats in its own.
  }];
  let arguments = !con((ins AnyRankedTensor:$gradient, AnyRankedTensor:$query,
                            AnyRankedTensor:$key, AnyRankedTensor:$value,
                            AnyRankedTensor:$log_sum_exp), attentionForm,
                       (ins UnitAttr:$with_mask_gradient));
  let results = (outs AnyRankedTensor:$query_gradient, AnyRankedTensor:$key_gradient,
                      AnyRankedTensor:$value_gradient, Optional<AnyRankedTensor>:$mask_gradient);
  let assemblyFormat = [{
    $gradient `at` $query `,` $key `,` $value `log_sum_exp` $log_sum_exp (`mask` $mask^)?
    (`random` $random^ `rate` $rate `id` $id)? `scale` $scale (`cap` $cap^)? (`causal` $causal^)?
    (`with_mask_gradient` $with_mask_gradient^)? attr-dict `:` functional-type(operands, results)
  }];
}

#endif // COLROW_ATTENTIONOPS_TD
