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
