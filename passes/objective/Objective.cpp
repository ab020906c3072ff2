//===- Objective.cpp - the training loss ----------------------------------===//

#include "dialect/Colrow.h"
#include "mlir/IR/Remarks.h"
#include "passes/objective/Passes.h"
#include "runtime/reference/Interpreter.h"

#include <numeric>

using namespace mlir;

namespace colrow {
#define GEN_PASS_DEF_OBJECTIVE
#include "passes/objective/Passes.h.inc"

namespace {

constexpr int64_t ignoreLabel = -100; // PyTorch's

/// What the host does to labels before they enter.
constexpr llvm::StringLiteral shiftLeft = "shift_left", unchanged = "none";

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

/// Whether a constant [..., positions, positions] lets each position see itself and what comes before
/// and hides all others: a lower triangle of booleans (or its complement), or of numbers with far
/// smaller ones above.
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
    for (int64_t j = 0; j < positions; ++j)
      if ((low[i * positions + j] == low[0]) != (j <= i))
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

/// Erases what no result depends on.
void eraseDead(func::FuncOp function) {
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(function.getBody().front())))
    if (isOpTriviallyDead(&op))
      op.erase();
}

struct Objective : impl::ObjectiveBase<Objective> {
  using ObjectiveBase::ObjectiveBase;

  void runOnOperation() override {
    auto function = getOperation().lookupSymbol<func::FuncOp>("main");
    if (!function) {
      getOperation().emitError("has no function @main");
      return signalPassFailure();
    }
    unsigned index = 0;
    CrossEntropyOp loss = findLoss(function, index);
    if (failed(loss ? keepLoss(function, loss, index) : addLoss(function)))
      return signalPassFailure();
    eraseDead(function);
  }

  /// A scalar result that is a cross entropy.
  CrossEntropyOp findLoss(func::FuncOp function, unsigned &index) {
    Operation *end = function.getBody().front().getTerminator();
    for (Value value : end->getOperands()) {
      Operation *op = value.getDefiningOp();
      while (isa_and_nonnull<ReshapeOp, CastOp>(op))
        op = op->getOperand(0).getDefiningOp();
      if (auto loss = dyn_cast_or_null<CrossEntropyOp>(op)) {
        index = llvm::find(end->getOperands(), value) - end->operand_begin();
        return loss;
      }
    }
    return {};
  }

  DictionaryAttr inputAttrs(StringRef name) {
    OpBuilder b(&getContext());
    return b.getDictionaryAttr({b.getNamedAttr("colrow.role", b.getStringAttr("input")),
                                b.getNamedAttr("colrow.name", b.getStringAttr(name))});
  }

  Value addInput(func::FuncOp function, RankedTensorType type, StringRef name) {
    unsigned index = function.getNumArguments();
    (void)function.insertArgument(index, type, inputAttrs(name),
                                  NameLoc::get(StringAttr::get(&getContext(), name)));
    return function.getArgument(index);
  }

  RankedTensorType scalarType() {
    return RankedTensorType::get({}, Float32Type::get(&getContext()));
  }

  void setLabels(StringRef rule) {
    getOperation()->setAttr("colrow.labels", StringAttr::get(&getContext(), rule));
  }

  LogicalResult keepLoss(func::FuncOp function, CrossEntropyOp loss, unsigned index) {
    BlockArgument labels;
    std::optional<reference::Tensor> positions = executeOnPositions(loss.getLabels(), labels);
    std::optional<StringRef> rule = positions ? ruleOf(*positions, labels) : std::nullopt;
    if (!rule)
      return loss.emitError("'") << getUserName(loss.getResult(), "the loss")
                                 << "' reads labels that are neither the graph's input nor that "
                                    "input shifted left by one; export the model without its loss";
    if (static_cast<int64_t>(loss.getIgnore()) != ignoreLabel && *rule == shiftLeft)
      return loss.emitError("'") << getUserName(loss.getResult(), "the loss") << "' ignores label "
                                 << static_cast<int64_t>(loss.getIgnore()) << "; expects "
                                 << ignoreLabel;
    OpBuilder builder(loss);
    auto type = cast<RankedTensorType>(loss.getLabels().getType());
    Value entering = labels;
    if (labels.getType() != type)
      entering = ReshapeOp::create(builder, loss.getLoc(), type, labels);
    loss.getLabelsMutable().assign(entering);
    loss.getCountMutable().assign(addInput(function, scalarType(), "colrow.count"));
    function.setArgAttrs(labels.getArgNumber(), inputAttrs("labels"));
    function.setResultAttr(index, ColrowDialect::roleAttrName, builder.getStringAttr("loss"));
    // The loss comes first.
    Operation *end = function.getBody().front().getTerminator();
    if (index != 0) {
      Value value = end->getOperand(index);
      DictionaryAttr attrs = function.getResultAttrDict(index);
      end->eraseOperand(index);
      (void)function.eraseResult(index);
      end->insertOperands(0, value);
      (void)function.insertResult(0, value.getType(), attrs);
    }
    setLabels(*rule);
    remark::analysis(loss.getLoc(), remark::RemarkOpts::name("Loss").category("colrow-objective"))
        << "the graph has its loss; labels: " << *rule;
    return success();
  }

