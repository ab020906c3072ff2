//===- OpBase.td - classes of operations -----------------------*- tablegen -*-===//

#ifndef COLROW_OPBASE_TD
#define COLROW_OPBASE_TD

include "dialect/Layout.td"
include "dialect/Interfaces.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

defvar Colrow_Differentiable = DeclareOpInterfaceMethods<DifferentiableOpInterface>;
defvar Colrow_Decomposable = DeclareOpInterfaceMethods<DecomposableOpInterface>;
defvar Colrow_EvaluationForm = DeclareOpInterfaceMethods<EvaluationFormOpInterface>;
defvar Colrow_Localizable = DeclareOpInterfaceMethods<LocalizableOpInterface>;
defvar Colrow_MatrixProduct = DeclareOpInterfaceMethods<MatrixProductOpInterface>;
defvar Colrow_RandomSite = DeclareOpInterfaceMethods<RandomSiteOpInterface>;
defvar Colrow_RankDependent = DeclareOpInterfaceMethods<RankDependentOpInterface>;

/// The results are constants for differentiation: no gradient passes through.
def Colrow_NoGradient : NativeOpTrait<"NoGradient"> {
  let cppNamespace = "::colrow";
}
/// One result for one element, operands broadcast as in numpy.
def Colrow_NumpyElementwise : NativeOpTrait<"NumpyElementwise"> {
  let cppNamespace = "::colrow";
}

/// A pure operation on tensors with a sharding rule. All types are printed: inference is for
/// builders, the verifier checks what is written.
class Colrow_Op<string mnemonic, list<Trait> traits = []>
    : Op<Colrow_Dialect, mnemonic,
         [Pure, DeclareOpInterfaceMethods<ShardingRuleOpInterface>] # traits>;

/// One whose result types follow from operands and attributes (layouts too, see
/// inferResultLayouts).
class Colrow_InferredOp<string mnemonic, list<Trait> traits = []>
    : Colrow_Op<mnemonic, [InferTypeOpAdaptorWithIsCompatible] # traits> {
  code compatible = [{
    bool $cppClass::isCompatibleReturnTypes(::mlir::TypeRange l, ::mlir::TypeRange r) {
      return ::colrow::sameIgnoringLayout(l, r);
    }
  }];
  let extraClassDefinition = compatible;
}

#endif // COLROW_OPBASE_TD
