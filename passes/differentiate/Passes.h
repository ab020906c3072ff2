//===- Passes.h - phase differentiate -------------------------------------===//
#pragma once

#include "mlir/Pass/Pass.h"

namespace colrow {
#define GEN_PASS_DECL
#include "passes/differentiate/Passes.h.inc"
#undef GEN_PASS_DECL
} // namespace colrow
