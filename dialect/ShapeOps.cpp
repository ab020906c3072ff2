//===- ShapeOps.cpp - shapes and sharding rules of ShapeOps.td ------------===//

#include "dialect/Colrow.h"

using namespace mlir;

namespace colrow {

/// A factor for every dimension of a shape.
static TensorFactors addDims(ShardingRule &rule, FactorKind kind, ArrayRef<int64_t> shape) {
  TensorFactors factors;
  for (int64_t size : shape)
    factors.push_back({rule.add(kind, size)});
  return factors;
}

//===----------------------------------------------------------------------===//
// Constant and iota
//===----------------------------------------------------------------------===//

bool isZeroConstant(Operation *op) {
  auto constant = dyn_cast<ConstantOp>(op);
  auto splat = constant ? dyn_cast<SplatElementsAttr>(constant.getValue()) : SplatElementsAttr();
  if (!splat)
    return false;
  if (isa<FloatType>(splat.getElementType()))
    return splat.getSplatValue<APFloat>().isZero();
  return splat.getSplatValue<APInt>().isZero();
}

ParseResult ConstantOp::parse(OpAsmParser &parser, OperationState &result) {
  ElementsAttr value;
  Type type;
  if (parser.parseOptionalAttrDict(result.attributes) || parser.parseAttribute(value))
    return failure();
  // The type of the result is written only where it differs.
  type = value.getType();
  if (succeeded(parser.parseOptionalKeyword("as")) && parser.parseType(type))
    return failure();
  result.addTypes(type);
  result.getOrAddProperties<Properties>().value = value;
  return success();
}

void ConstantOp::print(OpAsmPrinter &printer) {
  printer.printOptionalAttrDict((*this)->getAttrs(), {"value"});
  printer << " " << getValue();
  if (getType() != getValue().getType())
    printer << " as " << getType();
}

OpFoldResult ConstantOp::fold(FoldAdaptor) { return getValue(); }

LogicalResult ConstantOp::verify() {
  auto value = cast<ShapedType>(getValue().getType());
  bool isRounded = value.getElementType().isF64() && isa<FloatType>(getType().getElementType());
  if (isRounded ? value.getShape() != getType().getShape()
                : !sameIgnoringLayout(value, getType()))
    return emitOpError("of ") << getValue().getType() << " cannot have type " << getType();
  return success();
}

ShardingRule ConstantOp::getShardingRule() {
  ShardingRule rule;
  FactorKind kind = isa<SplatElementsAttr>(getValue()) ? FactorKind::own : FactorKind::whole;
  rule.results = {addDims(rule, kind, getType().getShape())};
  return rule;
}

void ConstantOp::localizeAttributes(GridAttr grid) {
  // Only a splat is ever cut (its sharding rule says so).
  if (auto splat = dyn_cast<SplatElementsAttr>(getValue())) {
    ArrayRef<int64_t> shape = getLocalType(getType(), grid).getShape();
    setValueAttr(splat.resizeSplat(RankedTensorType::get(shape, splat.getElementType())));
  }
}

LogicalResult IotaOp::verify() {
  if (getDimension() >= static_cast<uint64_t>(getType().getRank()))
    return emitOpError("dimension ") << getDimension() << " is not one of " << getType();
  return success();
}
ShardingRule IotaOp::getShardingRule() {
  ShardingRule rule;
  rule.results = {addDims(rule, FactorKind::own, getType().getShape())};
  return rule;
}
RankedTensorType IotaOp::getSlicedType() { return getType(); }

//===----------------------------------------------------------------------===//
// Reshape, transpose, broadcast
//===----------------------------------------------------------------------===//

LogicalResult ReshapeOp::verify() {
  if (getInput().getType().getNumElements() != getType().getNumElements())
    return emitOpError("changes the number of elements: ") << getInput().getType() << " to "
                                                           << getType();
  return success();
}
ShardingRule ReshapeOp::getShardingRule() {
  return reshapeRule(getInput().getType().getShape(), getType().getShape());
}

LogicalResult TransposeOp::verify() {
  SmallVector<int64_t> sorted(getPermutation());
  llvm::sort(sorted);
  for (auto [i, dim] : llvm::enumerate(sorted))
    if (dim != static_cast<int64_t>(i))
      return emitOpError("expects a permutation of all dimensions");
  return success();
}
LogicalResult TransposeOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                            Adaptor adaptor, SmallVectorImpl<Type> &types) {
  auto type = cast<RankedTensorType>(adaptor.getInput().getType());
  if (static_cast<int64_t>(adaptor.getPermutation().size()) != type.getRank())
    return emitOptionalError(location, "expects a permutation of all dimensions");
  SmallVector<int64_t> shape;
  for (int64_t dim : adaptor.getPermutation()) {
    if (dim < 0 || dim >= type.getRank())
      return emitOptionalError(location, "expects a permutation of all dimensions");
    shape.push_back(type.getDimSize(dim));
  }
  types.push_back(RankedTensorType::get(shape, type.getElementType()));
  return success();
}
ShardingRule TransposeOp::getShardingRule() {
  ShardingRule rule;
  TensorFactors input = addDims(rule, FactorKind::pass, getInput().getType().getShape());
  TensorFactors result;
  for (int64_t dim : getPermutation())
    result.push_back(input[dim]);
  rule.operands = {input};
  rule.results = {result};
  rule.linear = {{0}};
  return rule;
}

