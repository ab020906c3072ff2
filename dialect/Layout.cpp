//===- Layout.cpp - layout and grid attributes ----------------------------===//

#include "dialect/Colrow.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/SmallSet.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace colrow;

#define GET_ATTRDEF_CLASSES
#include "dialect/ColrowAttrs.cpp.inc"

void ColrowDialect::registerAttributes() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "dialect/ColrowAttrs.cpp.inc"
      >();
}

namespace colrow {

//===----------------------------------------------------------------------===//
// AxisState
//===----------------------------------------------------------------------===//

AxisState AxisState::transposed() const {
  assert(!isPartialMax() && "partial<max> has no gradient (L8)");
  AxisState result = *this;
  if (isReplicated())
    result.kind = StateKind::partial;
  else if (isPartial())
    result.kind = StateKind::replicated;
  return result;
}

std::string AxisState::str() const {
  switch (kind) {
  case StateKind::invariant:
    return "invariant";
  case StateKind::replicated:
    return "replicated";
  case StateKind::partial:
    return "partial";
  case StateKind::partialMax:
    return "partial<max>";
  case StateKind::shard:
    break;
  }
  std::string text = "shard<" + std::to_string(dim);
  if (blocks != 1)
    text += ", blocks = " + std::to_string(blocks);
  if (unit != 1)
    text += ", unit = " + std::to_string(unit);
  return text + ">";
}

//===----------------------------------------------------------------------===//
// GridAttr
//===----------------------------------------------------------------------===//

int64_t GridAttr::sizeOf(StringRef axis) const {
  for (auto [name, size] : llvm::zip(getNames(), getSizes()))
    if (name.getValue() == axis)
      return size;
  return 0;
}

int64_t GridAttr::numRanks() const {
  int64_t ranks = 1;
  for (int64_t size : getSizes())
    ranks *= size;
  return ranks;
}

LogicalResult GridAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                               ArrayRef<StringAttr> names, ArrayRef<int64_t> sizes) {
  llvm::SmallSet<StringRef, 4> seen;
  for (auto [name, size] : llvm::zip(names, sizes)) {
    if (size < 1)
      return emitError() << "axis " << name << " expects a size of at least 1, got: " << size;
    if (!seen.insert(name.getValue()).second)
      return emitError() << "axis " << name << " is named twice";
  }
  return success();
}

Attribute GridAttr::parse(AsmParser &parser, Type) {
  SmallVector<StringAttr> names;
  SmallVector<int64_t> sizes;
  SMLoc loc = parser.getCurrentLocation();
  auto parseAxis = [&]() -> ParseResult {
    StringRef name;
    int64_t size;
    if (parser.parseKeyword(&name) || parser.parseEqual() || parser.parseInteger(size))
      return failure();
    names.push_back(StringAttr::get(parser.getContext(), name));
    sizes.push_back(size);
    return success();
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::LessGreater, parseAxis))
    return {};
  return parser.getChecked<GridAttr>(loc, parser.getContext(), names, sizes);
}

void GridAttr::print(AsmPrinter &printer) const {
  printer << "<";
  llvm::interleaveComma(llvm::zip(getNames(), getSizes()), printer, [&](auto axis) {
    printer << std::get<0>(axis).getValue() << " = " << std::get<1>(axis);
  });
  printer << ">";
}

//===----------------------------------------------------------------------===//
// LayoutAttr
//===----------------------------------------------------------------------===//

/// L11: by axis name, but cuts of one dimension stay together in their order, outer first, where
/// the first of them stands.
static SmallVector<AxisState> canonical(ArrayRef<AxisState> states) {
  SmallVector<SmallVector<AxisState>> groups;
  for (const AxisState &state : states) {
    if (state.isInvariant())
      continue;
    auto sameDim = llvm::find_if(groups, [&](const SmallVector<AxisState> &group) {
      return state.isShard() && group.front().isShard() && group.front().dim == state.dim;
    });
    if (sameDim != groups.end())
      sameDim->push_back(state);
    else
      groups.push_back({state});
  }
  llvm::stable_sort(groups, [](const auto &a, const auto &b) {
    return a.front().axis.getValue() < b.front().axis.getValue();
  });
  SmallVector<AxisState> result;
  for (const SmallVector<AxisState> &group : groups)
    result.append(group.begin(), group.end());
  return result;
}

