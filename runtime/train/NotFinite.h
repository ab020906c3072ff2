//===- NotFinite.h - where numbers stopped being finite --------------------===//
#pragma once

#include "colrow/Rank.h"

#include <functional>
#include <optional>

namespace colrow {

/// The first tensor of a step that is not finite, for a message: "the parameter 'wte.weight' holds
/// nan", or "the first tensor that is not finite is 'act' (output of node 'Mul_2'), which holds
/// infinity". Looks at the parameters, then at what the forward pass computes: `repeat` runs all
/// microbatches of the step once more. A collective of all ranks, which get the same text; nothing
/// if the repeated step is finite.
std::optional<std::string> describeFirstNotFinite(const ProgramInfo &info, Rank &rank,
                                                  Program &program,
                                                  const std::function<void()> &repeat);

/// The same of the gradients as they are in memory, by the order of the backward pass: "the first
/// gradient that is not finite is that of 'h.3.mlp.c_fc.weight', which holds nan".
std::optional<std::string> describeGradientNotFinite(const ProgramInfo &info, Rank &rank,
                                                     Program &program);

} // namespace colrow
