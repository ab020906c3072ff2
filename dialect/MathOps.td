//===- MathOps.td - elementwise operations, reductions, products *- tablegen -*-===//

#ifndef COLROW_MATHOPS_TD
#define COLROW_MATHOPS_TD

include "dialect/OpBase.td"
include "mlir/IR/EnumAttr.td"

//===----------------------------------------------------------------------===//
// Elementwise, with numpy broadcasting
//===----------------------------------------------------------------------===//

/// `linearSets` is a C++ initializer of the sets of operands the operation is jointly linear in;
/// `resultElement` the C++ expression of the result's element type, given `operands`.
class Colrow_Elementwise<string mnemonic, string linearSets, string resultElement,
                         list<Trait> traits = []>
    : Colrow_InferredOp<mnemonic, [Colrow_NumpyElementwise] # traits> {
  let results = (outs AnyRankedTensor:$result);
  let extraClassDefinition = compatible # [{
    ::llvm::LogicalResult $cppClass::inferReturnTypes(::mlir::MLIRContext *context,
        std::optional<::mlir::Location> location, Adaptor adaptor,
        ::llvm::SmallVectorImpl<::mlir::Type> &types) {
      ::mlir::ValueRange operands = adaptor.getOperands();
      return ::colrow::inferElementwise(location, operands, }] # resultElement # [{, types);
    }
    ::colrow::ShardingRule $cppClass::getShardingRule() {
      return ::colrow::elementwiseRule(getOperation(), }] # linearSets # [{);
    }
  }];
}

defvar sameElement = "::mlir::getElementTypeOrSelf(operands.back())";
defvar boolElement = "::mlir::IntegerType::get(context, 1)";

class Colrow_Unary<string mnemonic, string text, string linearSets = "{}",
                   string element = sameElement, list<Trait> traits = []>
    : Colrow_Elementwise<mnemonic, linearSets, element, traits> {
  let summary = text;
  let arguments = (ins AnyRankedTensor:$input);
  let assemblyFormat = "$input attr-dict `:` functional-type(operands, results)";
}

class Colrow_Binary<string mnemonic, string text, string linearSets = "{}",
                    string element = sameElement, list<Trait> traits = []>
    : Colrow_Elementwise<mnemonic, linearSets, element, traits> {
  let summary = text;
  let arguments = (ins AnyRankedTensor:$lhs, AnyRankedTensor:$rhs);
  let assemblyFormat = "$lhs `,` $rhs attr-dict `:` functional-type(operands, results)";
}

class Colrow_DifferentiableUnary<string mnemonic, string text, string linearSets = "{}">
    : Colrow_Unary<mnemonic, text, linearSets, sameElement, [Colrow_Differentiable]>;
class Colrow_DifferentiableBinary<string mnemonic, string text, string linearSets = "{}">
    : Colrow_Binary<mnemonic, text, linearSets, sameElement, [Colrow_Differentiable]>;

def Colrow_NegOp : Colrow_DifferentiableUnary<"neg", "-x", "{{0}}">;
def Colrow_AbsOp : Colrow_DifferentiableUnary<"abs", "absolute value; the gradient at 0 is 0">;
def Colrow_ExpOp : Colrow_DifferentiableUnary<"exp", "e to the x">;
def Colrow_LogOp : Colrow_DifferentiableUnary<"log", "natural logarithm">;
def Colrow_SqrtOp : Colrow_DifferentiableUnary<"sqrt", "square root">;
def Colrow_ReciprocalOp : Colrow_DifferentiableUnary<"reciprocal", "1 / x">;
def Colrow_TanhOp : Colrow_DifferentiableUnary<"tanh", "hyperbolic tangent">;
def Colrow_ErfOp : Colrow_DifferentiableUnary<"erf", "error function">;
def Colrow_SinOp : Colrow_DifferentiableUnary<"sin", "sine, of radians">;
def Colrow_CosOp : Colrow_DifferentiableUnary<"cos", "cosine, of radians">;
def Colrow_SigmoidOp : Colrow_DifferentiableUnary<"sigmoid", "1 / (1 + exp(-x))">;
def Colrow_FloorOp : Colrow_Unary<"floor", "round down; no gradient", traits = [Colrow_NoGradient]>;
def Colrow_CeilOp : Colrow_Unary<"ceil", "round up; no gradient", traits = [Colrow_NoGradient]>;
def Colrow_RoundOp : Colrow_Unary<"round", "round to nearest, ties to even; no gradient",
                                   traits = [Colrow_NoGradient]>;
