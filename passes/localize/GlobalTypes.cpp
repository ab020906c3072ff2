//===- GlobalTypes.cpp - what local tensors are parts of ------------------===//

#include "passes/localize/GlobalTypes.h"
#include "dialect/Colrow.h"

using namespace mlir;

namespace colrow {

Location withGlobalTypes(Location loc, TypeRange types) {
  if (llvm::none_of(types, [](Type type) { return getLayout(type) != nullptr; }))
    return loc;
  SmallVector<Attribute> list;
  for (Type type : types)
    list.push_back(TypeAttr::get(type));
  return FusedLoc::get(loc.getContext(), {loc}, ArrayAttr::get(loc.getContext(), list));
}

RankedTensorType getGlobalType(Value value) {
  Location loc = value.getLoc();
  auto result = dyn_cast<OpResult>(value);
  while (auto fused = dyn_cast<FusedLoc>(loc)) {
    if (auto types = dyn_cast_or_null<ArrayAttr>(fused.getMetadata())) {
      size_t number = result && types.size() > 1 ? result.getResultNumber() : 0;
      if (number < types.size())
        return cast<RankedTensorType>(cast<TypeAttr>(types[number]).getValue());
    }
    loc = fused.getLocations().front();
  }
  return {};
}

Location getLocOfValue(Value value) {
  RankedTensorType type = getGlobalType(value);
  return type ? withGlobalTypes(value.getLoc(), type) : value.getLoc();
}

} // namespace colrow
