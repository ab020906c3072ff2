//===- Masks.cpp - masks of attention, known by their values --------------===//

#include "passes/raise/Masks.h"
#include "passes/raise/Match.h"

#include <cmath>

using namespace mlir;

namespace colrow {

MaskValue maskValue(reference::Tensor mask, int64_t queries, int64_t keys) {
  int64_t rank = mask.rank();
  bool isWhole = rank >= 2 && mask.dim(rank - 2) == queries && mask.dim(rank - 1) == keys;
  // The same for all batches and heads: one matrix.
  auto isRepeated = [&](int64_t dim) { return mask.dim(dim) == 1 || mask.strides()[dim] == 0; };
  if (isWhole && llvm::all_of(llvm::seq<int64_t>(0, rank - 2), isRepeated))
    mask = mask.view({queries, keys}, {mask.strides()[rank - 2], mask.strides()[rank - 1]},
                     mask.offset());
  std::vector<double> values = mask.toFloats();
  auto isFinite = [](double value) { return std::isfinite(value); };
  MaskValue found;
  found.hidesNothing = llvm::all_of(values, [](double value) { return value == 0; });
  found.isFinite = llvm::all_of(values, isFinite);
  found.hasFiniteRows = true;
  size_t row = rank < 1 ? 1 : mask.shape().back();
  for (size_t begin = 0; begin < values.size(); begin += row)
    found.hasFiniteRows &= llvm::any_of(ArrayRef(values).slice(begin, row), isFinite);
  if (!isWhole || found.hidesNothing)
    return found;
  int64_t visible = 0;
  while (visible < keys && values[visible] == 0)
    ++visible;
  if (visible == 0)
    return found;
  for (auto [i, value] : llvm::enumerate(values)) {
    int64_t query = static_cast<int64_t>(i) / keys % queries, key = static_cast<int64_t>(i) % keys;
    if (key < visible + query ? value != 0 : !(value <= hiddenScore))
      return found;
  }
  found.causal = visible - 1;
  return found;
}

MaskValue conditionValue(const reference::Tensor &condition, bool visible, int64_t queries,
                         int64_t keys) {
  std::vector<double> values;
  for (int64_t value : condition.toIntegers())
    values.push_back((value != 0) == visible ? 0 : -std::numeric_limits<double>::infinity());
  return maskValue(reference::Tensor::floats(condition.shape(), std::move(values)), queries, keys);
}

bool isFiniteValue(Value mask) {
  SmallVector<Value> work{mask};
  DenseSet<Value> seen;
  while (!work.empty()) {
    Value value = work.pop_back_val();
    if (!seen.insert(value).second)
      continue;
    if (std::optional<double> number = numberOf(value)) {
      if (!std::isfinite(*number))
        return false;
      continue;
    }
    if (auto argument = dyn_cast<BlockArgument>(value)) {
      auto function = dyn_cast<func::FuncOp>(argument.getOwner()->getParentOp());
      if (!function || getRole(function, argument.getArgNumber()) != "parameter")
        return false;
      continue;
    }
    Operation *op = value.getDefiningOp();
    if (auto select = dyn_cast<SelectOp>(op))
      work.append({select.getOnTrue(), select.getOnFalse()});
    else if (isa<TakeOp>(op))
      work.push_back(op->getOperand(0));
    else if (isa<AddOp, SubOp, MulOp, NegOp, ReshapeOp, TransposeOp, BroadcastOp, SliceOp>(op))
      llvm::append_range(work, op->getOperands());
    else
      return false;
  }
  return true;
}

} // namespace colrow
