//===- LossOps.td - cross entropy, alone and with the product for logits *- tablegen -*-===//
//
// All of them have the vocabulary as an `inner` factor: where it is cut, the operation exchanges a
// few numbers a token by itself, never logits.
//
// Two optional terms, over the vocabulary without padding:
//
//   label_smoothing = e   (1 - e) of the label's loss and e of the mean over all classes of theirs, as
//                         torch.nn.functional.cross_entropy has it (Szegedy et al., arXiv 1512.00567)
//   z_loss = c            and c logsumexp(logits)^2 (PaLM, arXiv 2204.02311), a mean over the same tokens
//
//===----------------------------------------------------------------------===//

#ifndef COLROW_LOSSOPS_TD
#define COLROW_LOSSOPS_TD

include "dialect/OpBase.td"

def Colrow_CrossEntropyOp : Colrow_InferredOp<"cross_entropy",
    [Colrow_Decomposable, Colrow_Differentiable, Colrow_RankDependent]> {
  let summary = "sum over valid labels of logsumexp(logits) - logits[label], over a count";
  let description = [{
    logits [..., vocabulary], labels [...], count [] (labels that count in the whole step). Labels
    equal to `ignore` add nothing. The vocabulary is an `inner` factor: cut, the op reduces at most
    3 numbers a token over the ranks by itself (Megatron-LM section 3), and one more with
    `label_smoothing`. `valid` is the vocabulary without storage padding.
  }];
  let arguments = (ins AnyRankedTensor:$logits, AnyRankedTensor:$labels, AnyRankedTensor:$count,
                       I64Attr:$ignore, I64Attr:$valid, OptionalAttr<TypeAttr>:$global,
                       OptionalAttr<F64Attr>:$label_smoothing, OptionalAttr<F64Attr>:$z_loss);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{
    $logits `,` $labels `,` $count `ignore` $ignore `valid` $valid attr-dict `:`
    functional-type(operands, results)
  }];
}

def Colrow_CrossEntropyWithStatisticsOp : Colrow_InferredOp<"cross_entropy_with_statistics",
    [Colrow_Decomposable, Colrow_RankDependent]> {
  let summary = "cross_entropy that also yields what its gradient needs";
  let description = [{
    log_sum_exp [...] is the logarithm of the sum over the whole vocabulary of exp(logit).
    Differentiation puts it in the place of cross_entropy.
  }];
  let arguments = (ins AnyRankedTensor:$logits, AnyRankedTensor:$labels, AnyRankedTensor:$count,
                       I64Attr:$ignore, I64Attr:$valid, OptionalAttr<TypeAttr>:$global,
                       OptionalAttr<F64Attr>:$label_smoothing, OptionalAttr<F64Attr>:$z_loss);
  let results = (outs AnyRankedTensor:$result, AnyRankedTensor:$log_sum_exp);
  let assemblyFormat = [{
    $logits `,` $labels `,` $count `ignore` $ignore `valid` $valid attr-dict `:`
    functional-type(operands, results)
  }];
}

def Colrow_CrossEntropyGradOp : Colrow_InferredOp<"cross_entropy_grad",
    [Colrow_Decomposable, Colrow_RankDependent]> {
  let summary = "gradient of cross_entropy with respect to the logits";
  let description = [{
    (exp(logits - log_sum_exp) - onehot(label)) gradient / count; 0 for ignored labels and for
    storage padding. With the optional terms, for a vocabulary of v:
    (exp(logits - log_sum_exp) (1 + 2 c log_sum_exp) - (1 - e) onehot(label) - e / v) gradient / count.
    Communicates nothing.
  }];
  let arguments = (ins AnyRankedTensor:$gradient, AnyRankedTensor:$logits, AnyRankedTensor:$labels,
                       AnyRankedTensor:$count, AnyRankedTensor:$log_sum_exp, I64Attr:$ignore,
                       I64Attr:$valid, OptionalAttr<TypeAttr>:$global,
                       OptionalAttr<F64Attr>:$label_smoothing, OptionalAttr<F64Attr>:$z_loss);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{
    $gradient `at` $logits `,` $labels `,` $count `,` $log_sum_exp `ignore` $ignore `valid` $valid
    attr-dict `:` functional-type(operands, results)
  }];
}

def Colrow_LinearCrossEntropyOp : Colrow_InferredOp<"linear_cross_entropy",
    [Colrow_Decomposable, Colrow_Differentiable, Colrow_MatrixProduct, Colrow_RankDependent]> {
  let summary = "cross_entropy of the logits x w', without keeping them";
  let description = [{
    x [..., hidden], weight [vocabulary, hidden], labels [...], count []: the loss of
    `einsum "...h,vh->...v"` and cross_entropy. A kernel holds logits of one rank's slice of the
    vocabulary, for some tokens at a time.
  }];
  let arguments = (ins AnyRankedTensor:$input, AnyRankedTensor:$weight, AnyRankedTensor:$labels,
                       AnyRankedTensor:$count, I64Attr:$ignore, I64Attr:$valid,
                       OptionalAttr<TypeAttr>:$global, OptionalAttr<F64Attr>:$label_smoothing,
                       OptionalAttr<F64Attr>:$z_loss);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{
    $input `,` $weight `,` $labels `,` $count `ignore` $ignore `valid` $valid attr-dict `:`
    functional-type(operands, results)
  }];
}

def Colrow_LinearCrossEntropyWithGradOp : Colrow_InferredOp<"linear_cross_entropy_with_grad",
    [Colrow_Decomposable, Colrow_MatrixProduct, Colrow_RankDependent]> {
  let summary = "the loss and, from the same logits, its gradients by input and weight";
  let description = [{
    Differentiation puts it in the place of linear_cross_entropy, so that there is one product for
    the logits, not two. The gradient of the input is a partial sum over a cut vocabulary: it leaves
    the op before it is reduced (`partialResults`).
  }];
  let arguments = (ins AnyRankedTensor:$input, AnyRankedTensor:$weight, AnyRankedTensor:$labels,
                       AnyRankedTensor:$count, I64Attr:$ignore, I64Attr:$valid,
                       OptionalAttr<TypeAttr>:$global, OptionalAttr<F64Attr>:$label_smoothing,
                       OptionalAttr<F64Attr>:$z_loss);
  let results = (outs AnyRankedTensor:$result, AnyRankedTensor:$input_gradient,
                      AnyRankedTensor:$weight_gradient);
  let assemblyFormat = [{
    $input `,` $weight `,` $labels `,` $count `ignore` $ignore `valid` $valid attr-dict `:`
    functional-type(operands, results)
  }];
}

#endif // COLROW_LOSSOPS_TD
