//===- Elementwise.cpp - operations that can share one loop ---------------===//

#include "passes/lower/Elementwise.h"
#include "dialect/Colrow.h"

using namespace mlir;

namespace colrow {

bool isElementwise(Operation *op) {
  return isa<NegOp, AbsOp, ExpOp, LogOp, SqrtOp, ReciprocalOp, TanhOp, ErfOp, SinOp, CosOp,
             SigmoidOp, FloorOp, CeilOp, RoundOp, SignOp, NotOp, IsNanOp, StopGradientOp, AddOp,
             SubOp, MulOp, DivOp, PowOp, MaxOp, MinOp, ModOp, AndOp, OrOp, XorOp, CompareOp,
             SelectOp, CastOp, BroadcastOp, GeluOp, GeluGradOp, SiluOp, SiluGradOp>(op);
}

std::optional<SmallVector<int64_t>> commonRefinement(ArrayRef<int64_t> lhs,
                                                     ArrayRef<int64_t> rhs) {
  // Take from the inside out what both have left; the smaller rest must divide the larger.
  SmallVector<int64_t> refined;
  int64_t left = 1, right = 1;
  size_t i = lhs.size(), j = rhs.size();
  while (true) {
    while (left == 1 && i > 0)
      left = lhs[--i];
    while (right == 1 && j > 0)
      right = rhs[--j];
    if (left == 1 && right == 1)
      break;
    int64_t size = std::min(left, right);
    if (size <= 1 || left % size != 0 || right % size != 0)
      return {};
    refined.push_back(size);
    left /= size;
    right /= size;
  }
  std::reverse(refined.begin(), refined.end());
  return refined;
}

SmallVector<int64_t> rowMajorStrides(ArrayRef<int64_t> shape) {
  SmallVector<int64_t> strides(shape.size());
  int64_t stride = 1;
  for (size_t d = shape.size(); d-- > 0; stride *= shape[d])
    strides[d] = stride;
  return strides;
}

std::optional<SmallVector<int64_t>> takenApart(ArrayRef<int64_t> from, ArrayRef<int64_t> strides,
                                               ArrayRef<int64_t> to) {
  SmallVector<int64_t> result(to.size(), 1); // dimensions of 1 may have any
  size_t next = 0;
  for (auto [size, stride] : llvm::zip(from, strides)) {
    size_t first = next;
    int64_t covered = 1;
    while (covered < size && next < to.size())
      covered *= to[next++];
    if (covered != size)
      return {};
    for (size_t d = next; d-- > first; covered /= to[d])
      result[d] = stride * (size / covered);
  }
  if (llvm::any_of(to.drop_front(next), [](int64_t size) { return size != 1; }))
    return {};
  return result;
}

SmallVector<int64_t> stridesOver(ArrayRef<int64_t> refined, ArrayRef<int64_t> result,
                                 ArrayRef<int64_t> shape, ArrayRef<int64_t> strides) {
  SmallVector<int64_t> walk(refined.size(), 0);
  size_t next = refined.size();
  size_t missing = result.size() - shape.size();
  for (size_t d = result.size(); d-- > 0;) {
    // 0 where the operand is broadcast.
    int64_t stride = d < missing || shape[d - missing] == 1 ? 0 : strides[d - missing];
    for (int64_t rest = result[d]; rest > 1; rest /= refined[next]) {
      walk[--next] = stride;
      stride *= refined[next];
    }
  }
  return walk;
}

} // namespace colrow
