//===- FuseLoss.cpp - cross entropy with the product for its logits -------===//

#include "dialect/Colrow.h"
#include "passes/differentiate/Passes.h"

using namespace mlir;

namespace colrow {
#define GEN_PASS_DEF_FUSELOSS
#include "passes/differentiate/Passes.h.inc"

namespace {

/// A product that makes logits: input [tokens..., hidden], and a weight of hidden and vocabulary.
struct LogitProduct {
  Value input, weight;
  bool vocabularyFirst; ///< of the weight's two dimensions

  static std::optional<LogitProduct> match(EinsumOp einsum) {
    if (auto found = match(einsum.resultLetters(), einsum.getLhs(), einsum.lhsLetters(),
                           einsum.getRhs(), einsum.rhsLetters()))
      return found;
    return match(einsum.resultLetters(), einsum.getRhs(), einsum.rhsLetters(), einsum.getLhs(),
                 einsum.lhsLetters());
  }

private:
  static std::optional<LogitProduct> match(StringRef result, Value input, StringRef inputLetters,
                                           Value weight, StringRef weightLetters) {
    if (result.empty() || inputLetters.empty() || weightLetters.size() != 2)
      return std::nullopt;
    char vocabulary = result.back(), hidden = inputLetters.back();
    if (inputLetters.drop_back() != result.drop_back() || result.contains(hidden))
      return std::nullopt;
    bool first = weightLetters[0] == vocabulary && weightLetters[1] == hidden;
    bool second = weightLetters[0] == hidden && weightLetters[1] == vocabulary;
    if (!first && !second)
      return std::nullopt;
    return LogitProduct{input, weight, first};
  }
};

/// Whether a reshape leaves the last dimension alone and only groups tokens differently.
bool groupsTokens(ReshapeOp reshape) {
  ArrayRef<int64_t> from = reshape.getInput().getType().getShape();
  ArrayRef<int64_t> to = reshape.getType().getShape();
  return !from.empty() && !to.empty() && from.back() == to.back();
}

/// The transpose of a matrix; of a transpose (a head tied to its embedding) what it was made from.
Value transposed(OpBuilderWithLayouts &b, Value matrix) {
  if (auto transpose = matrix.getDefiningOp<TransposeOp>())
    if (transpose.getPermutation() == ArrayRef<int64_t>{1, 0})
      return transpose.getInput();
  return b.create<TransposeOp>(matrix, ArrayRef<int64_t>{1, 0});
}

/// Failure where the loss is not one of a product's logits alone.
LogicalResult fuse(CrossEntropyOp loss) {
  Value logits = loss.getLogits();
  SmallVector<Operation *> replaced{loss};
  while (auto reshape = logits.getDefiningOp<ReshapeOp>()) {
    if (!logits.hasOneUse() || !groupsTokens(reshape))
      return failure();
    replaced.push_back(reshape);
    logits = reshape.getInput();
  }
  auto einsum = logits.getDefiningOp<EinsumOp>();
  if (!einsum || !logits.hasOneUse())
    return failure();
  std::optional<LogitProduct> product = LogitProduct::match(einsum);
  if (!product)
    return failure();

  OpBuilderWithLayouts b(loss);
  Value labels = loss.getLabels(), weight = product->weight;
  ArrayRef<int64_t> tokens = einsum.getType().getShape().drop_back();
  auto labelType = cast<RankedTensorType>(labels.getType());
  if (labelType.getShape() != tokens)
    labels = b.create<ReshapeOp>(RankedTensorType::get(tokens, labelType.getElementType()),
                                 labels);
  if (!product->vocabularyFirst)
    weight = transposed(b, weight);
  Value fused = b.create<LinearCrossEntropyOp>(product->input, weight, labels, loss.getCount(),
                                               loss.getIgnore(), loss.getValid(), TypeAttr(),
                                               loss.getLabelSmoothingAttr(), loss.getZLossAttr());
  assert(!b.failed() && fused.getType() == loss.getType() && "both forms have one sharding rule");
  replaced.push_back(einsum);
  loss.getResult().replaceAllUsesWith(fused);
  for (Operation *op : replaced)
    op->erase();
  return success();
}

struct FuseLoss : impl::FuseLossBase<FuseLoss> {
  using FuseLossBase::FuseLossBase;

  void runOnOperation() override {
    SmallVector<CrossEntropyOp> losses;
    getOperation().walk([&](CrossEntropyOp loss) { losses.push_back(loss); });
    for (CrossEntropyOp loss : losses)
      (void)fuse(loss);
  }
};

} // namespace
} // namespace colrow
