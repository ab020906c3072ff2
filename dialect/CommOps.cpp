//===- CommOps.cpp - what one rank does, after localize -------------------===//

#include "dialect/Colrow.h"

using namespace mlir;

namespace colrow {

LogicalResult verifyComm(Operation *op, Type from, Type to) {
  GridAttr grid = getGrid(op);
  if (!grid)
    return op->emitOpError("needs the module's '") << ColrowDialect::gridAttrName << "'";
  for (auto [global, local] : {std::pair(from, op->getOperand(0).getType()),
                               std::pair(to, op->getResult(0).getType())}) {
    auto tensor = dyn_cast<RankedTensorType>(global);
    if (!tensor)
      return op->emitOpError("expects global tensor types, got: ") << global;
    for (const DimSlice &slice : getSlices(tensor, grid))
      for (const Cut &cut : slice.cuts)
        if (cut.ranks == 0)
          return op->emitOpError("names axis '") << cut.axis << "', which the grid lacks";
    if (getLocalType(tensor, grid) != local)
      return op->emitOpError("expects ") << getLocalType(tensor, grid) << " of " << tensor
                                         << ", got: " << local;
  }
  return success();
}

} // namespace colrow
