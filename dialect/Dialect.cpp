//===- Dialect.cpp - registration, the grid, roles (L9) -------------------===//

#include "dialect/Colrow.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace colrow;

#include "dialect/ColrowDialect.cpp.inc"
#include "dialect/ColrowEnums.cpp.inc"
#include "dialect/ColrowInterfaces.cpp.inc"

void ColrowDialect::initialize() {
  registerAttributes();
  addOperations<
#define GET_OP_LIST
#include "dialect/ColrowOps.cpp.inc"
      >();
}

Operation *ColrowDialect::materializeConstant(OpBuilder &builder, Attribute value, Type type,
                                              Location loc) {
  auto elements = dyn_cast<ElementsAttr>(value);
  return elements ? ConstantOp::create(builder, loc, type, elements) : nullptr;
}

//===----------------------------------------------------------------------===//
// Roles
//===----------------------------------------------------------------------===//

static StringRef stringAttr(Attribute attribute) {
  auto text = dyn_cast_or_null<StringAttr>(attribute);
  return text ? text.getValue() : StringRef();
}

StringRef colrow::getRole(func::FuncOp function, unsigned argument) {
  return stringAttr(function.getArgAttr(argument, ColrowDialect::roleAttrName));
}
StringRef colrow::getResultRole(func::FuncOp function, unsigned result) {
  return stringAttr(function.getResultAttr(result, ColrowDialect::roleAttrName));
}
StringRef colrow::getName(func::FuncOp function, unsigned argument) {
  return stringAttr(function.getArgAttr(argument, ColrowDialect::nameAttrName));
}
StringRef colrow::getResultName(func::FuncOp function, unsigned result) {
  return stringAttr(function.getResultAttr(result, ColrowDialect::nameAttrName));
}

std::string colrow::getUserName(Value value, StringRef fallback) {
  if (auto argument = dyn_cast<BlockArgument>(value))
    if (auto function = dyn_cast<func::FuncOp>(argument.getOwner()->getParentOp())) {
      StringRef name = getName(function, argument.getArgNumber());
      if (!name.empty())
        return name.str();
    }
  Location loc = value.getLoc();
  while (auto fused = dyn_cast<FusedLoc>(loc))
    loc = fused.getLocations().front();
  if (auto named = dyn_cast<NameLoc>(loc))
    return named.getName().str();
  return fallback.str();
}

/// L9: what a function's results are on every axis at its end.
static LogicalResult verifyRoles(func::FuncOp function) {
  llvm::StringMap<Type> parameters, states;
  for (unsigned i = 0; i < function.getNumArguments(); ++i) {
    StringRef role = getRole(function, i);
    if (role == "parameter")
      parameters[getName(function, i)] = function.getArgumentTypes()[i];
    if (role == "state")
      states[getName(function, i)] = function.getArgumentTypes()[i];
  }
  for (unsigned i = 0; i < function.getNumResults(); ++i) {
    StringRef role = getResultRole(function, i), name = getResultName(function, i);
    Type type = function.getResultTypes()[i];
    auto fail = [&](Type expected) {
      return function.emitOpError("breaks L9: result ")
             << i << " (" << role << " '" << name << "') must have type " << expected
             << ", got: " << type;
    };
    if ((role == "loss" || role == "metric") && getLayout(type))
      return fail(withLayout(type, {}));
    if (role == "parameter" && parameters.count(name) && parameters[name] != type)
      return fail(parameters[name]);
    if (role == "state" && states.count(name) && states[name] != type)
      return fail(states[name]);
    if (role == "gradient" && parameters.count(name) &&
        Type(gradientType(parameters[name])) != type)
      return fail(gradientType(parameters[name]));
  }
  return success();
}

//===----------------------------------------------------------------------===//
// The grid: its verifier walks the module
//===----------------------------------------------------------------------===//

static bool isTensorWithLayout(Type type) { return static_cast<bool>(getLayout(type)); }

/// Every cut deals out whole units, the same number to each rank.
static LogicalResult verifyDivides(Operation *op, Type type, GridAttr grid) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor || !getLayout(tensor))
    return success();
  // Types that were built, not parsed, have not been verified yet.
  auto emitError = [&] { return op->emitOpError(); };
  if (failed(getLayout(tensor).verifyEncoding(tensor.getShape(), tensor.getElementType(),
                                              emitError)))
    return failure();
  for (const AxisState &state : getLayout(tensor).getStates())
    if (grid.sizeOf(state.axis.getValue()) == 0)
      return op->emitOpError("names axis '") << state.axis.getValue() << "', which the grid lacks";
  for (auto [dim, slice] : llvm::enumerate(getSlices(tensor, grid)))
    if (!slice.divides())
      return op->emitOpError("dimension ")
             << dim << " of " << tensor << " does not divide into whole units on every rank";
  return success();
}

/// L9: what a function ends in has the types that the function says.
static LogicalResult verifyReturn(func::ReturnOp end) {
  auto function = end->getParentOfType<func::FuncOp>();
  for (auto [i, types] :
       llvm::enumerate(llvm::zip(end.getOperandTypes(), function.getResultTypes()))) {
    auto [got, expected] = types;
    if (got != expected && isa<RankedTensorType>(got) && isa<RankedTensorType>(expected) &&
        sameIgnoringLayout(got, expected))
      return end.emitOpError("breaks L9: result ")
             << i << " must have type " << expected << ", got: " << got;
  }
  return success();
}

static LogicalResult verifyGrid(ModuleOp module, GridAttr grid) {
  WalkResult result = module.walk([&](Operation *op) -> WalkResult {
    if (auto function = dyn_cast<func::FuncOp>(op)) {
      for (Type type : function.getArgumentTypes())
        if (failed(verifyDivides(op, type, grid)))
          return WalkResult::interrupt();
      return verifyRoles(function);
    }
    if (auto end = dyn_cast<func::ReturnOp>(op))
      return verifyReturn(end);
    for (Type type : op->getResultTypes())
      if (failed(verifyDivides(op, type, grid)))
        return WalkResult::interrupt();
    bool layouts = llvm::any_of(op->getOperandTypes(), isTensorWithLayout) ||
                   llvm::any_of(op->getResultTypes(), isTensorWithLayout);
    // Upstream folds and canonicalisations know nothing of layouts and would change the program.
    if (layouts && !isa<ColrowDialect>(op->getDialect()) && !isa<func::FuncDialect>(op->getDialect()))
      return op->emitOpError("touches a tensor with a layout; only colrow operations and "
                             "func.func, func.call and func.return may");
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

LogicalResult ColrowDialect::verifyOperationAttribute(Operation *op, NamedAttribute attribute) {
  if (attribute.getName() != gridAttrName)
    return success();
  auto grid = dyn_cast<GridAttr>(attribute.getValue());
  auto module = dyn_cast<ModuleOp>(op);
  if (!grid || !module)
    return op->emitError("'") << gridAttrName << "' is a #colrow.grid on a module";
  return verifyGrid(module, grid);
}
