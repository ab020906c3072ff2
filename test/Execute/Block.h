//===- Block.h - a small GPT-2 whose layouts are written by hand -----------===//
#pragma once

#include "dialect/Colrow.h"

namespace colrow::test {

/// @main of a one-layer GPT-2 with tied embeddings and cross entropy: vocabulary-parallel
/// embedding, fused QKV cut by heads inside its blocks, column-then-row MLP, biases added once, on
/// a grid with axes dp and tp. With a null grid the same program without layouts.
mlir::OwningOpRef<mlir::ModuleOp> buildBlock(GridAttr grid);

} // namespace colrow::test
