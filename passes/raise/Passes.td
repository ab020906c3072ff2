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
