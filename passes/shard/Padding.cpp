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
// Inside the slices of an outer axis every slice is filled up: 2 groups of 4 heads over a grid of
// 2 x 3 are stored as 2 groups of 6.
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
  Padder(Region &region, Cuts &cuts, int64_t padded)
      : region(region), cuts(cuts), units(region.units), padded(padded),
        function(region.seed->getParentOfType<func::FuncOp>()), builder(function.getContext()) {}

  LogicalResult resize() {
    if (failed(check()))
      return failure();
    for (auto &[op, cut] : region.ops)
      moveBounds(op);
    for (auto &[value, state] : region.cuts) {
      recordValid(value, state);
      Value(value).setType(resized(value.getType(), state));
    }
    for (auto &[operand, state] : region.constants) {
      auto constant = operand->get().getDefiningOp<ConstantOp>();
      builder.setInsertionPoint(constant);
      operand->set(ConstantOp::create(builder, constant.getLoc(),
                                      resized(constant.getType(), state),
                                      filledUp(constant.getValue(), state)));
      for (AxisState &outer : cuts.constants[operand])
        outer = widened(outer, state);
    }
    return success();
  }

  /// Keeps padding out of what sums or compares over the cut factor.
  void maskSums(RegionGrower &grower) {
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
          if (AxisState state; cutDim(result, state))
            mask(result, state, 0);
    }
    for (auto &[op, cut] : ops) {
      // Losses know how much of the vocabulary is valid, and no label is padding.
      if (grower.ruleOf(op).factors[cut.factor].kind != FactorKind::sum ||
          isa<CrossEntropyOp, LinearCrossEntropyOp, TakeOp, TakeAlongOp>(op))
        continue;
      for (OpOperand &operand : op->getOpOperands()) {
        AxisState state;
        if (!cutDim(operand.get(), state))
          continue;
        if (!isa<ReduceSumOp, ReduceMaxOp>(op) && isZeroInPadding(operand.get()))
          continue;
        double neutral = isa<ReduceMaxOp>(op) ? -std::numeric_limits<double>::infinity() : 0;
        operand.set(masked(operand.get(), state, neutral));
      }
    }
  }

  /// The value with `neutral` in the padding.
  Value masked(Value value, AxisState state, double neutral) {
    Value &known = masks[{value, neutral < 0}];
    if (!known)
      known = createMask(value, state, neutral);
    return known;
  }

  /// The same in the place of the value.
  void mask(Value value, AxisState state, double neutral) {
    Value replaced = masked(value, state, neutral);
    Operation *first = replaced.getDefiningOp();
    while (first->getOperand(0) != value)
      first = first->getOperand(0).getDefiningOp();
    value.replaceAllUsesExcept(replaced, first);
  }

