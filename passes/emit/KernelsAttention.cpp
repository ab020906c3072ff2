//===- KernelsAttention.cpp - calls of the kernels of attention -----------===//

#include "passes/emit/FunctionEmitter.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace colrow {
namespace {

/// The type of the global probabilities [b, h, s, t].
template <typename OpTy> RankedTensorType probabilities(OpTy op) {
  if (std::optional<Type> global = op.getGlobal())
    return cast<RankedTensorType>(*global);
  return op.getSlicedType();
}

/// The keys that this rank's first query sees beside its own; nothing where its queries do not
/// follow one another in the sequence.
template <typename OpTy> std::optional<std::string> queryOffset(FunctionEmitter &e, OpTy op) {
  RankedTensorType global = probabilities(op);
  LayoutAttr layout = getLayout(global);
  bool cut = false;
  for (const AxisState &state : layout ? layout.getStates() : ArrayRef<AxisState>()) {
    bool ofQueries = state.isShard() && state.dim == 2;
    if (ofQueries && state.blocks != 1)
      return {};
    cut |= ofQueries;
  }
  std::string offset = std::to_string(op.getCausalAttr().getInt());
  return cut ? fmt::format("{} + {}.globalIndex(0)", offset, e.members.indexMap(global, 2)) : offset;
}

/// An AttentionForm: what is not there is left out from the end.
template <typename OpTy> std::optional<std::string> attentionForm(FunctionEmitter &e, OpTy op) {
  std::vector<std::string> parts{literal(op.getScale().convertToDouble())};
  if (op.getCausal()) {
    std::optional<std::string> offset = queryOffset(e, op);
    if (!offset)
      return {};
    parts.insert(parts.end(), {"true", *offset});
  } else if (op.getMask() || op.getRandom()) {
    parts.insert(parts.end(), {"false", "0"});
  }
  if (op.getMask())
    parts.push_back(e.view(op.getMask()));
  else if (op.getRandom())
    parts.push_back("{}");
  if (op.getRandom()) {
    parts.push_back(dropoutSite(e, op, op.getRandom(), *op.getId(), op.getRate()->convertToDouble()));
    parts.push_back("&" + e.members.slices(probabilities(op)));
  }
  if (op.getCap()) {
    static constexpr const char *absent[] = {"", "false", "0", "{}", "{}", "nullptr"};
    while (parts.size() < std::size(absent))
      parts.push_back(absent[parts.size()]);
    parts.push_back(literal(op.getCap()->convertToDouble()));
  }
  return fmt::format("{{{}}}", fmt::join(parts, ", "));
}

template <typename OpTy>
bool emitForward(FunctionEmitter &e, OpTy op, const std::string &logSumExp) {
  std::string query = e.view(op.getQuery()), key = e.view(op.getKey()),
              value = e.view(op.getValue());
  std::optional<std::string> form = attentionForm(e, op);
  if (form)
    e.line(fmt::format("attention(ctx, {}, {}, {}, {}, {}, {});", query, key, value, *form,
                       e.view(op.getResult()), logSumExp));
  return form.has_value();
}

bool emitGradient(FunctionEmitter &e, AttentionGradOp op) {
  std::string operands[] = {e.view(op.getGradient()), e.view(op.getQuery()), e.view(op.getKey()),
                            e.view(op.getValue()), e.view(op.getLogSumExp())};
  std::optional<std::string> form = attentionForm(e, op);
  if (!form)
    return false;
  std::vector<std::string> results;
  for (Value result : op->getResults())
    results.push_back(e.view(result));
  e.line(fmt::format("attentionGrad(ctx, {}, {}, {});", fmt::join(operands, ", "), *form,
                     fmt::join(results, ", ")));
  return true;
}

} // namespace

bool emitAttention(FunctionEmitter &e, const Step &step) {
  return llvm::TypeSwitch<Operation *, bool>(step.ops[0])
      .Case<AttentionOp>([&](AttentionOp op) {
        ArrayRef<int64_t> queries = op.getQuery().getType().getShape().drop_back();
        return emitForward(e, op, e.workspace(step, 0, "log_sum_exp", queries));
      })
      .Case<AttentionWithStatisticsOp>([&](AttentionWithStatisticsOp op) {
        return emitForward(e, op, e.view(op.getLogSumExp()));
      })
      .Case<AttentionGradOp>([&](AttentionGradOp op) { return emitGradient(e, op); })
      .Default([](auto) { return false; });
}

} // namespace colrow
