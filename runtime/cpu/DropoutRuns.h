//===- DropoutRuns.h - dropout of runs of consecutive global elements -----===//
#pragma once

#include "colrow/KernelsDropout.h"
#include "colrow/Philox.h"

namespace colrow {

/// A dropout site with what does not change from element to element worked out.
class DropoutRuns {
public:
  /// `elements` is the number of elements of the site's global tensor.
  DropoutRuns(const DropoutSite &site, int64_t elements)
      : key(philoxKey(site.seed, site.id)), step(site.step),
        first(uint64_t(site.microbatch) * uint64_t(elements)),
        threshold(dropoutThreshold(site.rate)), scale(float(1 / (1 - site.rate))) {}

  /// Drops from `count` elements that are consecutive in the global tensor, from `element` on.
  void apply(const float *in, float *out, int64_t element, int64_t count) const {
    uint64_t index = first + uint64_t(element);
    for (int64_t i = 0; i < count;) {
      // One call of the generator serves four elements that share a block.
      PhiloxCounter words = philoxBlock(key, step, index / 4);
      for (uint64_t word = index % 4; word < 4 && i < count; ++word, ++i, ++index)
        out[i] = dropoutKeeps(words[word], threshold) ? in[i] * scale : 0.0f;
    }
  }

private:
  PhiloxKey key;
  uint64_t step, first;
  uint32_t threshold;
  float scale;
};

} // namespace colrow