def Colrow_SignOp : Colrow_Unary<"sign", "-1, 0 or 1; no gradient", traits = [Colrow_NoGradient]>;
def Colrow_NotOp : Colrow_Unary<"not", "logical negation of booleans">;
def Colrow_IsNanOp : Colrow_Unary<"isnan", "whether x is not a number", "{}", boolElement>;
def Colrow_StopGradientOp
    : Colrow_Unary<"stop_gradient", "x itself, as a constant for differentiation", "{{0}}",
                   traits = [Colrow_NoGradient]>;

def Colrow_AddOp : Colrow_DifferentiableBinary<"add", "x + y", "{{0, 1}}">;
def Colrow_SubOp : Colrow_DifferentiableBinary<"sub", "x - y", "{{0, 1}}">;
def Colrow_MulOp : Colrow_DifferentiableBinary<"mul", "x * y", "{{0}, {1}}">;
def Colrow_DivOp
    : Colrow_DifferentiableBinary<"div", "x / y; of integers truncated toward zero", "{{0}}">;
def Colrow_PowOp : Colrow_Binary<"pow", "x to the y, of the type of x", "{}",
                                 "::mlir::getElementTypeOrSelf(operands.front())",
                                 [Colrow_Differentiable]>;
def Colrow_MaxOp : Colrow_DifferentiableBinary<"max", "the larger; equal ones share the gradient">;
def Colrow_MinOp : Colrow_DifferentiableBinary<"min", "the smaller; equal ones share the gradient">;
def Colrow_ModOp : Colrow_Binary<"mod", "remainder; the sign is y's, or x's with `fmod`",
                                 traits = [Colrow_Differentiable]> {
  let arguments = (ins AnyRankedTensor:$lhs, AnyRankedTensor:$rhs, UnitAttr:$fmod);
}
def Colrow_AndOp : Colrow_Binary<"and", "logical and of booleans">;
def Colrow_OrOp : Colrow_Binary<"or", "logical or of booleans">;
def Colrow_XorOp : Colrow_Binary<"xor", "exclusive or of booleans">;

def Colrow_Predicate : I32EnumAttr<"Predicate", "how compare compares", [
    I32EnumAttrCase<"eq", 0>, I32EnumAttrCase<"ne", 1>, I32EnumAttrCase<"lt", 2>,
    I32EnumAttrCase<"le", 3>, I32EnumAttrCase<"gt", 4>, I32EnumAttrCase<"ge", 5>]> {
  let cppNamespace = "::colrow";
}

def Colrow_CompareOp : Colrow_Elementwise<"compare", "{}", boolElement> {
  let summary = "elementwise comparison";
  let description = [{
    ```mlir
    %visible = colrow.compare le %keys, %queries
        : (tensor<1x8xi64>, tensor<8x1xi64>) -> tensor<8x8xi1>
    ```
  }];
  let arguments = (ins Colrow_Predicate:$predicate, AnyRankedTensor:$lhs, AnyRankedTensor:$rhs);
  let assemblyFormat =
      "$predicate $lhs `,` $rhs attr-dict `:` functional-type(operands, results)";
}

def Colrow_SelectOp : Colrow_Elementwise<"select", "{{1, 2}}", sameElement,
                                         [Colrow_Differentiable]> {
  let summary = "on_true where the condition holds, else on_false";
  let description = [{
    The gradient is a select with zeros, so a value that is not selected has gradient 0 even where
    it is infinite or not a number.
  }];
  let arguments = (ins AnyRankedTensor:$condition, AnyRankedTensor:$on_true,
                       AnyRankedTensor:$on_false);
  let assemblyFormat = [{
    $condition `,` $on_true `,` $on_false attr-dict `:` functional-type(operands, results)
  }];
}

