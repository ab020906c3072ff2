//===- Dialect.td - the colrow dialect -------------------------*- tablegen -*-===//

#ifndef COLROW_DIALECT_TD
#define COLROW_DIALECT_TD

include "mlir/IR/OpBase.td"

def Colrow_Dialect : Dialect {
  let name = "colrow";
  let cppNamespace = "::colrow";
  let summary = "Transformer graphs, sharded over a grid of ranks and differentiated.";
  let description = [{
    Operations on whole (global) tensors. How a tensor is spread over the ranks is part of its type,
    as its encoding (`#colrow.layout`), on global shapes, so sharded IR reads like the original graph
    with f and g in it. The grid of ranks is the module attribute `colrow.grid`. The verifier applies
    the rules L1 to L12 of `dialect/README.md` to every operation.

    Attributes on function arguments and results:

    - `colrow.name`: the user's name, from the ONNX file;
    - `colrow.role`: what it is: `parameter`, `state` (optimizer moments), `input`, `gradient`, and for
      results also `loss`, `metric`, `output`. L9 is checked with roles and names.
  }];
  let useDefaultAttributePrinterParser = 1;
  let hasOperationAttrVerify = 1;
  let hasConstantMaterializer = 1;
  let extraClassDeclaration = [{
    static constexpr ::llvm::StringLiteral gridAttrName = "colrow.grid";
    static constexpr ::llvm::StringLiteral nameAttrName = "colrow.name";
    static constexpr ::llvm::StringLiteral roleAttrName = "colrow.role";
    /// Of an op with RankDependentOpInterface after `localize`: the global type of what it slices.
    static constexpr ::llvm::StringLiteral globalAttrName = "global";
    /// Of a function's argument or result after `localize`: its global type, where it had a layout.
    static constexpr ::llvm::StringLiteral globalTypeAttrName = "colrow.global";
    void registerAttributes();
  }];
}

#endif // COLROW_DIALECT_TD