LayoutAttr LayoutAttr::get(MLIRContext *context, ArrayRef<AxisState> states) {
  SmallVector<AxisState> ordered = canonical(states);
  return ordered.empty() ? LayoutAttr() : Base::get(context, ordered);
}

AxisState LayoutAttr::stateOn(StringAttr axis) const {
  for (const AxisState &state : getStates())
    if (state.axis == axis)
      return state;
  return AxisState::invariant(axis);
}

LogicalResult LayoutAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                 ArrayRef<AxisState> states) {
  llvm::SmallSet<StringRef, 4> seen;
  for (const AxisState &state : states) {
    if (!seen.insert(state.axis.getValue()).second)
      return emitError() << "L11: axis '" << state.axis.getValue() << "' is named twice";
    if (state.isShard() && (state.blocks < 1 || state.unit < 1))
      return emitError() << "expects blocks and unit of at least 1, got: " << state.str();
  }
  return success();
}

LogicalResult LayoutAttr::verifyEncoding(ArrayRef<int64_t> shape, Type elementType,
                                         function_ref<InFlightDiagnostic()> emitError) const {
  for (const AxisState &state : getStates()) {
    if (state.isShard() && (state.dim < 0 || state.dim >= static_cast<int64_t>(shape.size())))
      return emitError() << "axis '" << state.axis.getValue() << "' cuts dimension " << state.dim
                         << " of a tensor of rank " << shape.size();
    if (state.isReplicated() && !isa<FloatType>(elementType))
      return emitError() << "L6: " << elementType << " has no gradient, hence is not replicated on '"
                         << state.axis.getValue() << "': leave it invariant";
    if (state.isPartial() && elementType.isInteger(1))
      return emitError() << "L6: booleans have no sum, hence are not partial on '"
                         << state.axis.getValue() << "'";
  }
  return success();
}

static ParseResult parseState(AsmParser &parser, AxisState &state) {
  StringRef axis, kind;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseKeyword(&axis) || parser.parseEqual() || parser.parseKeyword(&kind))
    return failure();
  StringAttr name = StringAttr::get(parser.getContext(), axis);
  if (kind == "invariant")
    return parser.emitError(loc) << "L11: an axis that is not named is invariant: leave out '"
                                 << axis << "'";
  if (kind == "replicated") {
    state = AxisState::replicated(name);
    return success();
  }
  if (kind == "partial") {
    state = AxisState::partial(name);
    if (succeeded(parser.parseOptionalLess())) {
      state = AxisState::partialMax(name);
      return failure(parser.parseKeyword("max") || parser.parseGreater());
    }
    return success();
  }
  if (kind != "shard")
    return parser.emitError(loc) << "expects replicated, partial, partial<max> or shard<...>, got: "
                                 << kind;
  state = AxisState::shard(name, 0);
  if (parser.parseLess() || parser.parseInteger(state.dim))
    return failure();
  while (succeeded(parser.parseOptionalComma())) {
    StringRef field;
    int64_t value;
    if (parser.parseKeyword(&field) || parser.parseEqual() || parser.parseInteger(value))
      return failure();
    if (field == "blocks")
      state.blocks = value;
    else if (field == "unit")
      state.unit = value;
    else
      return parser.emitError(loc) << "expects blocks or unit, got: " << field;
  }
  return parser.parseGreater();
}

