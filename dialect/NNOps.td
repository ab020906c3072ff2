//===- NNOps.td - operations of neural networks, with decompositions *- tablegen -*-===//
//
// A big operation has a decomposition into primitive ones, which says what it means. Its gradient
// is a big operation too, so that one kernel computes it; those end in _grad and take the gradient
// of the result first.
//
//===----------------------------------------------------------------------===//

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

def Colrow_GeluOp : Colrow_Elementwise<"gelu", "{}", sameElement,
    [Colrow_Decomposable, Colrow_Differentiable]> {
  let summary = "Gaussian error linear unit";
  let description = [{
    `erf`: x/2 (1 + erf(x / sqrt 2)); `tanh`: x/2 (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3)))
    (Hendrycks and Gimpel, arXiv 1606.08415, section 2).
  }];
  let arguments = (ins Colrow_GeluForm:$form, AnyRankedTensor:$input);
  let assemblyFormat = "$form $input attr-dict `:` functional-type(operands, results)";
}

def Colrow_SiluOp : Colrow_Elementwise<"silu", "{}", sameElement,
    [Colrow_Decomposable, Colrow_Differentiable]> {
  let summary = "x sigmoid(x)";
  let description = "Sigmoid-weighted linear unit (Elfwing et al., arXiv 1702.03118).";
  let arguments = (ins AnyRankedTensor:$input);
  let assemblyFormat = "$input attr-dict `:` functional-type(operands, results)";
}

def Colrow_GeluGradOp : Colrow_Elementwise<"gelu_grad", "{{0}}", sameElement,
    [Colrow_Decomposable]> {
  let summary = "gradient of gelu";
  let arguments = (ins Colrow_GeluForm:$form, AnyRankedTensor:$gradient, AnyRankedTensor:$input);
  let assemblyFormat = [{
    $form $gradient `at` $input attr-dict `:` functional-type(operands, results)
  }];
}

def Colrow_SiluGradOp : Colrow_Elementwise<"silu_grad", "{{0}}", sameElement,
    [Colrow_Decomposable]> {
  let summary = "gradient of silu";
  let arguments = (ins AnyRankedTensor:$gradient, AnyRankedTensor:$input);
  let assemblyFormat = "$gradient `at` $input attr-dict `:` functional-type(operands, results)";
}

//===----------------------------------------------------------------------===//
// Softmax and norms
//===----------------------------------------------------------------------===//

def Colrow_SoftmaxOp
    : Colrow_InferredOp<"softmax", [Colrow_Decomposable, Colrow_Differentiable]> {
  let summary = "exp(x - max) over their sum, along an axis that must be whole";
  let description = [{
    The maximum is subtracted first, so that no exponential overflows; the result does not depend on
    it, and no gradient passes through it. Every other dimension may be cut.
  }];
  let arguments = (ins AnyRankedTensor:$input, I64Attr:$axis);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$input `along` $axis attr-dict `:` functional-type(operands, results)";
}

def Colrow_SoftmaxGradOp : Colrow_InferredOp<"softmax_grad", [Colrow_Decomposable]> {
  let summary = "y (dy - sum of dy y) along the axis, with the result y of softmax";
  let arguments = (ins AnyRankedTensor:$gradient, AnyRankedTensor:$output, I64Attr:$axis);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{
    $gradient `at` $output `along` $axis attr-dict `:` functional-type(operands, results)
  }];
}

