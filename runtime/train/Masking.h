//===- Masking.h - dynamic masking for masked language models --------------===//
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace colrow {

/// Hides tokens for a masked language model to find (Devlin et al., "BERT", 2018), other ones in
/// each epoch (Liu et al., "RoBERTa", 2019): 15% of the positions are chosen and have labels; of
/// these, 80% hold the mask token, 10% a random token, 10% what they held. A row in which chance
/// chooses none has one chosen, so that no step of short rows is without labels.
///
/// What happens to an element is a function of (seed, step, its number in the step): the four
/// random words of element i are block i of Philox under the key of `stream`, so it is the same on
/// every grid and however a step is split into microbatches.
class Masking {
public:
  /// Random tokens are below `vocabulary`. `special` is never chosen, nor is the mask token.
  Masking(uint64_t seed, std::string_view stream, int64_t maskToken, int64_t vocabulary,
          std::optional<int64_t> special);

  /// Masks rows of `sequence` tokens in place. `labels` become the tokens that were at chosen
  /// positions and `ignoreLabel` elsewhere. `first` is the number of the first element in the step.
  void apply(int64_t step, int64_t first, int64_t sequence, int64_t ignoreLabel,
             std::vector<int64_t> &tokens, std::vector<int64_t> &labels) const;

private:
  uint64_t seed, stream;
  int64_t maskToken, vocabulary;
  std::optional<int64_t> special;
};

} // namespace colrow
