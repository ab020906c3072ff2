//===- Recognise.cpp - what a graph says about its training ---------------===//

#include "passes/objective/Recognise.h"
#include "runtime/reference/Interpreter.h"

#include <numeric>

using namespace mlir;

namespace colrow {
namespace {

/// The value as a function of one argument's positions: the operations between them executed on
/// an iota. Nothing if it depends on another argument.
std::optional<reference::Tensor> executeOnPositions(Value value, BlockArgument &argument) {
  if (auto leaf = dyn_cast<BlockArgument>(value)) {
    if (argument && argument != leaf)
      return std::nullopt;
    argument = leaf;
    ArrayRef<int64_t> shape = cast<RankedTensorType>(leaf.getType()).getShape();
    std::vector<int64_t> positions(cast<RankedTensorType>(leaf.getType()).getNumElements());
    std::iota(positions.begin(), positions.end(), 0);
    return reference::Tensor::integers({shape.begin(), shape.end()}, positions);
  }
  std::vector<reference::Tensor> operands;
  for (Value operand : value.getDefiningOp()->getOperands()) {
    std::optional<reference::Tensor> executed = executeOnPositions(operand, argument);
    if (!executed)
      return std::nullopt;
    operands.push_back(*executed);
  }
  return evaluate(value.getDefiningOp(), operands)[cast<OpResult>(value).getResultNumber()];
}

/// Whether a constant [..., positions, positions] lets each position see itself and hides from it
/// what comes behind: a lower triangle of booleans (or its complement), or of numbers with far
/// smaller ones above. It may also hide what is long before, as sliding windows do.
bool isCausalMask(ConstantOp constant, int64_t positions) {
  auto elements = dyn_cast<DenseElementsAttr>(constant.getValue());
  ArrayRef<int64_t> shape = cast<RankedTensorType>(constant.getType()).getShape();
  if (!elements || elements.isSplat() || shape.size() < 2 || shape.back() != positions ||
      shape[shape.size() - 2] != positions)
    return false;
  constexpr double hidden = -1e4; // what exporters add to scores at the least
  Type type = elements.getElementType();
  std::vector<bool> low; // what is visible, or hidden, of the first matrix
  if (type.isInteger(1)) {
    for (bool value : elements.getValues<bool>())
      low.push_back(value);
  } else if (isa<FloatType>(type)) {
    for (const APFloat &value : elements.getValues<APFloat>())
      low.push_back(value.convertToDouble() <= hidden);
  } else {
    return false;
  }
  for (int64_t i = 0; i < positions; ++i)
    for (int64_t j = i; j < positions; ++j)
      if ((low[i * positions + j] == low[0]) != (j == i))
        return false;
  return true;
}

/// Whether a program of this many positions hides from each what comes behind it.
bool isCausal(func::FuncOp function, int64_t positions) {
  return function
      .walk([&](Operation *op) {
        auto attention = dyn_cast<AttentionOp>(op);
        auto constant = dyn_cast<ConstantOp>(op);
        return (attention && attention.getCausal()) ||
                       (constant && isCausalMask(constant, positions))
                   ? WalkResult::interrupt()
                   : WalkResult::advance();
      })
      .wasInterrupted();
}

/// Whether two inputs are looked up in one table: an encoder's tokens and a decoder's.
bool hasTwoTokenInputs(func::FuncOp function) {
  DenseMap<Value, Value> inputs; // by table, the first input
  return function
      .walk([&](TakeOp take) {
        Value ids = take.getIds();
        while (Operation *op = ids.getDefiningOp()) {
          if (!isa<ReshapeOp, CastOp, SliceOp, ConcatOp, PadOp>(op))
            break;
          ids = op->getOperand(0);
        }
        if (!isa<BlockArgument>(ids))
          return WalkResult::advance();
        auto [known, isNew] = inputs.try_emplace(take.getTable(), ids);
        return isNew || known->second == ids ? WalkResult::advance() : WalkResult::interrupt();
      })
      .wasInterrupted();
}

/// How the labels that reach the loss follow from the input, element by element.
std::optional<LabelsOf::Rule> ruleOf(const reference::Tensor &reached, BlockArgument labels) {
  auto type = cast<RankedTensorType>(labels.getType());
  ArrayRef<int64_t> shape = type.getShape();
  std::vector<int64_t> values = reached.toIntegers();
  int64_t row = shape.empty() ? 1 : shape.back();
  if (static_cast<int64_t>(values.size()) != type.getNumElements())
    return std::nullopt;
  bool same = true, shifted = true;
  for (auto [i, value] : llvm::enumerate(values)) {
    int64_t position = static_cast<int64_t>(i);
    same &= value == position;
    shifted &= value == (position % row == row - 1 ? ignoreLabel : position + 1);
  }
  if (shifted)
    return LabelsOf::shifted;
  return same ? std::optional(LabelsOf::unchanged) : std::nullopt;
}

/// Whether the loss is the sum over its labels, not their mean.
bool isSum(CrossEntropyOp loss) {
  auto count = loss.getCount().getDefiningOp<ConstantOp>();
  auto splat = count ? dyn_cast<SplatElementsAttr>(count.getValue()) : SplatElementsAttr();
  return splat && splat.getSplatValue<APFloat>().isExactlyValue(1) &&
         cast<RankedTensorType>(loss.getLabels().getType()).getNumElements() > 1;
}

/// Whether a value is computed from an argument other than through the loss.
bool dependsOn(Value value, BlockArgument argument, CrossEntropyOp loss) {
  SmallVector<Value> values{value};
  DenseSet<Value> seen;
  while (!values.empty()) {
    Value next = values.pop_back_val();
    if (next == argument)
      return true;
    Operation *op = next.getDefiningOp();
    if (op && op != loss && seen.insert(next).second)
      llvm::append_range(values, op->getOperands());
  }
  return false;
}

} // namespace

CrossEntropyOp crossEntropyOf(Value value) {
  Operation *op = value.getDefiningOp();
  while (isa_and_nonnull<ReshapeOp, CastOp>(op))
    op = op->getOperand(0).getDefiningOp();
  return dyn_cast_or_null<CrossEntropyOp>(op);
}

std::optional<LabelsOf> recogniseLabels(CrossEntropyOp loss) {
  LabelsOf labels;
  std::optional<reference::Tensor> positions = executeOnPositions(loss.getLabels(), labels.input);
  if (!positions || !labels.input || isSum(loss))
    return std::nullopt;
  std::optional<LabelsOf::Rule> rule = ruleOf(*positions, labels.input);
  if (!rule)
    return std::nullopt;
  labels.rule = *rule;
  labels.isReadElsewhere = dependsOn(loss.getLogits(), labels.input, loss);
  for (Value result : loss->getBlock()->getTerminator()->getOperands())
    labels.isReadElsewhere |= dependsOn(result, labels.input, loss);
  return labels;
}

StringRef kindOfModel(func::FuncOp function, RankedTensorType logits) {
  if (logits.getRank() != 3)
    return "classification";
  if (hasTwoTokenInputs(function))
    return "seq2seq";
  int64_t positions = logits.getDimSize(1); // one position alone has nothing to hide
  return positions == 1 || isCausal(function, positions) ? "causal_lm" : "masked_lm";
}

} // namespace colrow
