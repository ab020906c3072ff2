//===- Objective.cpp - the training loss ----------------------------------===//

#include "dialect/Colrow.h"
#include "mlir/IR/Remarks.h"
#include "passes/objective/Outputs.h"
#include "passes/objective/Passes.h"
#include "passes/objective/Recognise.h"

using namespace mlir;

namespace colrow {
#define GEN_PASS_DEF_OBJECTIVE
#include "passes/objective/Passes.h.inc"

namespace {

/// What the host does to labels before they enter.
constexpr llvm::StringLiteral shiftLeft = "shift_left", unchanged = "none", inGraph = "in_graph";

constexpr llvm::StringLiteral objectives[] = {"causal_lm", "next_token", "masked_lm", "seq2seq",
                                              "classification"};

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
    if (failed(run(function)))
      return signalPassFailure();
    eraseDead(function);
  }

  LogicalResult run(func::FuncOp function) {
    bool isNamed = objective != "auto";
    if (isNamed && !llvm::is_contained(objectives, StringRef(objective)))
      return function.emitError("knows no objective '")
             << objective
             << "'; known are causal_lm, next_token, masked_lm, seq2seq and classification";
    FailureOr<std::optional<unsigned>> found = findLoss(function, lossName, isNamed);
    if (failed(found))
      return failure();
    if (!*found)
      return addLoss(function);
    if (!logitsName.empty())
      return function.emitError("--logits ")
             << logitsName << " is for graphs without a loss, but output '"
             << getResultName(function, **found) << "' is the loss; leave it out, or name an "
             << "--objective";
    Operation *end = function.getBody().front().getTerminator();
    CrossEntropyOp loss = crossEntropyOf(end->getOperand(**found));
    std::optional<LabelsOf> labels = loss ? recogniseLabels(loss) : std::nullopt;
    // Shifted, labels would be other ones for who else reads them.
    if (!labels || (labels->rule == LabelsOf::shifted && labels->isReadElsewhere))
      return takeLoss(function, **found);
    return keepLoss(function, loss, *labels, **found);
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

  Value addCount(func::FuncOp function) {
    return addInput(function, RankedTensorType::get({}, Float32Type::get(&getContext())),
                    "colrow.count");
  }

  /// The attribute of an optional term of the loss.
  FloatAttr term(double factor) {
    return factor > 0 ? OpBuilder(&getContext()).getF64FloatAttr(factor) : FloatAttr();
  }

  /// What the host has to know: what kind of model it is, and what becomes of labels.
  void describe(StringRef kind, StringRef rule, StringRef labels) {
    MLIRContext *context = &getContext();
    getOperation()->setAttr("colrow.objective", StringAttr::get(context, kind));
    getOperation()->setAttr("colrow.labels", StringAttr::get(context, rule));
    if (!labels.empty())
      getOperation()->setAttr("colrow.labels_input", StringAttr::get(context, labels));
  }

  /// The loss comes first.
  void putFirst(func::FuncOp function, unsigned index, Value loss) {
    Operation *end = function.getBody().front().getTerminator();
    NamedAttrList attrs(function.getResultAttrDict(index));
    attrs.set(ColrowDialect::roleAttrName, StringAttr::get(&getContext(), "loss"));
    end->eraseOperand(index);
    (void)function.eraseResult(index);
    end->insertOperands(0, loss);
    (void)function.insertResult(0, loss.getType(), attrs.getDictionary(&getContext()));
  }

  LogicalResult keepLoss(func::FuncOp function, CrossEntropyOp loss, const LabelsOf &labels,
                         unsigned index) {
    StringRef rule = labels.rule == LabelsOf::shifted ? shiftLeft : unchanged;
    std::string name = getResultName(function, index).str();
    if (loss.getIgnore() != static_cast<uint64_t>(ignoreLabel) && rule == shiftLeft)
      return loss.emitError("'") << name << "' ignores label "
                                 << static_cast<int64_t>(loss.getIgnore()) << "; expects "
                                 << ignoreLabel;
    std::string kind = kindOfLoss(function, loss, labels);
    if (objective != "auto") {
      if ((objective == "causal_lm") != (rule == shiftLeft))
        return function.emitError("the graph has its loss '")
               << name << "', which takes labels "
               << (rule == shiftLeft ? "shifted left by one: its objective is causal_lm"
                                     : "as they are: its objective is not causal_lm")
               << ", not " << objective;
      kind = objective;
    }
    OpBuilder builder(loss);
    auto type = cast<RankedTensorType>(loss.getLabels().getType());
    Value entering = labels.input;
    auto narrow = cast<RankedTensorType>(entering.getType());
    if (narrow.getElementType() != type.getElementType())
      entering = CastOp::create(builder, loss.getLoc(), narrow.clone(type.getElementType()), entering);
    if (entering.getType() != type)
      entering = ReshapeOp::create(builder, loss.getLoc(), type, entering);
    loss.getLabelsMutable().assign(entering);
    loss.getCountMutable().assign(addCount(function));
    if (labelSmoothing > 0)
      loss.setLabelSmoothingAttr(term(labelSmoothing));
    if (zLoss > 0)
      loss.setZLossAttr(term(zLoss));
    putFirst(function, index, function.getBody().front().getTerminator()->getOperand(index));
    StringRef input = ::colrow::getName(function, labels.input.getArgNumber());
    describe(kind, rule, input);
    remark::analysis(loss.getLoc(), remark::RemarkOpts::name("Loss").category("colrow-objective"))
        << "the graph has its loss '" << name << "', objective " << kind << "; labels '" << input
        << "': " << rule;
    return success();
  }

  /// What a loss in the graph is for. Labels have the shape that logits had before they were
  /// flattened.
  std::string kindOfLoss(func::FuncOp function, CrossEntropyOp loss, const LabelsOf &labels) {
    if (labels.rule == LabelsOf::shifted)
      return "causal_lm";
    auto type = cast<RankedTensorType>(labels.input.getType());
    SmallVector<int64_t> shape(type.getShape());
    auto logits = cast<RankedTensorType>(loss.getLogits().getType());
    shape.push_back(logits.getShape().back());
    StringRef kind = kindOfModel(function, RankedTensorType::get(shape, logits.getElementType()));
    if (kind == "classification")
      return kind.str();
    if (labels.isReadElsewhere) // a decoder makes its inputs of them
      return "seq2seq";
    return kind == "causal_lm" ? "next_token" : kind.str();
  }

  /// Any other scalar is trained as it is: what the graph makes of its inputs is not looked into.
  /// The loss of a step is the mean over its microbatches.
  LogicalResult takeLoss(func::FuncOp function, unsigned index) {
    StringRef name = getResultName(function, index);
    if (objective != "auto")
      return function.emitError("the graph makes its loss '")
             << name << "' of its inputs by itself: --objective " << objective
             << " does not apply; leave it out";
    if (labelSmoothing > 0 || zLoss > 0)
      return function.emitError("the graph makes its loss '")
             << name << "' of its inputs by itself: " << (labelSmoothing > 0 ? "--label-smoothing"
                                                                             : "--z-loss")
             << " is for the cross entropy of logits and labels; leave it out";
    Operation *end = function.getBody().front().getTerminator();
    Value loss = end->getOperand(index);
    OpBuilderWithLayouts b(end);
    b.setLoc(NameLoc::get(b.getStringAttr(name)));
    auto type = RankedTensorType::get({}, b.getF32Type());
    if (getElementTypeOrSelf(loss.getType()) != type.getElementType())
      loss = b.create<CastOp>(cast<RankedTensorType>(loss.getType()).clone(type.getElementType()),
                              loss);
    if (loss.getType() != type)
      loss = b.create<ReshapeOp>(type, loss);
    loss = b.create<DivOp>(loss, addCount(function));
    remark::analysis(loss.getLoc(), remark::RemarkOpts::name("Loss").category("colrow-objective"))
        << "the graph makes its loss '" << name << "' of its inputs by itself";
    putFirst(function, index, loss);
    describe(inGraph, inGraph, "");
    return success();
  }

  LogicalResult addLoss(func::FuncOp function) {
    FailureOr<unsigned> found = findLogits(function, logitsName, objective);
    if (failed(found))
      return failure();
    Operation *end = function.getBody().front().getTerminator();
    Value logits = end->getOperand(*found);
    auto type = cast<RankedTensorType>(logits.getType());
    std::string kind = objective;
    if (kind == "auto") {
      kind = kindOfModel(function, type).str();
      remark::analysis(logits.getLoc(),
                       remark::RemarkOpts::name("Objective").category("colrow-objective"))
          << "objective is " << kind << ", of output '" << getUserName(logits) << "'";
    }
    StringRef labelsName = "labels";
    for (unsigned i = 0; i < function.getNumArguments(); ++i)
      if (getRole(function, i) == "input" && ::colrow::getName(function, i) == labelsName)
        return function.emitError("the graph has an input 'labels' and no loss that reads it, but "
                                  "the labels of the loss that is added enter under that name; "
                                  "rename the input in the export, or export the loss with it");
    OpBuilder builder(end);
    Value labels =
        addInput(function, RankedTensorType::get(type.getShape().drop_back(), builder.getI64Type()),
                 labelsName);
    Value count = addCount(function);
    Location loc = NameLoc::get(builder.getStringAttr("loss"));
    Value loss = CrossEntropyOp::create(builder, loc, logits, labels, count, ignoreLabel,
                                        type.getShape().back(), TypeAttr(), term(labelSmoothing),
                                        term(zLoss));
    end->insertOperands(0, loss);
    (void)function.insertResult(
        0, loss.getType(),
        builder.getDictionaryAttr(
            {builder.getNamedAttr("colrow.role", builder.getStringAttr("loss")),
             builder.getNamedAttr("colrow.name", builder.getStringAttr("loss"))}));
    describe(kind, kind == "causal_lm" ? shiftLeft : unchanged, labelsName);
    return success();
  }
};

} // namespace
} // namespace colrow
