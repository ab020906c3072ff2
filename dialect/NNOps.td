//===- NNOps.td - operations of neural networks, with decompositions *- tablegen -*-===//

#ifndef COLROW_NNOPS_TD
#define COLROW_NNOPS_TD

include "dialect/MathOps.td"

def Colrow_GeluForm : I32EnumAttr<"GeluForm", "which GELU", [
    I32EnumAttrCase<"erf", 0>, I32EnumAttrCase<"tanh", 1>]> {
  let cppNamespace = "::colrow";
}

//===----------------------------------------------------------------------===//
// Activations
//===----------------------------------------------------------------------===//

def Colrow_GeluOp : Colrow_Elementwise<"gelu", "{}", sameElement, [Colrow_Decomposable]> {
  let summary = "Gaussian error linear unit";
  let description = [{
    `erf`: x/2 (1 + erf(x / sqrt 2)); `tanh`: x/2 (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3)))
    (Hendrycks and Gimpel, arXiv 1606.08415, section 2).
  }];
  let arguments = (ins Colrow_GeluForm:$form, AnyRankedTensor:$input);
  let assemblyFormat = "$form $input attr-dict `:` functional-type(operands, results)";
}

def Colrow_SiluOp : Colrow_Elementwise<"silu", "{}", sameElement, [Colrow_Decomposable]> {
  let summary = "x sigmoid(x)";
  let arguments = (ins AnyRankedTensor:$input);
  let assemblyFormat = "$input attr-dict `:` functional-type(operands, results)";
}

//===----------------------------------------------------------------------===//
// Softmax and norms
//===----------------------------------------------------------------------===//

def Colrow_SoftmaxOp
    : Colrow_InferredOp<"softmax", [Colrow_Decomposable]> {
  let summary = "exp(x - max) over their sum, along an axis that must be whole";
  let arguments = (ins AnyRankedTensor:$input, I64Attr:$axis);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$input `along` $axis attr-dict `:` functional-type(operands, results)";
}

def Colrow_LayerNormOp : Colrow_InferredOp<"layer_norm",
    [AttrSizedOperandSegments, Colrow_Decomposable]> {
  let summary = "(x - mean) / sqrt(variance + epsilon), times scale plus bias";
  let description = [{
    Over the dimensions from `axis` on (Ba et al., arXiv 1607.06450, equation 4); scale and bias
    have their shape. The variance is the mean of squared deviations.
  }];
  let arguments = (ins AnyRankedTensor:$input, Optional<AnyRankedTensor>:$scale,
                       Optional<AnyRankedTensor>:$bias, I64Attr:$axis, F64Attr:$epsilon);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{
    $input (`scale` $scale^)? (`bias` $bias^)? `from` $axis `epsilon` $epsilon attr-dict `:`
    functional-type(operands, results)
  }];
}

//===----------------------------------------------------------------------===//
// Dropout
//===----------------------------------------------------------------------===//

def Colrow_DropoutOp : Colrow_InferredOp<"dropout",
    [Colrow_RankDependent, Colrow_Differentiable, Colrow_EvaluationForm]> {
  let summary = "zeroes elements at random and scales the others by 1 / (1 - rate)";
  let description = [{
    The mask is a function of seed and step, the site's `id` (from its name) and the global
    element index: the same on every grid, and linear in the input. `random` holds
    [seed, step, microbatch, active]; where active is 0 the result is the input.
  }];
  let arguments = (ins AnyRankedTensor:$input, AnyRankedTensor:$random, F64Attr:$rate, I64Attr:$id,
                       OptionalAttr<TypeAttr>:$global);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{
    $input `random` $random `rate` $rate `id` $id attr-dict `:` functional-type(operands, results)
  }];
}

//===----------------------------------------------------------------------===//
// Loss
//===----------------------------------------------------------------------===//

def Colrow_CrossEntropyOp
    : Colrow_InferredOp<"cross_entropy", [Colrow_Decomposable]> {
  let summary = "sum over valid labels of logsumexp(logits) - logits[label], over a count";
  let description = [{
    logits [..., vocabulary], labels [...], count [] (labels that count in the whole step). Labels
    equal to `ignore` add nothing. The vocabulary is an `inner` factor: cut, the op reduces at most
    3 numbers a token over the ranks by itself (Megatron-LM section 3). `valid` is the vocabulary
    without storage padding.
  }];
  let arguments = (ins AnyRankedTensor:$logits, AnyRankedTensor:$labels, AnyRankedTensor:$count,
                       I64Attr:$ignore, I64Attr:$valid, OptionalAttr<TypeAttr>:$global);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{
    $logits `,` $labels `,` $count `ignore` $ignore `valid` $valid attr-dict `:`
    functional-type(operands, results)
  }];
}

#endif // COLROW_NNOPS_TD
