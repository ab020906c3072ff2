//===- Passes.h - phase raise: bigger operations out of small ones --------===//
#pragma once

#include "mlir/Pass/Pass.h"

namespace colrow {
#define GEN_PASS_DECL
#include "passes/raise/Passes.h.inc"
#undef GEN_PASS_DECL
} // namespace colrow
