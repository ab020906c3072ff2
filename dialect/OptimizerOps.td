//===- OptimizerOps.td - gradient norm, AdamW ------------------*- tablegen -*-===//

#ifndef COLROW_OPTIMIZEROPS_TD
#define COLROW_OPTIMIZEROPS_TD

include "dialect/OpBase.td"

def Colrow_SumSquaresOp : Colrow_InferredOp<"sum_squares"> {
  let summary = "sum of the squares of all elements; of a cut tensor a partial sum";
  let arguments = (ins AnyRankedTensor:$input);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$input attr-dict `:` functional-type(operands, results)";
}

def Colrow_AdamWOp : Colrow_InferredOp<"adamw"> {
  let summary = "one AdamW update of a parameter and its two moments";
  let description = [{
    Decoupled weight decay (Loshchilov and Hutter, arXiv 1711.05101, algorithm 2), as
    torch.optim.AdamW. `scalars` [7] holds learning rate, beta1, beta2, epsilon, weight decay,
    1 - beta1^t and 1 - beta2^t; the gradient is multiplied by `clip` [] first. Decay applies only
    with `decay`.
  }];
  let arguments = (ins AnyRankedTensor:$parameter, AnyRankedTensor:$gradient,
                       AnyRankedTensor:$first, AnyRankedTensor:$second, AnyRankedTensor:$clip,
                       AnyRankedTensor:$scalars, UnitAttr:$decay);
  let results = (outs AnyRankedTensor:$new_parameter, AnyRankedTensor:$new_first,
                      AnyRankedTensor:$new_second);
  let assemblyFormat = [{
    $parameter `,` $gradient `,` $first `,` $second `clip` $clip `scalars` $scalars
    (`decay` $decay^)? attr-dict `:` functional-type(operands, results)
  }];
}

#endif // COLROW_OPTIMIZEROPS_TD