LogicalResult BroadcastOp::verify() {
  RankedTensorType from = getInput().getType(), to = getType();
  int64_t missing = to.getRank() - from.getRank();
  for (int64_t dim = 0; missing >= 0 && dim < from.getRank(); ++dim)
    if (from.getDimSize(dim) != 1 && from.getDimSize(dim) != to.getDimSize(missing + dim))
      missing = -1;
  if (missing < 0)
    return emitOpError("does not broadcast ") << from << " to " << to;
  return success();
}
ShardingRule BroadcastOp::getShardingRule() {
  ShardingRule rule;
  RankedTensorType from = getInput().getType(), to = getType();
  int64_t missing = to.getRank() - from.getRank();
  TensorFactors input, result;
  for (auto [dim, size] : llvm::enumerate(to.getShape())) {
    int64_t mine = static_cast<int64_t>(dim) - missing;
    bool kept = mine >= 0 && from.getDimSize(mine) == size;
    unsigned factor = rule.add(kept ? FactorKind::pass : FactorKind::own, size);
    result.push_back({factor});
    if (mine >= 0)
      input.push_back(kept ? TensorFactors::value_type{factor} : TensorFactors::value_type());
  }
  rule.operands = {input};
  rule.results = {result};
  rule.linear = {{0}};
  return rule;
}

//===----------------------------------------------------------------------===//
// Slice, pad, concat
//===----------------------------------------------------------------------===//

/// Factors of a dimension of `total` elements of which `part` elements from `start` on are one
/// block among equal ones: outer block number, and the factor both share. Otherwise both are whole.
static void blockFactors(ShardingRule &rule, int64_t total, int64_t start, int64_t part,
                         int64_t step, TensorFactors &larger, TensorFactors &smaller) {
  if (part == total && step == 1) {
    unsigned factor = rule.add(FactorKind::pass, total);
    larger.push_back({factor});
    smaller.push_back({factor});
    return;
  }
  if (step == 1 && part > 0 && total % part == 0 && start % part == 0) {
    unsigned block = rule.add(FactorKind::whole, total / part);
    unsigned within = rule.add(FactorKind::pass, part);
    larger.push_back({block, within});
    smaller.push_back({within});
    return;
  }
  larger.push_back({rule.add(FactorKind::whole, total)});
  smaller.push_back({rule.add(FactorKind::whole, part)});
}

