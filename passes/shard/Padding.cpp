//===- Padding.cpp - storage that divides, whatever the sizes --------------===//
//
// A vocabulary of 503 over 4 ranks is stored as 512: every rank holds a slice of a multiple of 128
// (Megatron-LM section 3 pads for the same reason). 5 heads over 2 ranks are stored as 6, and where
// dimensions hold several blocks (a fused QKV) every block is filled up.
//
// Parameters are zero in the padding and stay zero. Values may be anything there, as long as nothing
// that leaves the region notices: where a region is summed over its cut factor, both operands of a
// product are zero in the padding, or are masked. With x and w zero there, the gradients dy w' and
// x' dy are zero there too, and so is everything that they reach.
//
//===----------------------------------------------------------------------===//

#include "passes/shard/Regions.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

#include <limits>

using namespace mlir;

namespace colrow {
namespace {

constexpr int64_t vocabularyMultiple = 128;

/// Fills the blocks of a region up, from `units` to `padded` units each.
class Padder {
public:
  Padder(Region &region, StringAttr axis, int64_t padded)
      : region(region), axis(axis), units(region.units(axis)), padded(padded),
        function(region.seed->getParentOfType<func::FuncOp>()), builder(function.getContext()) {}

  LogicalResult resize() {
    if (failed(check()))
      return failure();
    for (auto &[op, cut] : region.ops)
      moveBounds(op);
    for (auto &[value, state] : region.cuts) {
      recordValid(value);
      Value(value).setType(resized(value.getType(), state));
    }
    for (auto &[operand, state] : region.constants) {
      auto constant = operand->get().getDefiningOp<ConstantOp>();
      builder.setInsertionPoint(constant);
      operand->set(ConstantOp::create(builder, constant.getLoc(),
                                      resized(constant.getType(), state),
                                      filledUp(constant.getValue(), state)));
    }
    return success();
  }

  /// Keeps padding out of what sums or compares over the cut factor.
  LogicalResult maskSums(RegionGrower &grower) {
    // The slope of a square root at 0 is infinite, and 0 times that is no number: such are kept away
    // from gradients by masks where values come to be, which give gradients of 0 whatever arrives.
    bool isSingular = llvm::any_of(region.ops, [&](auto &entry) {
      Operation *op = entry.first;
      return isa<SqrtOp, LogOp, ReciprocalOp, PowOp>(op) ? isZeroInPadding(op->getOperand(0))
             : isa<DivOp>(op)                            ? isZeroInPadding(op->getOperand(1))
                                                         : false;
    });
    auto ops = llvm::to_vector(region.ops);
    for (auto &[op, cut] : ops) {
      if (isSingular && isa<MatrixProductOpInterface>(op))
        for (OpResult result : op->getResults())
          if (AxisState state; cutDim(result, state)) {
            FailureOr<Value> mask = masked(result, state, 0);
            if (failed(mask))
              return failure();
            Value(result).replaceAllUsesExcept(*mask, mask->getDefiningOp());
          }
    }
    for (auto &[op, cut] : ops) {
      if (grower.ruleOf(op).factors[cut.factor].kind != FactorKind::sum)
        continue;
      for (OpOperand &operand : op->getOpOperands()) {
        AxisState state;
        if (!cutDim(operand.get(), state))
          continue;
        if (!isa<ReduceSumOp, ReduceMaxOp>(op) && isZeroInPadding(operand.get()))
          continue;
        double neutral = isa<ReduceMaxOp>(op) ? -std::numeric_limits<double>::infinity() : 0;
        FailureOr<Value> mask = masked(operand.get(), state, neutral);
        if (failed(mask))
          return failure();
        operand.set(*mask);
      }
    }
    return success();
  }

  FailureOr<Value> masked(Value value, AxisState state, double neutral) {
    Value &known = masks[{value, neutral < 0}];
    if (known)
      return known;
    if (state.blocks > 1) {
      Operation *op = value.getDefiningOp() ? value.getDefiningOp() : region.seed;
      return op->emitError("'") << getUserName(value) << "': sums over " << state.blocks
                                << " blocks that would be filled up from " << blockOf(state)
                                << " to " << paddedBlockOf(state) << " elements";
    }
    builder.setInsertionPointAfterValue(value);
    known = MaskPaddingOp::create(builder, value.getLoc(), value.getType(), value, state.dim,
                                  blockOf(state), APFloat(neutral), TypeAttr());
    region.cuts.insert({known, state});
    return known;
  }

private:
  int64_t blockOf(AxisState state) const { return units * state.unit; }
  int64_t paddedBlockOf(AxisState state) const { return padded * state.unit; }

