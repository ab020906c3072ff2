//===- Passes.h - phase shard: assigns layouts, inserts f and g -----------===//
#pragma once

#include "mlir/Pass/Pass.h"

namespace colrow {
#define GEN_PASS_DECL
#include "passes/shard/Passes.h.inc"
#undef GEN_PASS_DECL
} // namespace colrow
