//===- Passes.td - phase raise ---------------------------------*- tablegen -*-===//

include "mlir/Pass/PassBase.td"

def Decompose : Pass<"colrow-decompose", "::mlir::ModuleOp"> {
  let summary = "replaces big operations by the primitive ones that define them";
  let description = [{
    Every operation with a decomposition (`DecomposableOpInterface`), or only those named in `ops`,
    is replaced by it, again and again until none is left. Works with and without layouts. What
    recognition would do, undone: the rest of the pipeline must work on the result all the same.

    Before `--colrow-decompose`:

    ```mlir
    func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {
      %y = colrow.silu %x : (tensor<8xf32>) -> tensor<8xf32>
      return %y : tensor<8xf32>
    }
    ```

    After:

    ```mlir
    func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {
      %s = colrow.sigmoid %x : (tensor<8xf32>) -> tensor<8xf32>
      %y = colrow.mul %x, %s : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
      return %y : tensor<8xf32>
    }
    ```
  }];
  let options = [ListOption<"ops", "ops", "std::string",
                            "names of operations, such as colrow.gelu; empty for all">];
}

def Raise : Pass<"colrow-raise", "::mlir::ModuleOp"> {
  let summary = "recognises bigger operations in the primitive ones of an exporter";
  let description = [{
    One recogniser an operation, or only those named in `only`:

    | recogniser | finds |
    |---|---|
    | `attention` | `colrow.attention`: two products with scale, mask, softmax and dropout between them |
    | `gelu` | `colrow.gelu`, by tanh or erf |
    | `layer_norm` | `colrow.layer_norm`, with scale and bias where they follow |
    | `rms_norm` | `colrow.rms_norm`, with the scale where it follows |
    | `silu` | `colrow.silu` |

    Formulas are compared as polynomials, constants but for rounding to single precision. A mask that
    follows from constants is known by its value: one that is 0 up to a diagonal and -inf, or below
    -1e9, behind it is causal, whatever computed it. Other masks are added up: constants (windows,
    ALiBi), conditions, trained biases. Transposes, reshapes there and back, scales and repeated heads
    of the operands are absorbed, and factors that are the same for all keys go to the query. What
    does not match exactly (another reader of a value in between, NaN turned into 0 where a query
    might see nothing) stays as it is and works all the same. A norm of all heads at once, which is
    taken apart into heads behind it, is given in primitive operations: they can be cut with the heads. Each find is a remark that names the user's node.

    A product and its bias are no operation of their own: where the product is row-parallel the bias
    has to move behind g, so they stay apart as einsum and add. Needs IR without a grid; run after
    `colrow-widen-constants`, so that the numbers are those which the model means.

    Before `--colrow-raise=only=gelu,silu`:

    ```mlir
    func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {
      %half = colrow.constant dense<0.5> : tensor<f32>
      %one = colrow.constant dense<1.0> : tensor<f32>
      %root = colrow.constant dense<1.41421354> : tensor<f32>
      %0 = colrow.div %x, %root : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
      %1 = colrow.erf %0 : (tensor<8xf32>) -> tensor<8xf32>
      %2 = colrow.add %1, %one : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
      %3 = colrow.mul %x, %2 : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
      %4 = colrow.mul %3, %half : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
      %5 = colrow.sigmoid %4 : (tensor<8xf32>) -> tensor<8xf32>
      %6 = colrow.mul %4, %5 : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
      return %6 : tensor<8xf32>
    }
    ```

    After:

    ```mlir
    func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {
      %0 = colrow.gelu erf %x : (tensor<8xf32>) -> tensor<8xf32>
      %1 = colrow.silu %0 : (tensor<8xf32>) -> tensor<8xf32>
      return %1 : tensor<8xf32>
    }
    ```
  }];
  let options = [ListOption<"only", "only", "std::string", "names of recognisers; empty for all">];
}

def WidenConstants : Pass<"colrow-widen-constants", "::mlir::ModuleOp"> {
  let summary = "gives back to constants what rounding to single precision took from them";
  let description = [{
    An exporter rounds the numbers of a model, such as GELU's sqrt(2 / pi), to fp32. A constant of
    one number is given in double instead where a short decimal, or the second or fourth root of a
    simple fraction, alone or of pi, rounds to it. Programs in fp32 do not change, since the double
    rounds to the same number; an interpreter in fp64 then computes what the model means, and can be
    compared with a run of it in fp64.

    Before:

    ```mlir
    func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {
      %c = colrow.constant dense<0.797884583> : tensor<f32>
      %y = colrow.mul %x, %c : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
      return %y : tensor<8xf32>
    }
    ```

    After:

    ```mlir
    func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {
      %c = colrow.constant dense<0.79788456080286541> : tensor<f64> as tensor<f32>
      %y = colrow.mul %x, %c : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
      return %y : tensor<8xf32>
    }
    ```
  }];
}

def RoundConstants : Pass<"colrow-round-constants", "::mlir::ModuleOp"> {
  let summary = "gives every constant in the precision of its type";
  let description = [{
    The inverse of `colrow-widen-constants`, and of what decompositions give in double: before
    emission, where a number in double would turn arithmetic in fp32 into one in double.

    Before:

    ```mlir
    func.func @main() -> tensor<f32> {
      %c = colrow.constant dense<0.1> : tensor<f64> as tensor<f32>
      return %c : tensor<f32>
    }
    ```

    After:

    ```mlir
    func.func @main() -> tensor<f32> {
      %c = colrow.constant dense<0.1> : tensor<f32>
      return %c : tensor<f32>
    }
    ```
  }];
}
