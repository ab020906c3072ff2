//===- Functions.cpp - results of functions, and what nobody reads --------===//

#include "passes/differentiate/Functions.h"
#include "mlir/IR/Dominance.h"
#include "mlir/Transforms/CSE.h"

using namespace mlir;

namespace colrow {

void setResults(func::FuncOp function, ArrayRef<Result> results) {
  Operation *terminator = function.getBody().front().getTerminator();
  SmallVector<Value> values;
  SmallVector<Attribute> attributes;
  for (const Result &result : results) {
    values.push_back(result.value);
    attributes.push_back(result.attributes);
  }
  terminator->setOperands(values);
  function.setType(FunctionType::get(function.getContext(),
                                     function.getBody().front().getArgumentTypes(),
                                     ValueRange(values).getTypes()));
  function.setResAttrsAttr(ArrayAttr::get(function.getContext(), attributes));
}

Result getResult(func::FuncOp function, unsigned i) {
  DictionaryAttr attributes = function.getResultAttrDict(i);
  return {function.getBody().front().getTerminator()->getOperand(i),
          attributes ? attributes : DictionaryAttr::get(function.getContext())};
}

void mergeEqualValues(func::FuncOp function) {
  IRRewriter rewriter(function.getContext());
  DominanceInfo dominance(function);
  eliminateCommonSubExpressions(rewriter, dominance, function);
}

void cleanUp(func::FuncOp function) {
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(function.getBody().front()))) {
    if (auto stop = dyn_cast<StopGradientOp>(op))
      stop.getResult().replaceAllUsesWith(stop.getInput());
    if (isOpTriviallyDead(&op))
      op.erase();
  }
  mergeEqualValues(function);
}

FailureOr<unsigned> findLoss(func::FuncOp function) {
  std::optional<unsigned> loss;
  for (unsigned i = 0; i < function.getNumResults(); ++i) {
    if (getResultRole(function, i) != "loss")
      continue;
    if (loss)
      return function.emitError("@main has two results of role 'loss'");
    auto type = cast<RankedTensorType>(function.getResultTypes()[i]);
    if (type.getRank() != 0 || !isa<FloatType>(type.getElementType()))
      return function.emitError("expects a scalar loss, got: ") << type;
    loss = i;
  }
  if (!loss)
    return function.emitError("@main has no result of role 'loss': add an objective first");
  return *loss;
}

} // namespace colrow
