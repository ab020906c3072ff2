//===- Passes.h - registration of all passes ------------------------------===//
#pragma once

namespace colrow {

/// Registers every pass of every phase with MLIR's command line.
void registerColrowPasses();

} // namespace colrow