  /// How the labels that reach the loss follow from the input, element by element.
  std::optional<StringRef> ruleOf(const reference::Tensor &reached, BlockArgument labels) {
    ArrayRef<int64_t> shape = cast<RankedTensorType>(labels.getType()).getShape();
    std::vector<int64_t> values = reached.toIntegers();
    int64_t row = shape.empty() ? 1 : shape.back();
    if (static_cast<int64_t>(values.size()) != cast<RankedTensorType>(labels.getType()).getNumElements())
      return std::nullopt;
    bool same = true, shifted = true;
    for (auto [i, value] : llvm::enumerate(values)) {
      int64_t position = static_cast<int64_t>(i);
      same &= value == position;
      shifted &= value == (position % row == row - 1 ? ignoreLabel : position + 1);
    }
    if (shifted)
      return StringRef(shiftLeft);
    return same ? std::optional(StringRef(unchanged)) : std::nullopt;
  }

  LogicalResult addLoss(func::FuncOp function) {
    Operation *end = function.getBody().front().getTerminator();
    Value logits;
    for (Value value : end->getOperands())
      if (auto type = cast<RankedTensorType>(value.getType());
          !logits && type.getRank() >= 2 && isa<FloatType>(type.getElementType()))
        logits = value;
    if (!logits)
      return function.emitError("has no output that could be logits: of floating type, with the "
                                "classes as last dimension");
    auto type = cast<RankedTensorType>(logits.getType());
    std::string kind = objective;
    if (kind == "auto") {
      if (type.getRank() != 3)
        kind = "classification";
      else if (hasTwoTokenInputs(function))
        kind = "seq2seq";
      else // one position alone has nothing to hide
        kind = type.getDimSize(1) == 1 || isCausal(function, type.getDimSize(1)) ? "causal_lm"
                                                                                : "masked_lm";
      remark::analysis(logits.getLoc(),
                       remark::RemarkOpts::name("Objective").category("colrow-objective"))
          << "objective is " << kind << ", of output '" << getUserName(logits) << "'";
    }
    if (kind != "causal_lm" && kind != "next_token" && kind != "masked_lm" && kind != "seq2seq" &&
        kind != "classification")
      return function.emitError("knows no objective '")
             << kind
             << "'; known are causal_lm, next_token, masked_lm, seq2seq and classification";
    OpBuilder builder(end);
    Value labels = addInput(
        function, RankedTensorType::get(type.getShape().drop_back(), builder.getI64Type()),
        "labels");
    Value count = addInput(function, scalarType(), "colrow.count");
    Location loc = NameLoc::get(builder.getStringAttr("loss"));
    Value loss = CrossEntropyOp::create(builder, loc, logits, labels, count, ignoreLabel,
                                        type.getShape().back(), TypeAttr());
    end->insertOperands(0, loss);
    (void)function.insertResult(
        0, loss.getType(),
        builder.getDictionaryAttr({builder.getNamedAttr("colrow.role", builder.getStringAttr("loss")),
                                   builder.getNamedAttr("colrow.name", builder.getStringAttr("loss"))}));
    setLabels(kind == "causal_lm" ? shiftLeft : unchanged);
    return success();
  }
};

} // namespace
} // namespace colrow
