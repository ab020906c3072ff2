//===- Outputs.h - which output is the loss, and which the logits ---------===//
#pragma once

#include "dialect/Colrow.h"

#include <optional>
#include <string>

namespace colrow {

/// The result of @main that is the loss, nothing where there is none. `name` is the user's choice;
/// without one it is the only scalar. `isAdded`: an objective is named, so that only a cross
/// entropy is kept. Emits an error that lists the candidates where that does not say which.
mlir::FailureOr<std::optional<unsigned>> findLoss(mlir::func::FuncOp function, llvm::StringRef name,
                                                  bool isAdded);

/// The result of @main that has the classes of `objective` (or auto) as its last dimension: the
/// only one of its rank, or that called `logits`, or the user's choice `name`. Emits an error that
/// lists the candidates where that does not say which.
mlir::FailureOr<unsigned> findLogits(mlir::func::FuncOp function, llvm::StringRef name,
                                     llvm::StringRef objective);

} // namespace colrow
