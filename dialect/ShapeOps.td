//===- ShapeOps.td - constants, shapes, lookups ----------------*- tablegen -*-===//

#ifndef COLROW_SHAPEOPS_TD
#define COLROW_SHAPEOPS_TD

include "dialect/OpBase.td"
include "mlir/IR/BuiltinAttributeInterfaces.td"

//===----------------------------------------------------------------------===//
// Sources
//===----------------------------------------------------------------------===//

def Colrow_ConstantOp : Colrow_Op<"constant", [ConstantLike, Colrow_Localizable]> {
  let summary = "a tensor known at compile time";
  let description = [{
    Declared invariant, replicated, or (a splat only) cut; zero may be partial (L7). The value may
    be given in double precision, and is rounded to the result's where that is less; an
    interpreter in fp64 uses all of it.

    ```mlir
    %half = colrow.constant dense<0.5> : tensor<f32>
    %tenth = colrow.constant dense<0.1> : tensor<f64> as tensor<f32>
    ```
  }];
  let arguments = (ins ElementsAttr:$value);
  let results = (outs AnyRankedTensor:$result);
  let hasCustomAssemblyFormat = 1;
  let hasFolder = 1;
  let hasVerifier = 1;
}

def Colrow_IotaOp : Colrow_Op<"iota", [Colrow_RankDependent]> {
  let summary = "each element is its index along a dimension";
  let arguments = (ins I64Attr:$dimension, OptionalAttr<TypeAttr>:$global);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$dimension attr-dict `:` type($result)";
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Shapes
//===----------------------------------------------------------------------===//

def Colrow_ReshapeOp : Colrow_Op<"reshape", [Colrow_Differentiable]> {
  let summary = "the same elements in row-major order, in another shape";
  let description = [{
    The factors are the common refinement of both shapes, which is how a cut finds its way between a
    fused dimension and heads:

    ```mlir
    %h = colrow.reshape %q
        : (tensor<2x8x64xf32, #colrow.layout<tp = shard<2, unit = 16>>>)
        -> tensor<2x8x4x16xf32, #colrow.layout<tp = shard<2>>>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$input);
  let results = (outs AnyRankedTensor:$result);
  let hasVerifier = 1;
  let assemblyFormat = "$input attr-dict `:` functional-type(operands, results)";
}

def Colrow_TransposeOp : Colrow_InferredOp<"transpose", [Colrow_Differentiable]> {
  let summary = "dimension i of the result is dimension permutation[i] of the input";
  let arguments = (ins AnyRankedTensor:$input, DenseI64ArrayAttr:$permutation);
  let results = (outs AnyRankedTensor:$result);
  let hasVerifier = 1;
  let assemblyFormat = "$input $permutation attr-dict `:` functional-type(operands, results)";
}

def Colrow_BroadcastOp : Colrow_Op<"broadcast", [Colrow_Differentiable]> {
  let summary = "numpy broadcast to the result's shape; new dimensions are the result's own";
  let arguments = (ins AnyRankedTensor:$input);
  let results = (outs AnyRankedTensor:$result);
  let hasVerifier = 1;
  let assemblyFormat = "$input attr-dict `:` functional-type(operands, results)";
}

def Colrow_SliceOp : Colrow_InferredOp<"slice", [Colrow_Differentiable, Colrow_Localizable]> {
  let summary = "elements start, start + step, ... before limit along every dimension";
  let description = [{
    Steps are positive. A slice that takes one of several equal blocks (the query third of a fused
    QKV) lets the dimension be cut inside its blocks; any other cut-down dimension must be whole.
  }];
  let arguments = (ins AnyRankedTensor:$input, DenseI64ArrayAttr:$starts,
                       DenseI64ArrayAttr:$limits, DenseI64ArrayAttr:$steps);
  let results = (outs AnyRankedTensor:$result);
  let hasVerifier = 1;
  let assemblyFormat = [{
    $input `from` $starts `to` $limits `step` $steps attr-dict `:`
    functional-type(operands, results)
  }];
}

def Colrow_PadOp : Colrow_InferredOp<"pad", [Colrow_Differentiable, Colrow_Localizable]> {
  let summary = "elements of a constant value before, behind and (steps) between";
  let description = [{
    `steps[d] - 1` elements between neighbours, then `low[d]` before and `high[d]` behind: with value
    0 it is the transpose of slice. Linear where the value is 0.
  }];
  let arguments = (ins AnyRankedTensor:$input, DenseI64ArrayAttr:$low, DenseI64ArrayAttr:$high,
                       DenseI64ArrayAttr:$steps, F64Attr:$value);
  let results = (outs AnyRankedTensor:$result);
  let hasVerifier = 1;
  let assemblyFormat = [{
    $input `low` $low `high` $high `step` $steps `value` $value attr-dict `:`
    functional-type(operands, results)
  }];
}

def Colrow_ConcatOp : Colrow_InferredOp<"concat", [Colrow_Differentiable]> {
  let summary = "tensors one behind the other along a dimension";
  let arguments = (ins Variadic<AnyRankedTensor>:$inputs, I64Attr:$dimension);
  let results = (outs AnyRankedTensor:$result);
  let hasVerifier = 1;
  let assemblyFormat = [{
    $inputs `along` $dimension attr-dict `:` functional-type(operands, results)
  }];
}

//===----------------------------------------------------------------------===//
// Lookups
//===----------------------------------------------------------------------===//

def Colrow_TakeOp : Colrow_InferredOp<"take",
    [Colrow_RankDependent, Colrow_Differentiable]> {
  let summary = "lookup of slices along an axis of a table, as numpy.take";
  let description = [{
    Ids count from 0. Where the looked-up axis is cut, a rank yields zeros for ids outside its
    slice, so the result is the sum over the ranks (the masked lookup of a vocabulary-parallel
    embedding, Megatron-LM section 3).
  }];
  let arguments = (ins AnyRankedTensor:$table, AnyRankedTensor:$ids, I64Attr:$axis,
                       OptionalAttr<TypeAttr>:$global);
  let results = (outs AnyRankedTensor:$result);
  let hasVerifier = 1;
  let assemblyFormat = [{
    $table `at` $ids `along` $axis attr-dict `:` functional-type(operands, results)
  }];
}

def Colrow_TakeGradOp : Colrow_Op<"take_grad", [Colrow_RankDependent]> {
  let summary = "sums gradients of looked-up slices into a table of zeros: transpose of take";
  let arguments = (ins AnyRankedTensor:$ids, AnyRankedTensor:$gradient, I64Attr:$axis,
                       OptionalAttr<TypeAttr>:$global);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{
    $gradient `at` $ids `along` $axis attr-dict `:` functional-type(operands, results)
  }];
}

def Colrow_TakeAlongOp
    : Colrow_InferredOp<"take_along", [Colrow_RankDependent, Colrow_Differentiable]> {
  let summary = "lookup of single elements along an axis, as numpy.take_along_axis";
  let description = [{
    Indices count from 0; the other dimensions agree. Masked like take where the axis is cut.
  }];
  let arguments = (ins AnyRankedTensor:$input, AnyRankedTensor:$indices, I64Attr:$axis,
                       OptionalAttr<TypeAttr>:$global);
  let results = (outs AnyRankedTensor:$result);
  let hasVerifier = 1;
  let assemblyFormat = [{
    $input `at` $indices `along` $axis attr-dict `:` functional-type(operands, results)
  }];
}

def Colrow_TakeAlongGradOp
    : Colrow_Op<"take_along_grad", [Colrow_RankDependent]> {
  let summary = "transpose of take_along: sums gradients into a tensor of zeros";
  let arguments = (ins AnyRankedTensor:$indices, AnyRankedTensor:$gradient, I64Attr:$axis,
                       OptionalAttr<TypeAttr>:$global);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{
    $gradient `at` $indices `along` $axis attr-dict `:` functional-type(operands, results)
  }];
}

def Colrow_MaskPaddingOp
    : Colrow_InferredOp<"mask_padding", [Colrow_RankDependent, Colrow_Differentiable]> {
  let summary = "replaces the elements at index `valid` and above along a dimension by a value";
  let description = [{
    What keeps storage padding (a vocabulary rounded up to a multiple of 128 tp) out of reductions:
    -inf before a maximum or softmax, 0 before a sum. Indices are global.
  }];
  let arguments = (ins AnyRankedTensor:$input, I64Attr:$dimension, I64Attr:$valid, F64Attr:$value,
                       OptionalAttr<TypeAttr>:$global);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{
    $input `along` $dimension `valid` $valid `value` $value attr-dict `:`
    functional-type(operands, results)
  }];
}

#endif // COLROW_SHAPEOPS_TD
