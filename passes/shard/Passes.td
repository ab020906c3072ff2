//===- Passes.td - phase shard ---------------------------------*- tablegen -*-===//

include "mlir/Pass/PassBase.td"

def SetGrid : Pass<"colrow-set-grid", "::mlir::ModuleOp"> {
  let summary = "gives the module its grid of ranks";
  let description = [{
    Sets the module attribute `colrow.grid`. Layouts may be used from here on.

    Before `--colrow-set-grid=axes=tp=4`:

    ```mlir
    module {}
    ```

    After:

    ```mlir
    module attributes {colrow.grid = #colrow.grid<tp = 4>} {}
    ```
  }];
  let dependentDialects = ["::colrow::ColrowDialect"];
  let options = [ListOption<"axes", "axes", "std::string", "axes and their sizes, such as tp=4">];
}

def Shard : Pass<"colrow-shard", "::mlir::ModuleOp"> {
  let summary = "cuts products over an axis: column, then row (arXiv 1909.08053, section 3)";
  let description = [{
    Grows a region from every factor of every product and lookup (`passes/shard/Regions.h`), chooses
    those that divide the most product FLOPs at the fewest bytes moved, writes their layouts into
    the types and inserts f and g. Needs the grid. Afterwards every value has a layout and the
    program satisfies L1 to L8. Vocabularies are padded to a multiple of 128 times the ranks, heads
    and units to a multiple of the ranks. Where heads of keys and values are fewer than the ranks, the
    axis becomes two (`passes/shard/Factor.cpp`). Partial values are added before g where only their
    sum is read, and f stands where the gradients to reduce are smallest (`SumPartials.cpp`,
    `MoveF.cpp`). A parameter's layout may be asked for: `layout=*.c_fc.weight=shard<1>`.

    Before:

    ```mlir
    module attributes {colrow.grid = #colrow.grid<tp = 2>} {
      func.func @main(%x: tensor<8x64xf32> {colrow.role = "input", colrow.name = "x"},
                      %w: tensor<64x256xf32> {colrow.role = "parameter", colrow.name = "w"},
                      %v: tensor<256x64xf32> {colrow.role = "parameter", colrow.name = "v"})
          -> tensor<8x64xf32> {
        %0 = colrow.einsum "ti,io->to" %x, %w
            : (tensor<8x64xf32>, tensor<64x256xf32>) -> tensor<8x256xf32>
        %1 = colrow.gelu tanh %0 : (tensor<8x256xf32>) -> tensor<8x256xf32>
        %2 = colrow.einsum "ti,io->to" %1, %v
            : (tensor<8x256xf32>, tensor<256x64xf32>) -> tensor<8x64xf32>
        return %2 : tensor<8x64xf32>
      }
    }
    ```

    After, w is column-parallel and v row-parallel:

    ```
    %0 = colrow.f %x on ["tp"]
    %1 = colrow.einsum "ti,io->to" %0, %w : ... -> tensor<8x256xf32, #colrow.layout<tp = shard<1>>>
    %2 = colrow.gelu tanh %1
    %3 = colrow.einsum "ti,io->to" %2, %v : ... -> tensor<8x64xf32, #colrow.layout<tp = partial>>
    %4 = colrow.g %3 on ["tp"]
    ```
  }];
  let options = [
    Option<"axis", "axis", "std::string", "\"tp\"", "axis of the grid to cut over">,
    ListOption<"layout", "layout", "std::string",
               "cuts that must be chosen, PATTERN=shard<DIMENSION>, or never, PATTERN=whole">,
    Option<"isRequired", "require-sharded", "bool", "false",
           "an error where every rank would hold a product's weight whole">
  ];
}
