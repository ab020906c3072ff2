//===- Layout.td - how tensors are spread over the grid --------*- tablegen -*-===//

#ifndef COLROW_LAYOUT_TD
#define COLROW_LAYOUT_TD

include "dialect/Dialect.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/TensorEncoding.td"

def Colrow_GridAttr : AttrDef<Colrow_Dialect, "Grid"> {
  let mnemonic = "grid";
  let summary = "the grid of ranks: named axes and their sizes";
  let description = [{
    The module attribute `colrow.grid`. Ranks are numbered row-major over the axes.

    ```mlir
    module attributes {colrow.grid = #colrow.grid<dp = 2, tp = 4>} {}
    ```
  }];
  let parameters = (ins ArrayRefParameter<"::mlir::StringAttr">:$names,
                        ArrayRefParameter<"int64_t">:$sizes);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// The size of an axis, or 0 where the grid has no such axis.
    int64_t sizeOf(::llvm::StringRef axis) const;
    /// All ranks of the grid.
    int64_t numRanks() const;
  }];
}

def Colrow_LayoutAttr : AttrDef<Colrow_Dialect, "Layout",
    [DeclareAttrInterfaceMethods<VerifiableTensorEncoding>]> {
  let mnemonic = "layout";
  let summary = "the state of a tensor on every axis of the grid";
  let description = [{
    The encoding of a tensor type. An axis it does not name is `invariant`; a tensor that is
    invariant on every axis has no encoding at all (L11).

    ```mlir
    tensor<8x1024x3072xf32, #colrow.layout<tp = shard<2>>>
    tensor<64x192xf32, #colrow.layout<tp = shard<1, blocks = 3, unit = 16>>>
    tensor<8x1024x768xf32, #colrow.layout<dp = shard<0>, tp = partial>>
    tensor<8x1024xf32, #colrow.layout<tp = partial<max>>>
    ```

    States of different axes are printed in the order of the axes' names, except that axes which
    cut one dimension are listed outer first.
  }];
  let parameters = (ins ArrayRefParameter<"::colrow::AxisState">:$states);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let skipDefaultBuilders = 1;
  let builders = [
    /// Brings the states into the order of L11 and leaves out invariant ones. Null if none is left.
    AttrBuilder<(ins "::llvm::ArrayRef<::colrow::AxisState>":$states)>
  ];
  let extraClassDeclaration = [{
    /// The state on an axis: invariant where the layout does not name it.
    ::colrow::AxisState stateOn(::mlir::StringAttr axis) const;
  }];
}

#endif // COLROW_LAYOUT_TD
