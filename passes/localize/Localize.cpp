//===- Localize.cpp - from whole tensors to what one rank holds -----------===//

#include "dialect/Colrow.h"
#include "passes/localize/GlobalTypes.h"
#include "passes/localize/Passes.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace colrow {
#define GEN_PASS_DEF_LOCALIZE
#include "passes/localize/Passes.h.inc"
} // namespace colrow

using namespace colrow;

namespace {

class Localize : public colrow::impl::LocalizeBase<Localize> {
public:
  void runOnOperation() override {
    ModuleOp module = getOperation();
    grid = getGrid(module);
    // Attributes and conversions read global types, so types change last.
    module.walk([&](Operation *op) {
      if (auto function = dyn_cast<func::FuncOp>(op))
        keepGlobalTypes(function);
      if (auto dependent = dyn_cast<RankDependentOpInterface>(op))
        if (!op->hasAttr(ColrowDialect::globalAttrName))
          op->setAttr(ColrowDialect::globalAttrName, TypeAttr::get(dependent.getSlicedType()));
      if (auto localizable = dyn_cast<LocalizableOpInterface>(op))
        localizable.localizeAttributes(grid);
      if (isa<ConversionOpInterface>(op))
        replaceConversion(op);
    });
    module.walk([&](Operation *op) { localizeTypes(op); });
  }

private:
  Type localType(Type type) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    return tensor && getLayout(tensor) ? getLocalType(tensor, grid) : type;
  }

  void keepGlobalTypes(func::FuncOp function) {
    for (auto [i, type] : llvm::enumerate(function.getArgumentTypes()))
      if (getLayout(type))
        function.setArgAttr(i, ColrowDialect::globalTypeAttrName, TypeAttr::get(type));
    for (auto [i, type] : llvm::enumerate(function.getResultTypes()))
      if (getLayout(type))
        function.setResultAttr(i, ColrowDialect::globalTypeAttrName, TypeAttr::get(type));
  }

  void replaceConversion(Operation *op) {
    if (isa<FOp>(op)) {
      op->getResult(0).replaceAllUsesWith(op->getOperand(0));
      op->erase();
      return;
    }
    TypeSwitch<Operation *>(op)
        .Case<GOp>([&](auto) { replaceWith<CommAllReduceOp>(op); })
        .Case<AllGatherOp, GatherOp>([&](auto) { replaceWith<CommAllGatherOp>(op); })
        .Case<ReduceScatterOp>([&](auto) { replaceWith<CommReduceScatterOp>(op); })
        .Case<AllToAllOp>([&](auto) { replaceWith<CommAllToAllOp>(op); })
        .Case<TakeShardOp>([&](auto) { replaceWith<CommTakeShardOp>(op); })
        .Case<PlaceOp>([&](auto) { replaceWith<CommPlaceOp>(op); })
        .DefaultUnreachable("a conversion without a form after localize");
  }

  template <typename CommOp> void replaceWith(Operation *op) {
    OpBuilder builder(op);
    Type from = op->getOperand(0).getType(), to = op->getResult(0).getType();
    auto axes = builder.getArrayAttr(cast<ConversionOpInterface>(op).getConvertedAxes());
    auto comm = CommOp::create(builder, op->getLoc(), to, op->getOperand(0), axes,
                               TypeAttr::get(from), TypeAttr::get(to));
    comm->setDiscardableAttrs(op->getDiscardableAttrDictionary());
    op->getResult(0).replaceAllUsesWith(comm.getResult());
    op->erase();
  }

  void localizeTypes(Operation *op) {
    op->setLoc(withGlobalTypes(op->getLoc(), op->getResultTypes()));
    for (Value result : op->getResults())
      result.setType(localType(result.getType()));
    for (Region &region : op->getRegions())
      for (Block &block : region)
        for (BlockArgument argument : block.getArguments()) {
          argument.setLoc(withGlobalTypes(argument.getLoc(), argument.getType()));
          argument.setType(localType(argument.getType()));
        }
    if (auto function = dyn_cast<func::FuncOp>(op)) {
      auto localTypes = [&](ArrayRef<Type> types) {
        return llvm::map_to_vector(types, [&](Type type) { return localType(type); });
      };
      function.setType(FunctionType::get(op->getContext(), localTypes(function.getArgumentTypes()),
                                         localTypes(function.getResultTypes())));
    }
  }

  GridAttr grid;
};

} // namespace
