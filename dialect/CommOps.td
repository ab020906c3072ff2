//===- CommOps.td - what one rank does, after localize ---------*- tablegen -*-===//

#ifndef COLROW_COMMOPS_TD
#define COLROW_COMMOPS_TD

include "dialect/OpBase.td"

/// A conversion of layout on local tensors: `from` and `to` are the global types with layouts.
class Colrow_Comm<string mnemonic, string text, list<Trait> traits = []>
    : Op<Colrow_Dialect, "comm." # mnemonic, traits> {
  let summary = text;
  let arguments = (ins AnyRankedTensor:$input, StrArrayAttr:$axes, TypeAttr:$from, TypeAttr:$to);
  let results = (outs AnyRankedTensor:$result);
  let hasVerifier = 1;
  let extraClassDefinition = [{
    ::llvm::LogicalResult $cppClass::verify() {
      return ::colrow::verifyComm(getOperation(), getFrom(), getTo());
    }
  }];
  let assemblyFormat = [{
    $input `on` $axes `from` $from `to` $to attr-dict `:` functional-type(operands, results)
  }];
}

def Colrow_CommAllReduceOp : Colrow_Comm<"all_reduce", "sum (or maximum) over the ranks"> {
  let description = [{
    Adds in rank order, so the result has the same bits on every rank (L12). The maximum where
    `from` is `partial<max>`.
  }];
}
def Colrow_CommAllGatherOp : Colrow_Comm<"all_gather", "the slices of all ranks, in their places">;
def Colrow_CommReduceScatterOp : Colrow_Comm<"reduce_scatter", "the rank's slice of the sum">;
def Colrow_CommAllToAllOp : Colrow_Comm<"all_to_all", "from slices of one dimension to another's">;
def Colrow_CommTakeShardOp
    : Colrow_Comm<"take_shard", "the rank's slice of a whole tensor; moves nothing", [Pure]>;
def Colrow_CommPlaceOp
    : Colrow_Comm<"place", "the slice in its place among zeros; moves nothing", [Pure]>;

#endif // COLROW_COMMOPS_TD
