//===- Views.cpp - tensors seen in another order --------------------------===//
//
// Every dimension is a product of parts, outer to inner. Walking up from a value, a transpose orders
// the dimensions' parts in another way and a reshape groups them in another way, where it needs to
// with a part taken apart:
//
//   value       2x4x16x8    [a] [b] [c] [d]
//   reshape     8x16x8      [a b] [c] [d]
//   transpose   8x8x16      [a b] [d] [c]
//   reshape     2x4x8x16    [a] [b] [d] [c]     the value with its last two dimensions swapped
//
//===----------------------------------------------------------------------===//

#include "passes/raise/Views.h"
#include "passes/raise/Match.h"

using namespace mlir;

namespace colrow {
namespace {

using Parts = SmallVector<unsigned>;

class ViewFinder {
public:
  ViewFinder(Value value, ArrayRef<int64_t> shape, std::optional<int64_t> repeated)
      : repeated(repeated) {
    best.source = current = value;
    best.shape.assign(shape.begin(), shape.end());
    for (auto [dim, size] : llvm::enumerate(shape)) {
      best.order.push_back(dim);
      valueDims.emplace_back();
      if (size != 1)
        valueDims.back().push_back(newPart(size));
    }
    unsigned next = 0;
    for (int64_t size : cast<RankedTensorType>(value.getType()).getShape())
      currentDims.push_back(size == 1 ? Parts() : Parts{next++});
  }

  ReorderedView run() {
    while (step())
      record();
    return best;
  }

private:
  unsigned newPart(int64_t size) {
    sizes.push_back(size);
    isRepeated.push_back(false);
    return sizes.size() - 1;
  }

  /// Goes on to the operand that the current tensor is made of.
  bool step() {
    Operation *op = current.getDefiningOp();
    if (std::optional<Scaled> scaled = scaledOf(current)) {
      factor *= scaled->factor;
      current = scaled->value;
      return true;
    }
    if (auto transpose = dyn_cast_or_null<TransposeOp>(op)) {
      SmallVector<Parts> dims(currentDims.size());
      for (auto [to, from] : llvm::enumerate(transpose.getPermutation()))
        dims[from] = currentDims[to];
      currentDims = std::move(dims);
    } else if (auto reshape = dyn_cast_or_null<ReshapeOp>(op)) {
      if (!regroup(reshape.getInput().getType().getShape()))
        return false;
    } else if (auto broadcast = dyn_cast_or_null<BroadcastOp>(op)) {
      if (!repeated || !dropRepeated(broadcast))
        return false;
    } else {
      return false;
    }
    current = op->getOperand(0);
    return true;
  }

  /// Groups the parts of all dimensions, in order, as dimensions of this shape.
  bool regroup(ArrayRef<int64_t> shape) {
    SmallVector<Parts> dims;
    Parts rest; // the next part is the last
    for (const Parts &parts : llvm::reverse(currentDims))
      rest.append(parts.rbegin(), parts.rend());
    for (int64_t size : shape) {
      dims.emplace_back();
      for (int64_t left = size; left > 1;) {
        if (rest.empty())
          return false;
        unsigned part = rest.back();
        if (sizes[part] > left && sizes[part] % left == 0)
          split(part, left, rest);
        if (left % sizes[part] != 0)
          return false;
        left /= sizes[part];
        dims.back().push_back(part);
        rest.pop_back();
      }
    }
    currentDims = std::move(dims);
    return true;
  }

  /// Makes `part` the outer `size` of it and puts the rest behind it, wherever it occurs.
  void split(unsigned part, int64_t size, Parts &rest) {
    unsigned inner = newPart(sizes[part] / size);
    sizes[part] = size;
    rest.insert(rest.end() - 1, inner);
    for (Parts &parts : valueDims)
      if (auto *found = llvm::find(parts, part); found != parts.end())
        parts.insert(found + 1, inner);
  }

  /// Whether a broadcast repeats along dimensions of size 1 that are part of the value's dimension
  /// `repeated`.
  bool dropRepeated(BroadcastOp broadcast) {
    ArrayRef<int64_t> from = broadcast.getInput().getType().getShape();
    if (from.size() != currentDims.size())
      return false;
    for (auto [dim, size] : llvm::enumerate(from)) {
      if (size == broadcast.getType().getDimSize(dim))
        continue;
      for (unsigned part : currentDims[dim]) {
        if (!llvm::is_contained(valueDims[*repeated], part))
          return false;
        isRepeated[part] = true;
      }
      currentDims[dim].clear();
    }
    return true;
  }

  /// Notes the current tensor if its dimensions are those of the value.
  void record() {
    if (currentDims.size() != valueDims.size())
      return;
    SmallVector<int64_t> order;
    int64_t repeats = 1;
    for (const Parts &parts : valueDims) {
      Parts kept = parts;
      while (!kept.empty() && isRepeated[kept.back()])
        repeats *= sizes[kept.pop_back_val()];
      size_t dim = 0;
      while (dim < currentDims.size() &&
             (currentDims[dim] != kept || llvm::is_contained(order, static_cast<int64_t>(dim))))
        ++dim;
      if (dim == currentDims.size())
        return;
      order.push_back(dim);
    }
    best = {current, SmallVector<int64_t>(cast<RankedTensorType>(current.getType()).getShape()),
            order, factor, repeats};
  }

  std::optional<int64_t> repeated;
  SmallVector<int64_t> sizes;    ///< of each part
  SmallVector<bool> isRepeated;  ///< parts that the current tensor lacks
  SmallVector<Parts> valueDims, currentDims;
  Value current;
  double factor = 1;
  ReorderedView best;
};

} // namespace

ReorderedView findView(Value value, ArrayRef<int64_t> shape, std::optional<int64_t> repeated) {
  return ViewFinder(value, shape, repeated).run();
}

} // namespace colrow