def Colrow_CastOp : Colrow_Op<"cast", [Colrow_Differentiable, Colrow_NumpyElementwise]> {
  let summary = "conversion of the element type";
  let description = [{
    From floating point to integer toward zero; to boolean: whether it is not 0. Between floating
    types it is linear and differentiable.
  }];
  let arguments = (ins AnyRankedTensor:$input);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$input attr-dict `:` functional-type(operands, results)";
}

//===----------------------------------------------------------------------===//
// Reductions
//===----------------------------------------------------------------------===//

class Colrow_Reduce<string mnemonic, string text, list<Trait> traits = []>
    : Colrow_InferredOp<mnemonic, traits> {
  let summary = text;
  let arguments = (ins AnyRankedTensor:$input, DenseI64ArrayAttr:$axes, UnitAttr:$keepdims);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{
    $input `over` $axes (`keepdims` $keepdims^)? attr-dict `:` functional-type(operands, results)
  }];
  let extraClassDefinition = compatible # [{
    ::llvm::LogicalResult $cppClass::inferReturnTypes(::mlir::MLIRContext *context,
        std::optional<::mlir::Location> location, Adaptor adaptor,
        ::llvm::SmallVectorImpl<::mlir::Type> &types) {
      return ::colrow::inferReduce(location, adaptor.getInput().getType(), adaptor.getAxes(),
                                   adaptor.getKeepdims(), types);
    }
  }];
}

def Colrow_ReduceSumOp : Colrow_Reduce<"reduce_sum", "sum over axes", [Colrow_Differentiable]> {
  let description = [{
    ```mlir
    %y = colrow.reduce_sum %x over [0, 1] : (tensor<2x8x64xf32>) -> tensor<64xf32>
    ```
  }];
}
def Colrow_ReduceMaxOp : Colrow_Reduce<"reduce_max", "maximum over axes", [Colrow_Differentiable]> {
  let description = [{
    Over a cut dimension the result is `partial<max>` (L8), which has no gradient. Otherwise equal
    maxima share the gradient.
  }];
}
def Colrow_ReduceMinOp : Colrow_Reduce<"reduce_min", "minimum over axes", [Colrow_Differentiable]> {
  let description = "Equal minima share the gradient. The reduced dimensions must be whole.";
}
def Colrow_ReduceProdOp : Colrow_Reduce<"reduce_prod", "product over axes"> {
  let description = "No gradient. The reduced dimensions must be whole.";
}

def Colrow_CumSumOp : Colrow_InferredOp<"cumsum", [Colrow_Differentiable]> {
  let summary = "running sum along an axis, which must be whole";
  let arguments = (ins AnyRankedTensor:$input, I64Attr:$axis, UnitAttr:$exclusive,
                       UnitAttr:$reverse);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{
    $input `along` $axis (`exclusive` $exclusive^)? (`reverse` $reverse^)? attr-dict `:`
    functional-type(operands, results)
  }];
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

def Colrow_EinsumOp
    : Colrow_InferredOp<"einsum", [Colrow_Differentiable, Colrow_MatrixProduct]> {
  let summary = "product of two tensors, summed over the letters the result lacks";
  let description = [{
    A letter names a dimension; each occurs in at least two of lhs, rhs and result, at most once in
    each. Letters are the factors of the sharding rule, and the gradient is the same operation with
    the letters permuted.

    ```mlir
    %y = colrow.einsum "ti,io->to" %x, %w
        : (tensor<64x768xf32>, tensor<768x3072xf32>) -> tensor<64x3072xf32>
    ```
  }];
  let arguments = (ins StrAttr:$equation, AnyRankedTensor:$lhs, AnyRankedTensor:$rhs);
  let results = (outs AnyRankedTensor:$result);
  let hasVerifier = 1;
  let assemblyFormat = [{
    $equation $lhs `,` $rhs attr-dict `:` functional-type(operands, results)
  }];
  let extraClassDeclaration = [{
    /// The letters of lhs, rhs and result.
    ::llvm::StringRef lhsLetters();
    ::llvm::StringRef rhsLetters();
    ::llvm::StringRef resultLetters();
  }];
}

#endif // COLROW_MATHOPS_TD
