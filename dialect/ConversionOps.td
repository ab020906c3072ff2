//===- ConversionOps.td - changes of layout, each with its transpose *- tablegen -*-===//

#ifndef COLROW_CONVERSIONOPS_TD
#define COLROW_CONVERSIONOPS_TD

include "dialect/OpBase.td"

/// `from` and `to` are C++ conditions on an AxisState `state`.
class Colrow_Conversion<string mnemonic, string text, string transposeOp, string from, string to>
    : Op<Colrow_Dialect, mnemonic,
         [Pure, DeclareOpInterfaceMethods<ConversionOpInterface>, Colrow_Differentiable]> {
  let summary = text;
  let arguments = (ins AnyRankedTensor:$input, StrArrayAttr:$axes);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$input `on` $axes attr-dict `:` functional-type(operands, results)";
  let extraClassDefinition = [{
    bool $cppClass::acceptsFrom(::colrow::AxisState state) { return }] # from # [{; }
    bool $cppClass::acceptsTo(::colrow::AxisState state) { return }] # to # [{; }
    ::llvm::ArrayRef<::mlir::Attribute> $cppClass::getConvertedAxes() {
      return getAxes().getValue();
    }
    ::llvm::LogicalResult $cppClass::buildGradient(::colrow::OpBuilderWithLayouts &b,
        ::mlir::ValueRange resultGradients, ::llvm::ArrayRef<bool> needed,
        ::llvm::SmallVectorImpl<::mlir::Value> &operandGradients) {
      if (getState(getInput().getType(), ::llvm::cast<::mlir::StringAttr>(getAxes()[0]))
              .isPartialMax())
        return emitOpError("breaks L8: the maximum '")
               << ::colrow::getUserName(getInput(), "over a cut dimension")
               << "' is partial<max>, which has no gradient; take it of a stop_gradient";
      if (needed[0])
        operandGradients[0] = b.create<}] # transposeOp # [{>(
            gradientType(getInput().getType()), resultGradients[0], getAxes());
      return ::mlir::success();
    }
  }];
}

def Colrow_FOp : Colrow_Conversion<"f", "I to R: each rank may do its own work with the value",
    "GOp", "state.isInvariant()", "state.isReplicated()"> {
  let description = [{
    The f of Megatron-LM (arXiv 1909.08053, section 3): identity forward, all-reduce backward. Moves
    nothing. Transpose: g.

    ```mlir
    %y = colrow.f %x on ["tp"]
        : (tensor<8x64xf32>) -> tensor<8x64xf32, #colrow.layout<tp = replicated>>
    ```
  }];
}
def Colrow_GOp : Colrow_Conversion<"g", "P to I: sums the ranks' parts (all-reduce)",
    "FOp", "state.isPartial() || state.isPartialMax()", "state.isInvariant()"> {
  let description = [{
    The g of Megatron-LM: all-reduce forward, identity backward. Transpose: f. Takes `partial<max>`
    too, reduces it by maximum, and then has no gradient (L8).
  }];
}
def Colrow_AllGatherOp : Colrow_Conversion<"all_gather", "S to R: puts the slices together",
    "ReduceScatterOp", "state.isShard()", "state.isReplicated()"> {
  let description = "Sequence parallelism's f. Transpose: reduce_scatter.";
}
def Colrow_ReduceScatterOp : Colrow_Conversion<"reduce_scatter", "P to S: the slice of the sum",
    "AllGatherOp", "state.isPartial()", "state.isShard()"> {
  let description = "Sequence parallelism's g: half of an all-reduce. Transpose: all_gather.";
}
def Colrow_TakeShardOp : Colrow_Conversion<"take_shard",
    "I or R to S: keeps the rank's slice, moves nothing",
    "PlaceOrGatherOp", "state.isInvariant() || state.isReplicated()", "state.isShard()"> {
  let description = "Transpose: gather from I, place from R.";
  let extraClassDefinition = [{
    bool $cppClass::acceptsFrom(::colrow::AxisState state) {
      return state.isInvariant() || state.isReplicated();
    }
    bool $cppClass::acceptsTo(::colrow::AxisState state) { return state.isShard(); }
    ::llvm::ArrayRef<::mlir::Attribute> $cppClass::getConvertedAxes() {
      return getAxes().getValue();
    }
  }];
}
def Colrow_GatherOp : Colrow_Conversion<"gather", "S to I: puts the slices together",
    "TakeShardOp", "state.isShard()", "state.isInvariant()"> {
  let description = "Afterwards all ranks do the same work again. Transpose: take_shard.";
}
def Colrow_PlaceOp : Colrow_Conversion<"place", "S to P: the slice in its place, zeros elsewhere",
    "TakeShardOp", "state.isShard()", "state.isPartial()"> {
  let description = "Moves nothing: the whole is the sum of the parts. Transpose: take_shard.";
}
def Colrow_AllToAllOp : Colrow_Conversion<"all_to_all", "S to S of another dimension",
    "AllToAllOp", "state.isShard()", "state.isShard()"> {
  let description = "Cuts another dimension. Transpose: all_to_all back.";
}

#endif // COLROW_CONVERSIONOPS_TD
