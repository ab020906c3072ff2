//===- Passes.h - phase localize: one program for every rank --------------===//
#pragma once

#include "mlir/Pass/Pass.h"

namespace colrow {
#define GEN_PASS_DECL
#include "passes/localize/Passes.h.inc"
#undef GEN_PASS_DECL
} // namespace colrow
