//===- Passes.td - phase localize ------------------------------*- tablegen -*-===//

include "mlir/Pass/PassBase.td"

def Localize : Pass<"colrow-localize", "::mlir::ModuleOp"> {
  let summary = "global shapes with layouts become one rank's shapes and collectives";
  let description = [{
    Turns the program on whole tensors into the one program that every rank runs:

    - every type becomes the type of what one rank holds; no type has a layout afterwards;
    - `f` disappears; `g` becomes `comm.all_reduce`, `all_gather` and `gather` become
      `comm.all_gather`, and so on: the global types before and after are attributes;
    - operations whose meaning depends on which slice a rank holds (iota, masked lookup, dropout)
      remember the global type of what they slice in the attribute `global`;
    - attributes that count elements (the bounds of a slice) count local ones;
    - function arguments and results that had a layout have it in the attribute `colrow.global`.

    The module's grid stays. Big operations may stay too, but cannot be decomposed any more.

    Before:

    ```mlir
    module attributes {colrow.grid = #colrow.grid<tp = 2>} {
      func.func @main(%x: tensor<4x8xf32, #colrow.layout<tp = partial>>) -> tensor<4x8xf32> {
        %0 = colrow.g %x on ["tp"]
            : (tensor<4x8xf32, #colrow.layout<tp = partial>>) -> tensor<4x8xf32>
        return %0 : tensor<4x8xf32>
      }
    }
    ```

    After:

    ```mlir
    module attributes {colrow.grid = #colrow.grid<tp = 2>} {
      func.func @main(%x: tensor<4x8xf32>
          {colrow.global = tensor<4x8xf32, #colrow.layout<tp = partial>>}) -> tensor<4x8xf32> {
        %0 = colrow.comm.all_reduce %x on ["tp"]
            from tensor<4x8xf32, #colrow.layout<tp = partial>> to tensor<4x8xf32>
            : (tensor<4x8xf32>) -> tensor<4x8xf32>
        return %0 : tensor<4x8xf32>
      }
    }
    ```
  }];
}
