//===- Evaluate.cpp - @evaluate beside what is trained --------------------===//

#include "passes/differentiate/Functions.h"
#include "passes/differentiate/Passes.h"

using namespace mlir;

namespace colrow {
#define GEN_PASS_DEF_EVALUATE
#include "passes/differentiate/Passes.h.inc"

namespace {

struct Evaluate : impl::EvaluateBase<Evaluate> {
  using EvaluateBase::EvaluateBase;

  void runOnOperation() override {
    auto function = getOperation().lookupSymbol<func::FuncOp>("main");
    if (!function || function.isExternal()) {
      getOperation().emitError("has no function @main to evaluate");
      return signalPassFailure();
    }
    FailureOr<unsigned> loss = findLoss(function);
    if (failed(loss))
      return signalPassFailure();
    func::FuncOp evaluate = function.clone();
    getOperation().insert(std::next(function->getIterator()), evaluate);
    evaluate.setName("evaluate");
    if (failed(buildEvaluate(evaluate, *loss)))
      return signalPassFailure();
    setResults(function, getResult(function, *loss));
  }

private:
  LogicalResult buildEvaluate(func::FuncOp function, unsigned loss) {
    llvm::BitVector unused(function.getNumArguments());
    for (BlockArgument argument : function.getArguments())
      unused[argument.getArgNumber()] = argument.use_empty();
    for (Operation &op : llvm::make_early_inc_range(function.getBody().front()))
      if (auto training = dyn_cast<EvaluationFormOpInterface>(op)) {
        OpBuilderWithLayouts b(&op);
        SmallVector<Value> values = training.evaluationForm(b);
        op.replaceAllUsesWith(values);
        op.erase();
      }
    SmallVector<Result> results{getResult(function, loss)};
    for (unsigned i = 0; i < function.getNumResults(); ++i)
      if (i != loss)
        results.push_back(getResult(function, i));
    setResults(function, results);
    cleanUp(function);
    // What only training read (random numbers) is no longer an input.
    llvm::BitVector erase(function.getNumArguments());
    for (BlockArgument argument : function.getArguments())
      erase[argument.getArgNumber()] =
          argument.use_empty() && !unused[argument.getArgNumber()] &&
          getRole(function, argument.getArgNumber()) == "input";
    return function.eraseArguments(erase);
  }
};

} // namespace
} // namespace colrow
