//===- Plan.cpp - what a function does step by step, and where values are -===//

#include "passes/lower/Plan.h"
#include "dialect/Colrow.h"
#include "passes/lower/Elementwise.h"

using namespace mlir;

namespace colrow {

static constexpr StringLiteral backwardMark = "backward", recomputedMark = "recomputed";

static bool hasMark(Operation *op, StringRef text) {
  Location loc = op->getLoc();
  while (auto fused = dyn_cast<FusedLoc>(loc)) {
    if (auto mark = dyn_cast_or_null<StringAttr>(fused.getMetadata()))
      if (mark.getValue() == text)
        return true;
    loc = fused.getLocations().front();
  }
  return false;
}

bool isBackward(Operation *op) { return hasMark(op, backwardMark); }
bool isRecomputed(Operation *op) { return hasMark(op, recomputedMark); }

Location recomputedLocation(Location forward) {
  MLIRContext *context = forward.getContext();
  for (StringRef mark : {recomputedMark, backwardMark})
    forward = FusedLoc::get(context, {forward}, StringAttr::get(context, mark));
  return forward;
}

std::optional<unsigned> getTiedArgument(func::FuncOp function, unsigned result) {
  StringRef role = getResultRole(function, result), name = getResultName(function, result);
  if (role == "parameter" || role == "state" || role == "gradient")
    for (unsigned i = 0; i < function.getNumArguments(); ++i)
      if (getRole(function, i) == role && getName(function, i) == name)
        return i;
  return {};
}

func::FuncOp getCallee(Operation *op) {
  auto call = dyn_cast<func::CallOp>(op);
  return call ? SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(op, call.getCalleeAttr())
              : func::FuncOp();
}

int64_t elementBytes(Type elementType) {
  unsigned bits = elementType.getIntOrFloatBitWidth();
  return bits == 1 ? 1 : bits / 8;
}

int64_t tensorBytes(Type type) {
  auto tensor = cast<RankedTensorType>(type);
  return tensor.getNumElements() * elementBytes(tensor.getElementType());
}

const Place &FunctionPlan::place(Value value) const {
  auto found = places.find(value);
  assert(found != places.end() && "every value that is read has a place");
  return found->second;
}

bool FunctionPlan::isContiguous(Value value) const {
  auto type = cast<RankedTensorType>(value.getType());
  SmallVector<int64_t> rowMajor = rowMajorStrides(type.getShape());
  return llvm::all_of(llvm::zip(type.getShape(), place(value).strides, rowMajor), [](auto dim) {
    auto [size, stride, expected] = dim;
    return size == 1 || stride == expected;
  });
}

const FunctionPlan *ProgramPlan::lookup(StringRef name) const {
  for (const auto &plan : functions)
    if (func::FuncOp(plan->function).getSymName() == name)
      return plan.get();
  return nullptr;
}

FailureOr<ProgramPlan> ProgramPlan::create(ModuleOp module) {
  ProgramPlan program;
  std::vector<func::FuncOp> order;
  for (bool outlined : {false, true})
    for (auto function : module.getOps<func::FuncOp>())
      if (!function.isDeclaration() && function.isPrivate() == outlined)
        order.push_back(function);
  int64_t calleeScratch = 0;
  for (func::FuncOp function : order) {
    WalkResult local = function.walk([&](Operation *op) -> WalkResult {
      for (Type type : op->getResultTypes())
        if (getLayout(type) || !isa<RankedTensorType>(type))
          return op->emitOpError("has type ") << type << "; a plan needs localized tensors: run "
                                                         "colrow-localize first";
      return WalkResult::advance();
    });
    if (local.wasInterrupted())
      return failure();
    auto plan = std::make_unique<FunctionPlan>();
    plan->function = function;
    plan->outlined = function.isPrivate();
    // The frame of an outlined function lies behind those of all its possible callers.
    plan->scratchBegin = plan->outlined ? calleeScratch : 0;
    planSteps(*plan);
    if (failed(planMemory(*plan, program)))
      return failure();
    int64_t end = plan->scratchBegin + plan->scratchBytes;
    if (!plan->outlined)
      calleeScratch = std::max(calleeScratch, end);
    program.scratchBytes = std::max(program.scratchBytes, end);
    program.activationBytes = std::max(program.activationBytes, plan->activationBytes);
    program.outputBytes = std::max(program.outputBytes, plan->outputBytes);
    program.functions.push_back(std::move(plan));
  }
  return program;
}

} // namespace colrow
