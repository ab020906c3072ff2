//===- Passes.h - phase emit: C++ text ------------------------------------===//
#pragma once

#include "mlir/Pass/Pass.h"

namespace colrow {
#define GEN_PASS_DECL
#include "passes/emit/Passes.h.inc"
#undef GEN_PASS_DECL
} // namespace colrow
