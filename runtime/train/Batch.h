//===- Batch.h - microbatches into a program's inputs ----------------------===//
#pragma once

#include "DataSource.h"
#include "colrow/Program.h"

#include <optional>
#include <string>
#include <vector>

namespace colrow {

/// The name under which every program takes its labels.
constexpr const char *labelsName = "labels";

/// Converts `count` elements to the type of an input and stores them at `to`.
template <typename T>
void storeInput(const InputInfo &input, const T *from, int64_t count, void *to);

/// What position t predicts: labels[t + 1], and nothing at the last position. In place, along
/// rows of `sequence` labels.
void shiftLabels(std::vector<int64_t> &labels, int64_t sequence, int64_t ignoreLabel);

/// Fills the inputs of a causal language model from rows of tokens: tokens [0, T) of a row are
/// its input, [1, T + 1) its labels. Inputs that Hugging Face models have beside them get what
/// unpadded rows mean: attention_mask ones, token_type_ids zeros, position_ids 0, 1, ...
class TokenInputs {
public:
  /// Throws Error naming the input where rows of tokens do not determine the inputs. Labels equal
  /// to `ignoreToken` do not count.
  TokenInputs(const ProgramInfo &info, std::optional<int64_t> ignoreToken);

  /// Tokens of the data must be below this; 0: not known.
  int64_t limit() const { return tokenLimit; }
  /// Labels of these rows that count.
  int64_t countLabels(const TokenFile &file, const std::vector<int64_t> &rows) const;
  /// One microbatch: info.batch rows.
  void fill(const TokenFile &file, const std::vector<int64_t> &rows, Program &program) const;

private:
  const ProgramInfo &info;
  std::optional<int64_t> ignoreToken;
  int64_t tokenLimit = 0;
  size_t tokenInput = 0, labelInput = 0;
};

} // namespace colrow