/// Counts of elements along each dimension of a type as one rank counts them: a cut deals out
/// every block evenly, so what starts or ends at a block's edge moves in proportion.
static SmallVector<int64_t> localCounts(ArrayRef<int64_t> counts, RankedTensorType type,
                                        GridAttr grid) {
  SmallVector<int64_t> local(counts);
  for (auto [count, slice] : llvm::zip(local, getSlices(type, grid)))
    if (slice.isCut()) {
      int64_t ranks = slice.size / std::max<int64_t>(slice.localSize(), 1);
      assert(count % ranks == 0 && "a cut dimension is sliced at the edges of its blocks");
      count /= ranks;
    }
  return local;
}

LogicalResult SliceOp::verify() {
  size_t rank = getInput().getType().getRank();
  if (getStarts().size() != rank || getLimits().size() != rank || getSteps().size() != rank)
    return emitOpError("expects a start, limit and step for each of ") << rank << " dimensions";
  for (size_t dim = 0; dim < rank; ++dim)
    if (getStarts()[dim] < 0 || getLimits()[dim] < getStarts()[dim] || getSteps()[dim] < 1 ||
        getLimits()[dim] > getInput().getType().getDimSize(dim))
      return emitOpError("takes ") << getStarts()[dim] << " to " << getLimits()[dim] << " step "
                                   << getSteps()[dim] << " of a dimension of "
                                   << getInput().getType().getDimSize(dim);
  return success();
}
LogicalResult SliceOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                        Adaptor adaptor, SmallVectorImpl<Type> &types) {
  SmallVector<int64_t> shape;
  for (auto [start, limit, step] :
       llvm::zip(adaptor.getStarts(), adaptor.getLimits(), adaptor.getSteps()))
    shape.push_back(step < 1 ? 0 : (limit - start + step - 1) / step);
  types.push_back(RankedTensorType::get(
      shape, cast<RankedTensorType>(adaptor.getInput().getType()).getElementType()));
  return success();
}
ShardingRule SliceOp::getShardingRule() {
  ShardingRule rule;
  TensorFactors input, result;
  for (int64_t dim = 0; dim < getType().getRank(); ++dim)
    blockFactors(rule, getInput().getType().getDimSize(dim), getStarts()[dim],
                 getType().getDimSize(dim), getSteps()[dim], input, result);
  rule.operands = {input};
  rule.results = {result};
  rule.linear = {{0}};
  return rule;
}

void SliceOp::localizeAttributes(GridAttr grid) {
  setStarts(localCounts(getStarts(), getInput().getType(), grid));
  setLimits(localCounts(getLimits(), getInput().getType(), grid));
}

LogicalResult PadOp::verify() {
  size_t rank = getInput().getType().getRank();
  if (getLow().size() != rank || getHigh().size() != rank || getSteps().size() != rank)
    return emitOpError("expects low, high and step for each of ") << rank << " dimensions";
  for (size_t dim = 0; dim < rank; ++dim)
    if (getLow()[dim] < 0 || getHigh()[dim] < 0 || getSteps()[dim] < 1)
      return emitOpError("expects padding of at least 0 and steps of at least 1");
  return success();
}
LogicalResult PadOp::inferReturnTypes(MLIRContext *, std::optional<Location>, Adaptor adaptor,
                                      SmallVectorImpl<Type> &types) {
  auto input = cast<RankedTensorType>(adaptor.getInput().getType());
  SmallVector<int64_t> shape;
  for (auto [size, low, high, step] : llvm::zip(input.getShape(), adaptor.getLow(),
                                                adaptor.getHigh(), adaptor.getSteps()))
    shape.push_back(low + high + (size == 0 ? 0 : (size - 1) * step + 1));
  types.push_back(RankedTensorType::get(shape, input.getElementType()));
  return success();
}
ShardingRule PadOp::getShardingRule() {
  ShardingRule rule;
  TensorFactors input, result;
  for (int64_t dim = 0; dim < getType().getRank(); ++dim)
    blockFactors(rule, getType().getDimSize(dim), getLow()[dim],
                 getInput().getType().getDimSize(dim), getSteps()[dim], result, input);
  rule.operands = {input};
  rule.results = {result};
  if (getValue().isZero())
    rule.linear = {{0}};
  return rule;
}

