//===- Masks.h - masks of attention, known by their values ----------------===//
#pragma once

#include "mlir/IR/Value.h"
#include "runtime/reference/Tensor.h"

#include <optional>

namespace colrow {

/// What is added to a score to hide its key: the exponential of anything like it is 0.
constexpr double hiddenScore = -1e9;

/// What a constant mask does.
struct MaskValue {
  bool hidesNothing = false;
  /// Where it hides the keys behind i + offset from query i, and no more, for an offset of at least
  /// 0: the offset.
  std::optional<int64_t> causal;
  bool isFinite = false, hasFiniteRows = false; ///< no infinity; none that fills a row
};

/// Of what is added to scores [..., queries, keys].
MaskValue maskValue(reference::Tensor mask, int64_t queries, int64_t keys);

/// The same of a condition under which scores stay, or with `visible` false become hidden.
MaskValue conditionValue(const reference::Tensor &condition, bool visible, int64_t queries,
                         int64_t keys);

/// Whether a mask has no infinities that the graph wrote: of parameters there are none.
bool isFiniteValue(mlir::Value mask);

} // namespace colrow