private:
  /// Of several blocks each is masked: [.., blocks * block, ..] as [.., blocks, block, ..].
  Value createMask(Value value, AxisState state, double neutral) {
    builder.setInsertionPointAfterValue(value);
    auto type = cast<RankedTensorType>(value.getType());
    int64_t blocks = blocksOf(type, state, paddedBlockOf(state));
    auto create = [&](auto op, AxisState cut) {
      [[maybe_unused]] std::optional<Violation> violation = inferResultLayouts(op);
      assert(!violation && "whole blocks are cut as their dimension");
      region.cuts.insert({op.getResult(), cut});
      return op.getResult();
    };
    auto mask = [&](Value input, AxisState cut) {
      Type plain = withLayout(input.getType(), {});
      return create(MaskPaddingOp::create(builder, value.getLoc(), plain, input, cut.dim,
                                          blockOf(state), APFloat(neutral), TypeAttr()),
                    cut);
    };
    auto reshape = [&](Value input, ArrayRef<int64_t> shape, AxisState cut) {
      Type plain = RankedTensorType::get(shape, type.getElementType());
      return create(ReshapeOp::create(builder, value.getLoc(), plain, input), cut);
    };
    if (blocks == 1)
      return mask(value, state);
    SmallVector<int64_t> split(type.getShape());
    split[state.dim] = blocks;
    split.insert(split.begin() + state.dim + 1, paddedBlockOf(state));
    AxisState inBlock = AxisState::shard(state.axis, state.dim + 1, 1, state.unit);
    Value masked = mask(reshape(value, split, inBlock), inBlock);
    return reshape(masked, type.getShape(), state);
  }

  int64_t blockOf(AxisState state) const { return units * state.unit; }
  int64_t paddedBlockOf(AxisState state) const { return padded * state.unit; }

  /// How many blocks of this size a dimension has, slices of outer axes included.
  static int64_t blocksOf(Type type, AxisState state, int64_t block) {
    return cast<RankedTensorType>(type).getDimSize(state.dim) / block;
  }

  /// Whether a cut of another axis deals out the same units, and gets more of them.
  static bool hasSameUnits(AxisState outer, AxisState state) { return outer.unit == state.unit; }
  /// Whether what is filled up lies within the units of another axis' cut of the dimension.
  bool isInUnit(AxisState outer, AxisState state) const {
    return outer.unit % blockOf(state) == 0;
  }

  /// The cut of an outer axis once what its slices hold is filled up.
  AxisState widened(AxisState outer, AxisState state) const {
    if (outer.isShard() && outer.dim == state.dim && !hasSameUnits(outer, state))
      outer.unit = outer.unit / units * padded;
    return outer;
  }

  RankedTensorType resized(Type type, AxisState state) const {
    auto tensor = cast<RankedTensorType>(type);
    SmallVector<int64_t> shape(tensor.getShape());
    shape[state.dim] = shape[state.dim] / units * padded;
    LayoutAttr layout = getLayout(type);
    if (layout)
      layout = LayoutAttr::get(type.getContext(), llvm::map_to_vector(layout.getStates(),
                                                                      [&](AxisState outer) {
                                                                        return widened(outer,
                                                                                       state);
                                                                      }));
    return RankedTensorType::get(shape, tensor.getElementType(), layout);
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
      if (!canFillUp(value, state))
        return fail(value.getDefiningOp() ? value.getDefiningOp() : region.seed,
                    "has " + Twine(units) + " units inside slices that are cut or filled up in "
                    "another way");
      bool leaves = llvm::any_of(value.getUsers(), [](Operation *user) {
        return isa<func::ReturnOp>(user);
      });
      int64_t blocks = blocksOf(value.getType(), state, blockOf(state));
      if (leaves && blocks > 1)
        return fail(value.getDefiningOp() ? value.getDefiningOp() : region.seed,
                    "is an output whose " + Twine(blocks) + " blocks would be filled up");
    }
    return success();
  }

  /// Whether the blocks lie in one piece, and nothing in them is filled up already.
  bool canFillUp(Value value, AxisState state) {
    if (LayoutAttr layout = getLayout(value.getType()))
      for (AxisState outer : layout.getStates())
        if (outer.isShard() && outer.dim == state.dim && !hasSameUnits(outer, state) &&
            !isInUnit(outer, state))
          return false;
    auto argument = dyn_cast<BlockArgument>(value);
    auto valid = argument ? function.getArgAttrOfType<ArrayAttr>(argument.getArgNumber(),
                                                                 "colrow.valid")
                          : ArrayAttr();
    return !valid || cast<IntegerAttr>(valid[state.dim]).getInt() ==
                         cast<RankedTensorType>(argument.getType()).getDimSize(state.dim);
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

  /// Remembers the padding where values leave and enter the program.
  void recordValid(Value value, AxisState state) {
    ArrayRef<int64_t> shape = cast<RankedTensorType>(value.getType()).getShape();
    int64_t blocks = blocksOf(value.getType(), state, blockOf(state));
    auto record = [&](DictionaryAttr known, auto set) {
      SmallVector<int64_t> valid(shape), filled(shape.size(), 1);
      if (auto sizes = known ? known.getAs<ArrayAttr>("colrow.valid") : ArrayAttr())
        for (size_t d = 0; d < shape.size(); ++d) {
          valid[d] = cast<IntegerAttr>(sizes[d]).getInt();
          filled[d] = cast<IntegerAttr>(known.getAs<ArrayAttr>("colrow.filled")[d]).getInt();
        }
      valid[state.dim] = shape[state.dim];
      filled[state.dim] = blocks;
      set("colrow.valid", builder.getI64ArrayAttr(valid));
      set("colrow.filled", builder.getI64ArrayAttr(filled));
    };
    if (auto argument = dyn_cast<BlockArgument>(value)) {
      unsigned i = argument.getArgNumber();
      record(function.getArgAttrDict(i), [&](StringRef name, Attribute attribute) {
        function.setArgAttr(i, name, attribute);
      });
    }
    for (OpOperand &use : value.getUses())
      if (isa<func::ReturnOp>(use.getOwner())) {
        unsigned i = use.getOperandNumber();
        record(function.getResultAttrDict(i), [&](StringRef name, Attribute attribute) {
          function.setResultAttr(i, name, attribute);
        });
      }
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
  Cuts &cuts;
  int64_t units, padded;
  func::FuncOp function;
  OpBuilder builder;
  DenseMap<Value, bool> zeros;
  DenseMap<std::pair<Value, unsigned>, Value> masks; ///< by value, and whether for a maximum
};

} // namespace

static LogicalResult fillUp(Region &region, RegionGrower &grower, Cuts &cuts, int64_t padded) {
  if (padded == region.units)
    return success();
  Padder padder(region, cuts, padded);
  if (failed(padder.resize()))
    return failure();
  padder.maskSums(grower);
  return success();
}

LogicalResult padVocabulary(Region &region, RegionGrower &grower, Cuts &cuts, int64_t ranks) {
  return fillUp(region, grower, cuts, llvm::alignTo(region.units, vocabularyMultiple * ranks));
}

LogicalResult padUnits(Region &region, RegionGrower &grower, Cuts &cuts, int64_t ranks) {
  return fillUp(region, grower, cuts, llvm::alignTo(region.units, ranks));
}

} // namespace colrow