def Colrow_LayerNormOp : Colrow_InferredOp<"layer_norm",
    [AttrSizedOperandSegments, Colrow_Decomposable, Colrow_Differentiable]> {
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

def Colrow_LayerNormWithStatisticsOp : Colrow_InferredOp<"layer_norm_with_statistics",
    [AttrSizedOperandSegments, Colrow_Decomposable]> {
  let summary = "layer_norm that also yields what its gradient needs";
  let description = [{
    mean and rstd = 1 / sqrt(variance + epsilon) have the dimensions before `axis`. Differentiation
    puts it in the place of layer_norm.
  }];
  let arguments = (ins AnyRankedTensor:$input, Optional<AnyRankedTensor>:$scale,
                       Optional<AnyRankedTensor>:$bias, I64Attr:$axis, F64Attr:$epsilon);
  let results = (outs AnyRankedTensor:$result, AnyRankedTensor:$mean, AnyRankedTensor:$rstd);
  let assemblyFormat = [{
    $input (`scale` $scale^)? (`bias` $bias^)? `from` $axis `epsilon` $epsilon attr-dict `:`
    functional-type(operands, results)
  }];
}

def Colrow_LayerNormGradOp : Colrow_InferredOp<"layer_norm_grad", [Colrow_Decomposable]> {
  let summary = "gradients of layer_norm with respect to input, scale and bias";
  let description = [{
    Without a scale in layer_norm it is 1 here; gradients of an absent scale or bias have no reader.
    The dimensions before `axis` are summed over in the gradients of scale and bias.
  }];
  let arguments = (ins AnyRankedTensor:$gradient, AnyRankedTensor:$input, AnyRankedTensor:$mean,
                       AnyRankedTensor:$rstd, Optional<AnyRankedTensor>:$scale, I64Attr:$axis);
  let results = (outs AnyRankedTensor:$input_gradient, AnyRankedTensor:$scale_gradient,
                      AnyRankedTensor:$bias_gradient);
  let assemblyFormat = [{
    $gradient `at` $input `mean` $mean `rstd` $rstd (`scale` $scale^)? `from` $axis attr-dict `:`
    functional-type(operands, results)
  }];
}

def Colrow_RmsNormOp : Colrow_InferredOp<"rms_norm",
    [Colrow_Decomposable, Colrow_Differentiable]> {
  let summary = "x / sqrt(mean of squares + epsilon), times scale";
  let description = [{
    Over the dimensions from `axis` on (Zhang and Sennrich, arXiv 1910.07467, equation 4); the scale
    has their shape.

    ```mlir
    %y = colrow.rms_norm %x scale %w from 1 epsilon 1.000000e-05
        : (tensor<8x64xf32>, tensor<64xf32>) -> tensor<8x64xf32>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$input, Optional<AnyRankedTensor>:$scale, I64Attr:$axis,
                       F64Attr:$epsilon);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{
    $input (`scale` $scale^)? `from` $axis `epsilon` $epsilon attr-dict `:`
    functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

def Colrow_RmsNormWithStatisticsOp : Colrow_InferredOp<"rms_norm_with_statistics",
    [Colrow_Decomposable]> {
  let summary = "rms_norm that also yields what its gradient needs";
  let description = [{
    rstd = 1 / sqrt(mean of squares + epsilon) has the dimensions before `axis`. Differentiation
    puts it in the place of rms_norm.
  }];
  let arguments = (ins AnyRankedTensor:$input, Optional<AnyRankedTensor>:$scale, I64Attr:$axis,
                       F64Attr:$epsilon);
  let results = (outs AnyRankedTensor:$result, AnyRankedTensor:$rstd);
  let assemblyFormat = [{
    $input (`scale` $scale^)? `from` $axis `epsilon` $epsilon attr-dict `:`
    functional-type(operands, results)
  }];
}

def Colrow_RmsNormGradOp : Colrow_InferredOp<"rms_norm_grad", [Colrow_Decomposable]> {
  let summary = "gradients of rms_norm with respect to input and scale";
  let description = [{
    Without a scale in rms_norm it is 1 here; the gradient of an absent scale has no reader. The
    dimensions before `axis` are summed over in the gradient of the scale.
  }];
  let arguments = (ins AnyRankedTensor:$gradient, AnyRankedTensor:$input, AnyRankedTensor:$rstd,
                       Optional<AnyRankedTensor>:$scale, I64Attr:$axis);
  let results = (outs AnyRankedTensor:$input_gradient, AnyRankedTensor:$scale_gradient);
  let assemblyFormat = [{
    $gradient `at` $input `rstd` $rstd (`scale` $scale^)? `from` $axis attr-dict `:`
    functional-type(operands, results)
  }];
}

//===----------------------------------------------------------------------===//
// Dropout
//===----------------------------------------------------------------------===//

def Colrow_DropoutOp : Colrow_InferredOp<"dropout",
    [Colrow_RankDependent, Colrow_RandomSite, Colrow_Differentiable, Colrow_EvaluationForm]> {
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

#endif // COLROW_NNOPS_TD