Attribute LayoutAttr::parse(AsmParser &parser, Type) {
  SmallVector<AxisState> states;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::LessGreater,
                                     [&] { return parseState(parser, states.emplace_back()); }))
    return {};
  if (states.empty()) {
    parser.emitError(loc) << "L11: a tensor that is invariant on every axis has no layout";
    return {};
  }
  states = canonical(states);
  return Base::getChecked([&] { return parser.emitError(loc); }, parser.getContext(), states);
}

void LayoutAttr::print(AsmPrinter &printer) const {
  printer << "<";
  llvm::interleaveComma(getStates(), printer, [&](const AxisState &state) {
    printer << state.axis.getValue() << " = " << state.str();
  });
  printer << ">";
}

//===----------------------------------------------------------------------===//
// Types with layouts
//===----------------------------------------------------------------------===//

LayoutAttr getLayout(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor ? dyn_cast_or_null<LayoutAttr>(tensor.getEncoding()) : LayoutAttr();
}

AxisState getState(Type type, StringAttr axis) {
  LayoutAttr layout = getLayout(type);
  return layout ? layout.stateOn(axis) : AxisState::invariant(axis);
}

RankedTensorType withLayout(Type type, LayoutAttr layout) {
  auto tensor = cast<RankedTensorType>(type);
  return RankedTensorType::get(tensor.getShape(), tensor.getElementType(), layout);
}

RankedTensorType withState(Type type, AxisState state) {
  SmallVector<AxisState> states;
  bool replaced = false;
  if (LayoutAttr layout = getLayout(type))
    for (const AxisState &old : layout.getStates()) {
      bool same = old.axis == state.axis;
      states.push_back(same ? state : old);
      replaced |= same;
    }
  if (!replaced)
    states.push_back(state);
  return withLayout(type, LayoutAttr::get(type.getContext(), states));
}

RankedTensorType gradientType(Type type) {
  SmallVector<AxisState> states;
  if (LayoutAttr layout = getLayout(type))
    for (const AxisState &state : layout.getStates())
      states.push_back(state.transposed());
  return withLayout(type, LayoutAttr::get(type.getContext(), states));
}

GridAttr getGrid(Operation *op) {
  for (; op; op = op->getParentOp())
    if (auto grid = op->getAttrOfType<GridAttr>(ColrowDialect::gridAttrName))
      return grid;
  return {};
}

std::vector<DimSlice> getSlices(RankedTensorType type, GridAttr grid) {
  std::vector<DimSlice> slices;
  for (int64_t size : type.getShape())
    slices.push_back({size, {}});
  if (LayoutAttr layout = getLayout(type))
    for (const AxisState &state : layout.getStates())
      if (state.isShard())
        slices[state.dim].cuts.push_back({state.axis.str(), grid.sizeOf(state.axis.getValue()),
                                          state.blocks, state.unit});
  return slices;
}

std::vector<DimSlice> getStorage(RankedTensorType type, DictionaryAttr attributes,
                                 GridAttr grid) {
  std::vector<DimSlice> slices = getSlices(type, grid);
  if (auto filled = attributes ? attributes.getAs<ArrayAttr>("colrow.filled") : ArrayAttr())
    for (auto [slice, blocks] : llvm::zip(slices, filled))
      slice.filled = cast<IntegerAttr>(blocks).getInt();
  return slices;
}

RankedTensorType getLocalType(RankedTensorType type, GridAttr grid) {
  SmallVector<int64_t> shape;
  for (const DimSlice &slice : getSlices(type, grid)) {
    assert(slice.divides() && "verified layouts deal out whole units");
    shape.push_back(slice.localSize());
  }
  return RankedTensorType::get(shape, type.getElementType());
}

bool sameIgnoringLayout(TypeRange lhs, TypeRange rhs) {
  return lhs.size() == rhs.size() && llvm::all_of(llvm::zip(lhs, rhs), [](auto pair) {
           return withLayout(std::get<0>(pair), {}) == withLayout(std::get<1>(pair), {});
         });
}

} // namespace colrow
