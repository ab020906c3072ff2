//===- Passes.h - phase lower: from tensors to memory ---------------------===//
#pragma once

#include "mlir/Pass/Pass.h"

namespace colrow {
#define GEN_PASS_DECL
#include "passes/lower/Passes.h.inc"
#undef GEN_PASS_DECL
} // namespace colrow