  RankedTensorType resized(Type type, AxisState state) const {
    auto tensor = cast<RankedTensorType>(type);
    SmallVector<int64_t> shape(tensor.getShape());
    shape[state.dim] = shape[state.dim] / units * padded;
    return RankedTensorType::get(shape, tensor.getElementType(), tensor.getEncoding());
  }

  /// What cannot be filled up: the error names it.
  LogicalResult check() {
    auto fail = [&](Operation *op, const Twine &what) {
      return op->emitError("'") << getUserName(op->getResult(0), op->getName().getStringRef())
                                << "': " << what;
    };
    for (auto &[op, cut] : region.ops) {
      if (!isa<SliceOp, PadOp>(op))
        continue;
      AxisState state;
      if (!cutDim(op->getOperand(0), state))
        continue;
      auto bounds = [&](ArrayRef<int64_t> values) {
        return values[state.dim] % blockOf(state) == 0;
      };
      auto slice = dyn_cast<SliceOp>(op);
      auto pad = dyn_cast<PadOp>(op);
      if (slice ? !bounds(slice.getStarts()) || !bounds(slice.getLimits())
                : !bounds(pad.getLow()) || !bounds(pad.getHigh()))
        return fail(op, "takes a part of a dimension whose blocks would be filled up from " +
                            Twine(blockOf(state)) + " to " + Twine(paddedBlockOf(state)) +
                            " elements");
    }
    for (auto &[value, state] : region.cuts) {
      bool leaves = llvm::any_of(value.getUsers(), [](Operation *user) {
        return isa<func::ReturnOp>(user);
      });
      if (leaves && state.blocks > 1)
        return fail(value.getDefiningOp() ? value.getDefiningOp() : region.seed,
                    "is an output whose " + Twine(state.blocks) + " blocks would be filled up");
    }
    return success();
  }

  bool cutDim(Value value, AxisState &state) {
    auto found = region.cuts.find(value);
    if (found == region.cuts.end())
      return false;
    state = found->second;
    return true;
  }

  /// Slices and pads of whole blocks have them where they are now.
  void moveBounds(Operation *op) {
    AxisState state;
    if (!isa<SliceOp, PadOp>(op) || !cutDim(op->getOperand(0), state))
      return;
    auto moved = [&](ArrayRef<int64_t> values) {
      SmallVector<int64_t> result(values);
      result[state.dim] = values[state.dim] / blockOf(state) * paddedBlockOf(state);
      return result;
    };
    if (auto slice = dyn_cast<SliceOp>(op)) {
      slice.setStarts(moved(slice.getStarts()));
      slice.setLimits(moved(slice.getLimits()));
    } else if (auto pad = dyn_cast<PadOp>(op)) {
      pad.setLow(moved(pad.getLow()));
      pad.setHigh(moved(pad.getHigh()));
    }
  }

  /// Remembers the size without padding where values leave and enter the program.
  void recordValid(Value value) {
    ArrayAttr valid =
        builder.getI64ArrayAttr(cast<RankedTensorType>(value.getType()).getShape());
    if (auto argument = dyn_cast<BlockArgument>(value))
      function.setArgAttr(argument.getArgNumber(), "colrow.valid", valid);
    for (OpOperand &use : value.getUses())
      if (isa<func::ReturnOp>(use.getOwner()))
        function.setResultAttr(use.getOperandNumber(), "colrow.valid", valid);
  }

  /// A constant with zeros in the padding, or more of the one value that it has.
  ElementsAttr filledUp(ElementsAttr constant, AxisState state) {
    auto elements = cast<DenseElementsAttr>(constant);
    RankedTensorType type = resized(elements.getType(), state);
    if (elements.isSplat())
      return elements.resizeSplat(type);
    Attribute zero = builder.getZeroAttr(type.getElementType());
    SmallVector<Attribute> old(elements.getValues<Attribute>());
    SmallVector<Attribute> filled;
    int64_t inner = 1;
    for (int64_t size : type.getShape().drop_front(state.dim + 1))
      inner *= size;
    int64_t block = blockOf(state) * inner, more = (paddedBlockOf(state) - blockOf(state)) * inner;
    for (size_t begin = 0; begin < old.size(); begin += block) {
      filled.append(old.begin() + begin, old.begin() + begin + block);
      filled.append(more, zero);
    }
    return DenseElementsAttr::get(type, filled);
  }