void PadOp::localizeAttributes(GridAttr grid) {
  setLow(localCounts(getLow(), getType(), grid));
  setHigh(localCounts(getHigh(), getType(), grid));
}

LogicalResult ConcatOp::verify() {
  if (getInputs().empty())
    return emitOpError("expects at least one operand");
  return success();
}
LogicalResult ConcatOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                         Adaptor adaptor, SmallVectorImpl<Type> &types) {
  SmallVector<int64_t> shape;
  Type element;
  int64_t along = adaptor.getDimension();
  for (Value input : adaptor.getInputs()) {
    auto type = cast<RankedTensorType>(input.getType());
    if (!element) {
      shape.assign(type.getShape().begin(), type.getShape().end());
      element = type.getElementType();
      if (along >= type.getRank())
        return emitOptionalError(location, "dimension ", along, " is not one of ", type);
      continue;
    }
    if (type.getRank() != static_cast<int64_t>(shape.size()))
      return emitOptionalError(location, "expects operands of one rank");
    for (int64_t dim = 0; dim < type.getRank(); ++dim)
      if (dim != along && type.getDimSize(dim) != shape[dim])
        return emitOptionalError(location, "dimension ", dim, " has sizes ", shape[dim], " and ",
                                 type.getDimSize(dim));
    shape[along] += type.getDimSize(along);
  }
  types.push_back(RankedTensorType::get(shape, element));
  return success();
}
ShardingRule ConcatOp::getShardingRule() {
  ShardingRule rule;
  int64_t along = getDimension(), parts = getInputs().size();
  auto first = cast<RankedTensorType>(getInputs().front().getType());
  bool equal = llvm::all_of(getInputs().getTypes(), [&](Type type) {
    return cast<RankedTensorType>(type).getDimSize(along) == first.getDimSize(along);
  });
  TensorFactors shared, result;
  for (int64_t dim = 0; dim < getType().getRank(); ++dim) {
    if (dim != along) {
      unsigned factor = rule.add(FactorKind::pass, getType().getDimSize(dim));
      shared.push_back({factor});
      result.push_back({factor});
      continue;
    }
    unsigned block = rule.add(FactorKind::whole, equal ? parts : getType().getDimSize(dim));
    shared.push_back({});
    result.push_back({block});
    if (equal) {
      unsigned within = rule.add(FactorKind::pass, first.getDimSize(dim));
      shared.back() = {within};
      result.back().push_back(within);
    }
  }
  for (Value input : getInputs()) {
    rule.operands.push_back(shared);
    if (!equal)
      rule.operands.back()[along] = {
          rule.add(FactorKind::whole, cast<RankedTensorType>(input.getType()).getDimSize(along))};
  }
  rule.results = {result};
  rule.linear = {llvm::to_vector(llvm::seq<unsigned>(0, parts))};
  return rule;
}

//===----------------------------------------------------------------------===//
// Padding
//===----------------------------------------------------------------------===//

LogicalResult MaskPaddingOp::inferReturnTypes(MLIRContext *, std::optional<Location>,
                                              Adaptor adaptor, SmallVectorImpl<Type> &types) {
  types.push_back(withLayout(adaptor.getInput().getType(), {}));
  return success();
}
ShardingRule MaskPaddingOp::getShardingRule() {
  ShardingRule rule = elementwiseRule(*this);
  if (getValue().isZero())
    rule.linear = {{0}};
  return rule;
}
RankedTensorType MaskPaddingOp::getSlicedType() { return getType(); }

} // namespace colrow
