//===- Interfaces.td - what an operation says about itself -----*- tablegen -*-===//

#ifndef COLROW_INTERFACES_TD
#define COLROW_INTERFACES_TD

include "mlir/IR/OpBase.td"

def ShardingRuleOpInterface : OpInterface<"ShardingRuleOpInterface"> {
  let cppNamespace = "::colrow";
  let description = [{
    The operation's sharding rule: every dimension of operands and results as a product of named
    factors, the kind of each factor, and the sets of operands the operation is jointly linear in.
    The verifier, the sharding pass and the rule check read it; see `dialect/ShardingRule.h`.
  }];
  let methods = [
    InterfaceMethod<"", "::colrow::ShardingRule", "getShardingRule">
  ];
  let verify = [{ return ::colrow::verifyShardingRule($_op); }];
}

def DifferentiableOpInterface : OpInterface<"DifferentiableOpInterface"> {
  let cppNamespace = "::colrow";
  let description = [{
    Reverse mode. `resultGradients` has a value for each result, null where no gradient reaches it
    (at least one is not null); each has the gradient type of its result. Where `needed[i]` (true
    for at least one operand), sets `operandGradients[i]`, of exactly the gradient type of operand
    i; it may stay null where the gradient is zero. Operations are built with `b`, which infers
    layouts by the rules, so a gradient that does not transpose is caught where it is built. May
    replace the operation by a form that also yields what the gradient needs.
  }];
  let methods = [
    InterfaceMethod<"", "::llvm::LogicalResult", "buildGradient",
      (ins "::colrow::OpBuilderWithLayouts &":$b, "::mlir::ValueRange":$resultGradients,
           "::llvm::ArrayRef<bool>":$needed,
           "::llvm::SmallVectorImpl<::mlir::Value> &":$operandGradients)>
  ];
}

def DecomposableOpInterface : OpInterface<"DecomposableOpInterface"> {
  let cppNamespace = "::colrow";
  let description = [{
    The meaning of a big operation, in primitive ones. Works on sharded IR too: where the operation
    communicates by itself (`inner` factors) the decomposition has the conversions. Returns a value
    for each result, of exactly the result's type.
  }];
  let methods = [
    InterfaceMethod<"", "::llvm::FailureOr<::llvm::SmallVector<::mlir::Value>>", "decompose",
      (ins "::colrow::OpBuilderWithLayouts &":$b)>
  ];
}

def EvaluationFormOpInterface : OpInterface<"EvaluationFormOpInterface"> {
  let cppNamespace = "::colrow";
  let description = [{
    An operation that does something else while training (dropout). `evaluationForm` returns what
    stands for each result in evaluation.
  }];
  let methods = [
    InterfaceMethod<"", "::llvm::SmallVector<::mlir::Value>", "evaluationForm",
      (ins "::colrow::OpBuilderWithLayouts &":$b)>
  ];
}

def RankDependentOpInterface : OpInterface<"RankDependentOpInterface"> {
  let cppNamespace = "::colrow";
  let description = [{
    What the operation does depends on which slice of a tensor the rank holds (iota, masked lookup,
    dropout, padding). `getSlicedType` is that tensor's type. `localize` keeps it in the attribute
    `global`, the only thing that remembers layouts afterwards.
  }];
  let methods = [
    InterfaceMethod<"", "::mlir::RankedTensorType", "getSlicedType">
  ];
}

def RandomSiteOpInterface : OpInterface<"RandomSiteOpInterface"> {
  let cppNamespace = "::colrow";
  let description = [{
    An operation that may draw random numbers at a site of its own. The site's number is in the
    attribute `id`, the only thing in which sites of repeated layers differ: an outlined layer is told
    the ids of its sites.
  }];
  let methods = [
    InterfaceMethod<"the site's number, or nothing where none are drawn", "::std::optional<int64_t>",
                    "getRandomSite", (ins), [{
      auto id = $_op->template getAttrOfType<::mlir::IntegerAttr>("id");
      return id ? ::std::optional<int64_t>(id.getInt()) : ::std::nullopt;
    }]>
  ];
}

def LocalizableOpInterface : OpInterface<"LocalizableOpInterface"> {
  let cppNamespace = "::colrow";
  let description = [{
    An operation whose attributes count elements of shapes (the bounds of a slice, the value of a
    constant). `localizeAttributes` turns them from global into local shapes; `localize` calls it
    while the types are still global.
  }];
  let methods = [
    InterfaceMethod<"", "void", "localizeAttributes", (ins "::colrow::GridAttr":$grid)>
  ];
}

def MatrixProductOpInterface : OpInterface<"MatrixProductOpInterface"> {
  let cppNamespace = "::colrow";
  let description = [{
    An operation that is, or contains, products of matrices: what tensor parallelism is there to
    divide. Its factors are the seeds of regions.
  }];
  let methods = [
    InterfaceMethod<"floating point operations of the whole (global) products, 2 for a multiply-add",
                    "double", "getProductFlops">
  ];
}

def ConversionOpInterface : OpInterface<"ConversionOpInterface"> {
  let cppNamespace = "::colrow";
  let description = [{
    A change of state on one or more axes, and its transpose. See the table in `dialect/README.md`.
  }];
  let methods = [
    InterfaceMethod<"whether the state may be what it is converted from", "bool", "acceptsFrom",
      (ins "::colrow::AxisState":$state)>,
    InterfaceMethod<"whether the state may be what it is converted to", "bool", "acceptsTo",
      (ins "::colrow::AxisState":$state)>,
    InterfaceMethod<"the axes converted", "::llvm::ArrayRef<::mlir::Attribute>", "getConvertedAxes">
  ];
  let verify = [{ return ::colrow::verifyConversion($_op); }];
}

#endif // COLROW_INTERFACES_TD