  /// Whether a value of the region is zero in the padding whatever the inputs are.
  bool isZeroInPadding(Value value) {
    auto known = zeros.find(value);
    if (known != zeros.end())
      return known->second;
    bool isZero = false;
    if (auto constant = value.getDefiningOp<ConstantOp>())
      isZero = isSplatOfZero(constant);
    else if (region.cuts.contains(value))
      isZero = computesZero(value);
    zeros[value] = isZero;
    return isZero;
  }

  static bool isSplatOfZero(ConstantOp constant) {
    auto splat = dyn_cast<SplatElementsAttr>(constant.getValue());
    if (!splat)
      return false;
    auto number = dyn_cast<FloatAttr>(splat.getSplatValue<Attribute>());
    return number && number.getValue().isZero();
  }

  bool computesZero(Value value) {
    Operation *op = value.getDefiningOp();
    if (!op)
      return true; // a parameter
    auto isZero = [&](Value operand) { return isZeroInPadding(operand); };
    return llvm::TypeSwitch<Operation *, bool>(op)
        .Case<NegOp, AbsOp, SqrtOp, TanhOp, ErfOp, SinOp, FloorOp, CeilOp, RoundOp, SignOp,
              StopGradientOp, CastOp, GeluOp, SiluOp, ReshapeOp, TransposeOp, SliceOp, BroadcastOp,
              ReduceSumOp>([&](Operation *each) { return isZero(each->getOperand(0)); })
        .Case<DropoutOp, TakeOp>([&](Operation *each) { return isZero(each->getOperand(0)); })
        .Case<DivOp>([&](DivOp each) { return isZero(each.getLhs()) && !isZero(each.getRhs()); })
        .Case<AddOp, SubOp, MaxOp, MinOp, ConcatOp>(
            [&](Operation *each) { return llvm::all_of(each->getOperands(), isZero); })
        .Case<SelectOp>([&](SelectOp select) {
          return isZero(select->getOperand(1)) && isZero(select->getOperand(2));
        })
        .Case<MulOp, EinsumOp>(
            [&](Operation *each) { return llvm::any_of(each->getOperands(), isZero); })
        .Case<AttentionOp>([&](AttentionOp attention) { return isZero(attention.getValue()); })
        .Case<MaskPaddingOp>([](Operation *) { return true; })
        .Default(false);
  }

  Region &region;
  StringAttr axis;
  int64_t units, padded;
  func::FuncOp function;
  OpBuilder builder;
  DenseMap<Value, bool> zeros;
  DenseMap<std::pair<Value, unsigned>, Value> masks; ///< by value, and whether for a maximum
};

} // namespace

LogicalResult padVocabulary(Region &region, RegionGrower &grower, StringAttr axis,
                            int64_t ranks) {
  int64_t valid = region.units(axis);
  int64_t padded = llvm::alignTo(valid, vocabularyMultiple * ranks);
  if (padded == valid)
    return success();
  // What reduces over the vocabulary itself knows only storage; the loss has its own valid size.
  bool sums = false, maxima = false;
  SmallVector<std::pair<Value, AxisState>> products;
  for (auto &[op, cut] : region.ops) {
    if (isa<ReduceSumOp, ReduceMaxOp>(op) &&
        grower.ruleOf(op).factors[cut.factor].kind == FactorKind::sum)
      (isa<ReduceMaxOp>(op) ? maxima : sums) = true;
    if (isa<EinsumOp>(op))
      if (auto found = region.cuts.find(op->getResult(0)); found != region.cuts.end())
        products.push_back(*found);
  }
  Padder padder(region, axis, padded);
  if (failed(padder.resize()))
    return failure();
  if (!sums && !maxima)
    return success();
  for (auto &[value, state] : products) {
    FailureOr<Value> mask = padder.masked(
        value, state, maxima ? -std::numeric_limits<double>::infinity() : 0.0);
    if (failed(mask))
      return failure();
    value.replaceAllUsesExcept(*mask, mask->getDefiningOp());
  }
  return success();
}

LogicalResult padUnits(Region &region, RegionGrower &grower, StringAttr axis, int64_t ranks) {
  Padder padder(region, axis, llvm::alignTo(region.units(axis), ranks));
  if (failed(padder.resize()))
    return failure();
  return padder.maskSums(grower);
}

} // namespace colrow
