//===- Consistency.h - what all ranks must have alike ----------------------===//
//
// The types promise that a parameter that an axis does not cut has the same bits on all ranks of
// that axis, and nothing in a step looks whether it does. These do. All are collectives of all
// ranks, and all ranks throw the same Error.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "Checkpoint.h"
#include "colrow/Program.h"
#include "colrow/Rank.h"

namespace colrow {

/// Throws Error naming setting and ranks if the settings have other values on some ranks. All ranks
/// give the same names.
void requireEqualSettings(const RunSettings &settings, Rank &rank);

/// Throws Error naming parameter and ranks if ranks that hold the same part of a parameter, or of
/// its moments, hold other bits. `step` is for the message.
void requireEqualParameters(const ProgramInfo &info, Rank &rank, Program &program, int64_t step);

/// Throws Error naming input and ranks if the program's inputs are not the same on all ranks.
void requireEqualInputs(const ProgramInfo &info, Rank &rank, Program &program, int64_t step);

} // namespace colrow
