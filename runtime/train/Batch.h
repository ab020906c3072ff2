//===- Batch.h - values and shapes of a program's inputs -------------------===//
#pragma once

#include "colrow/Program.h"

#include <string>
#include <vector>

namespace colrow {

/// What PyTorch's losses ignore by default, and what files of labels hold.
constexpr int64_t torchIgnoreLabel = -100;

inline bool isInteger(const InputInfo &input) {
  return input.dtype == DType::i64 || input.dtype == DType::i32;
}

/// Whether the input's first dimension is rows of the data; others are the same for every batch.
inline bool hasRows(const InputInfo &input, const ProgramInfo &info) {
  return !input.shape.empty() && input.shape[0] == info.batch;
}

/// "[rows, 32] int64": what a data file has for an input.
std::string rowsText(const InputInfo &input, const ProgramInfo &info);

/// Converts `count` elements to the type of an input and stores them at `to`.
template <typename T>
void storeInput(const InputInfo &input, const T *from, int64_t count, void *to);

/// Labels as files have them (-100 is ignored, not shifted) become those that the program takes, in
/// place, along rows of `sequence` labels: where the rule says so, position t predicts labels[t +
/// 1], and the last position nothing.
void prepareLabels(std::vector<int64_t> &labels, int64_t sequence, const ProgramInfo &info);

} // namespace colrow
