//===- TokenRows.h - language models learn from a stream of tokens ---------===//
#pragma once

#include "TrainingData.h"

namespace colrow {

/// Rows of tokens for the inputs of a language model: of a causal one, tokens [0, T) of a row are
/// its input and [1, T + 1) its labels; of a masked one, T tokens with some hidden (Masking.h) are
/// its input and the hidden ones its labels.
///
/// Of several integer inputs [batch, sequence] the first whose name does not say otherwise takes
/// the tokens. Inputs that Hugging Face models have beside it get what rows without padding mean:
/// attention_mask ones, token_type_ids zeros, position_ids 0, 1, ... Any other input is an Error
/// that names it, as is an objective that tokens do not determine.
std::unique_ptr<TrainingData> openTokenRows(const std::string &path, const ProgramInfo &info,
                                            const DataOptions &options, bool evaluates);

} // namespace colrow
