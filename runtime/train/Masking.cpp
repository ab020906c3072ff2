//===- Masking.cpp - dynamic masking for masked language models ------------===//

#include "Masking.h"
#include "colrow/Philox.h"

namespace colrow {
namespace {

constexpr double chosenShare = 0.15, maskedShare = 0.8, randomShare = 0.1;

} // namespace

Masking::Masking(uint64_t seed, std::string_view stream, int64_t maskToken, int64_t vocabulary,
                 std::optional<int64_t> special)
    : seed(seed), stream(stableId(stream)), maskToken(maskToken), vocabulary(vocabulary),
      special(special) {}

void Masking::apply(int64_t step, int64_t first, int64_t sequence, int64_t ignoreLabel,
                    std::vector<int64_t> &tokens, std::vector<int64_t> &labels) const {
  const uint32_t chosenBelow = dropoutThreshold(chosenShare),
                 maskedBelow = dropoutThreshold(maskedShare),
                 randomBelow = dropoutThreshold(maskedShare + randomShare);
  const PhiloxKey key = philoxKey(seed, stream);
  auto wordsOf = [&](size_t i) {
    return philoxBlock(key, uint64_t(step), uint64_t(first) + uint64_t(i));
  };
  auto choose = [&](size_t i, const PhiloxCounter &words) {
    labels[i] = tokens[i];
    uint32_t kind = words[1] >> 8;
    if (kind < maskedBelow)
      tokens[i] = maskToken;
    else if (kind < randomBelow)
      tokens[i] = int64_t(uint64_t(words[2]) * uint64_t(vocabulary) >> 32);
  };
  labels.assign(tokens.size(), ignoreLabel);
  for (size_t row = 0; row < tokens.size(); row += size_t(sequence)) {
    bool isChosen = false;
    std::optional<size_t> nearest; // to being chosen
    uint32_t least = 0;
    for (size_t i = row; i < row + size_t(sequence); ++i) {
      if (tokens[i] == maskToken || tokens[i] == special)
        continue;
      PhiloxCounter words = wordsOf(i);
      if (words[0] >> 8 < chosenBelow) {
        choose(i, words);
        isChosen = true;
      } else if (!nearest || words[0] < least) {
        nearest = i;
        least = words[0];
      }
    }
    if (!isChosen && nearest)
      choose(*nearest, wordsOf(*nearest));
  }
}

} // namespace colrow
