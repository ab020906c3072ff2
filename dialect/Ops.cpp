//===- Ops.cpp - code generated from the operations' definitions ----------===//

#include "dialect/Colrow.h"

using namespace mlir;
using namespace colrow;

#define GET_OP_CLASSES
#include "dialect/ColrowOps.cpp.inc"
