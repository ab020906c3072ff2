//===- GlobalTypes.h - what local tensors are parts of --------------------===//
//
// After localize a type says what one rank holds. For people who read what follows, locations
// remember the layouts: they take no part in comparisons, so values that are now the same still
// merge.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Location.h"
#include "mlir/IR/Value.h"

namespace colrow {

/// A location that remembers the global types of an operation's results, or of one argument.
mlir::Location withGlobalTypes(mlir::Location loc, mlir::TypeRange types);

/// The global type of a value of localized IR, or null where its layout is not remembered.
mlir::RankedTensorType getGlobalType(mlir::Value value);

/// The same location, of result `value` alone.
mlir::Location getLocOfValue(mlir::Value value);

} // namespace colrow
