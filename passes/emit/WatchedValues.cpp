//===- WatchedValues.cpp - tensors that a step shows to an observer -------===//

#include "passes/emit/WatchedValues.h"
#include "dialect/Colrow.h"
#include "passes/lower/Elementwise.h"

using namespace mlir;

namespace colrow {

/// The names of a value in one of the layers that its function stands for: importing makes locations
/// of the node's name and, where it has another, the tensor's.
static std::pair<StringRef, StringRef> namesOf(Value value, size_t instance) {
  Location loc = value.getLoc();
  while (auto fused = dyn_cast<FusedLoc>(loc)) {
    auto mark = dyn_cast_or_null<StringAttr>(fused.getMetadata());
    bool perInstance = mark && mark.getValue() == instancesLocName;
    loc = fused.getLocations()[perInstance ? instance : 0];
  }
  auto node = dyn_cast<NameLoc>(loc);
  if (!node)
    return {};
  auto tensor = dyn_cast<NameLoc>(node.getChildLoc());
  if (!tensor)
    return {node.getName(), ""};
  return {tensor.getName(), node.getName()};
}

bool WatchedValues::mayBeInfinite(Value value) {
  auto known = infinite.find(value);
  if (known != infinite.end())
    return known->second;
  bool result = value.getDefiningOp() && makesInfinities(value.getDefiningOp());
  return infinite[value] = result;
}

bool WatchedValues::makesInfinities(Operation *op) {
  if (auto constant = dyn_cast<ConstantOp>(op)) {
    auto floats = dyn_cast<DenseFPElementsAttr>(constant.getValue());
    return floats && llvm::any_of(floats.isSplat()
                                      ? llvm::make_range(floats.begin(), floats.begin() + 1)
                                      : llvm::make_range(floats.begin(), floats.end()),
                                  [](const APFloat &element) { return element.isInfinity(); });
  }
  if (isa<MaskPaddingOp>(op))
    return true;
  if (isa<AddOp, SubOp, NegOp, SelectOp, MinOp, MaxOp, CastOp, ReshapeOp, TransposeOp, BroadcastOp,
          SliceOp, ConcatOp>(op))
    return llvm::any_of(op->getOperands(), [&](Value value) { return mayBeInfinite(value); });
  return false;
}

static bool isFloat(Value value) {
  return cast<RankedTensorType>(value.getType()).getElementType().isF32();
}

/// What a step of the forward pass has written.
static SmallVector<Value> writtenBy(const Step &step, const FunctionPlan &plan) {
  SmallVector<Value> values;
  if (step.kind == Step::loop) {
    for (Operation *op : step.ops)
      if (plan.isStored(op->getResult(0)))
        values.push_back(op->getResult(0));
  } else if (step.kind != Step::copy && step.ops[0]->getNumResults() > 0) {
    // Others than the first are statistics of it or gradients.
    values.push_back(step.ops[0]->getResult(0));
  }
  llvm::erase_if(values, [&](Value value) { return !plan.hasPlace(value) || !isFloat(value); });
  return values;
}

WatchedValues::WatchedValues(const ProgramPlan &program) {
  if (const FunctionPlan *step = program.lookup("forward_backward"))
    add(*step, program);
}

void WatchedValues::add(const FunctionPlan &plan, const ProgramPlan &program) {
  std::vector<std::pair<const Step *, Value>> all;
  for (const Step &step : plan.steps) {
    if (step.backward)
      continue;
    if (func::FuncOp callee = step.kind == Step::call ? getCallee(step.ops[0]) : func::FuncOp()) {
      const FunctionPlan *function = program.lookup(callee.getSymName());
      if (perCall.count(function))
        continue; // its names are those of all calls
      for (auto [argument, operand] :
           llvm::zip(callee.getArguments(), step.ops[0]->getOperands()))
        infinite[argument] = mayBeInfinite(operand);
      add(*function, program);
      continue;
    }
    for (Value value : writtenBy(step, plan))
      all.push_back({&step, value});
  }
  // A product, the sum of it over the ranks and that with its bias are one tensor to the user.
  SmallVector<Value> values;
  for (size_t i = 0; i < all.size(); ++i) {
    auto [step, value] = all[i];
    bool again = i + 1 < all.size() && namesOf(value, 0) == namesOf(all[i + 1].second, 0) &&
                 !namesOf(value, 0).first.empty();
    if (again)
      continue;
    shown[step].push_back(value);
    values.push_back(value);
  }
  auto calls = plan.function->getAttrOfType<IntegerAttr>("colrow.instances");
  if (plan.outlined)
    perCall[&plan] = values.size();
  number(values, calls ? calls.getInt() : 1);
}

void WatchedValues::number(ArrayRef<Value> values, size_t calls) {
  for (auto [i, value] : llvm::enumerate(values))
    numbers[value] = infos.size() + i;
  for (size_t call = 0; call < calls; ++call)
    for (Value value : values) {
      auto [tensor, node] = namesOf(value, call);
      StringRef name = tensor.empty() ? value.getDefiningOp()->getName().stripDialect() : tensor;
      infos.push_back({name.str(), node.str(), mayBeInfinite(value)});
    }
}

ArrayRef<Value> WatchedValues::valuesOf(const Step &step) const {
  auto found = shown.find(&step);
  return found == shown.end() ? ArrayRef<Value>() : ArrayRef<Value>(found->second);
}

} // namespace colrow
