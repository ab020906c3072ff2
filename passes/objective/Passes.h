//===- Passes.h - phase objective: the training loss ----------------------===//
#pragma once

#include "mlir/Pass/Pass.h"

namespace colrow {
#define GEN_PASS_DECL
#include "passes/objective/Passes.h.inc"
#undef GEN_PASS_DECL
} // namespace colrow
