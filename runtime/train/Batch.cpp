//===- Batch.cpp - microbatches into a program's inputs --------------------===//

#include "Batch.h"
#include "Format.h"
#include "colrow/Error.h"
#include "colrow/Safetensors.h"

#include <algorithm>

namespace colrow {

template <typename T>
void storeInput(const InputInfo &input, const T *from, int64_t count, void *to) {
  switch (input.dtype) {
  case DType::f32: std::copy_n(from, count, static_cast<float *>(to)); break;
  case DType::i64: std::copy_n(from, count, static_cast<int64_t *>(to)); break;
  case DType::i32: std::copy_n(from, count, static_cast<int32_t *>(to)); break;
  case DType::b1: std::copy_n(from, count, static_cast<uint8_t *>(to)); break;
  }
}
template void storeInput(const InputInfo &, const float *, int64_t, void *);
template void storeInput(const InputInfo &, const int64_t *, int64_t, void *);

void shiftLabels(std::vector<int64_t> &labels, int64_t sequence, int64_t ignoreLabel) {
  for (auto row = labels.begin(); row != labels.end(); row += sequence) {
    std::copy(row + 1, row + sequence, row);
    row[sequence - 1] = ignoreLabel;
  }
}

namespace {

bool isInteger(const InputInfo &input) {
  return input.dtype == DType::i64 || input.dtype == DType::i32;
}

/// The value at position t of an input that says nothing new about rows without padding.
std::optional<int64_t> impliedValue(const std::string &name, int64_t t) {
  if (name == "attention_mask")
    return 1;
  if (name == "token_type_ids")
    return 0;
  if (name == "position_ids")
    return t;
  return std::nullopt;
}

} // namespace

TokenInputs::TokenInputs(const ProgramInfo &info, std::optional<int64_t> ignoreToken)
    : info(info), ignoreToken(ignoreToken) {
  if (info.labels != LabelRule::shiftLeft)
    throw Error(fmt::format("'{}' was compiled with an objective other than causal language "
                            "modelling; rows of tokens do not determine its labels",
                            info.model));
  std::vector<int64_t> shape = {info.batch, info.sequence};
  bool hasTokens = false, hasLabels = false;
  for (size_t i = 0; i < info.inputs.size(); ++i) {
    const InputInfo &input = info.inputs[i];
    if (input.shape == shape && input.name == labelsName && isInteger(input)) {
      labelInput = i;
      hasLabels = true;
    } else if (input.shape == shape && impliedValue(input.name, 0)) {
      // Filled with what its name implies.
    } else if (input.shape == shape && isInteger(input) && !hasTokens) {
      tokenInput = i;
      hasTokens = true;
    } else {
      throw Error(fmt::format("input '{}' {} of '{}' does not follow from rows of tokens, which "
                              "is all that training has",
                              input.name, shapeText(input.shape), info.model));
    }
  }
  if (!hasTokens || !hasLabels)
    throw Error(fmt::format("'{}' has no input for {} of shape {}", info.model,
                            hasTokens ? "labels" : "tokens", shapeText(shape)));
  for (size_t i : {tokenInput, labelInput})
    if (int64_t limit = info.inputs[i].limit; limit > 0)
      tokenLimit = tokenLimit > 0 ? std::min(tokenLimit, limit) : limit;
}

int64_t TokenInputs::countLabels(const TokenFile &file, const std::vector<int64_t> &rows) const {
  int64_t count = int64_t(rows.size()) * info.sequence;
  if (ignoreToken)
    for (int64_t row : rows)
      for (int64_t t = 1; t <= info.sequence; ++t)
        count -= file[row * info.sequence + t] == *ignoreToken;
  return count;
}

void TokenInputs::fill(const TokenFile &file, const std::vector<int64_t> &rows,
                       Program &program) const {
  int64_t sequence = info.sequence;
  std::vector<int64_t> values(rows.size() * size_t(sequence));
  for (size_t i = 0; i < info.inputs.size(); ++i) {
    const InputInfo &input = info.inputs[i];
    for (size_t r = 0; r < rows.size(); ++r)
      for (int64_t t = 0; t < sequence; ++t) {
        int64_t position = rows[r] * sequence + t, value;
        if (i == tokenInput) {
          value = file[position];
        } else if (i == labelInput) {
          value = file[position + 1];
          if (ignoreToken && value == *ignoreToken)
            value = info.ignoreLabel;
        } else {
          value = *impliedValue(input.name, t);
        }
        values[r * size_t(sequence) + size_t(t)] = value;
      }
    storeInput(input, values.data(), int64_t(values.size()), program.input(i));
  }
}

} // namespace colrow
