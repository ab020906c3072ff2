//===- MoveF.cpp - f where its gradient is smallest ------------------------===//
//
// An f stands before each product that is cut, and its transpose reduces the gradient of what it
// reads. Where that is computed from little, it is cheaper to compute it as each rank's own work
// and to reduce the gradients of what it was computed from:
//
//   x -> f ----------> q            x -> f -> q
//   x -> [w_k] -> k -> f            x -> f -> [f(w_k)] -> k
//
// Keys and values that the ranks share (fewer kv heads than ranks) then reduce the gradients of
// their weights, and x one gradient instead of several. Two norms of one x, in a parallel residual
// block, share one f before them.
//
// Both programs satisfy the rules: all operands replicated gives replicated (L5).
//
//===----------------------------------------------------------------------===//

#include "passes/shard/Regions.h"

using namespace mlir;

namespace colrow {
namespace {

double bytesOf(Value value) {
  auto tensor = cast<RankedTensorType>(value.getType());
  return static_cast<double>(tensor.getNumElements()) * tensor.getElementTypeBitWidth() / 8;
}

bool isFloat(Value value) { return isa<FloatType>(getElementTypeOrSelf(value.getType())); }

/// What would be computed as each rank's own work for some f over an axis to fall away.
struct Cone {
  SmallVector<FOp> removed; ///< they read what the cone computes
  llvm::SetVector<Operation *> ops;
  llvm::SetVector<Value> leaves; ///< what the cone reads: f goes there
};

class Mover {
public:
  Mover(func::FuncOp function, StringAttr axis) : function(function), axis(axis) {}

  void run() {
    // From the last to the first: users come before what they read.
    SmallVector<FOp> all;
    function.walk([&](FOp f) {
      if (f.getAxes().size() == 1 && f.getAxes()[0] == axis)
        all.push_back(f);
    });
    SmallVector<Cone> cones;
    for (FOp f : all)
      if (std::optional<Cone> cone = grow(f))
        cones.push_back(std::move(*cone));
    // An f before a leaf serves all that move there: those that do not pay leave their share to the
    // others, until all that are left pay together.
    llvm::DenseMap<Value, int64_t> readers; ///< cones by leaf
    size_t before;
    do {
      before = cones.size();
      readers.clear();
      for (const Cone &cone : cones)
        for (Value leaf : cone.leaves)
          ++readers[leaf];
      llvm::erase_if(cones, [&](const Cone &cone) { return !pays(cone, readers); });
    } while (cones.size() < before);
    for (Cone &cone : cones)
      move(cone);
    function.walk([](FOp f) {
      if (f->use_empty())
        f.erase();
    });
  }

private:
  /// The f over the axis that a value has, or another f of the same value that adds the axis.
  FOp knownF(Value value) {
    SmallVector<Attribute> axes{axis};
    Value source = value;
    if (auto f = value.getDefiningOp<FOp>()) {
      source = f.getInput();
      axes.append(f.getAxes().begin(), f.getAxes().end());
    }
    for (Operation *user : source.getUsers())
      if (auto f = dyn_cast<FOp>(user))
        if (f.getAxes().size() == axes.size() && llvm::all_of(axes, [&](Attribute each) {
              return llvm::is_contained(f.getAxes(), each);
            }))
          return f;
    return {};
  }

  /// Whether each rank could do the operation as work of its own, for nobody but the cone.
  bool canOwn(Operation *op, FOp f, const Cone &cone) {
    return op && !isa<ConversionOpInterface>(op) && isa<ShardingRuleOpInterface>(op) &&
           llvm::all_of(op->getOperands(),
                        [&](Value operand) {
                          return getState(operand.getType(), axis).isInvariant();
                        }) &&
           llvm::all_of(op->getUsers(), [&](Operation *user) {
             return user == f || cone.ops.contains(user);
           });
  }

  /// Everything that only this f reads.
  std::optional<Cone> grow(FOp f) {
    Cone cone;
    cone.removed.push_back(f);
    SmallVector<Value> work{f.getInput()};
    while (!work.empty()) {
      Value value = work.pop_back_val();
      if (!isFloat(value) || value.getDefiningOp<ConstantOp>())
        continue;
      Operation *op = value.getDefiningOp();
      if (!canOwn(op, f, cone)) {
        cone.leaves.insert(value);
        continue;
      }
      cone.ops.insert(op);
      work.append(op->operand_begin(), op->operand_end());
    }
    if (cone.ops.empty())
      return std::nullopt;
    return cone;
  }

  /// Bytes reduced: those of the f that goes against those of the f that come.
  bool pays(const Cone &cone, const llvm::DenseMap<Value, int64_t> &readers) {
    double saved = 0, spent = 0;
    for (FOp f : cone.removed)
      saved += bytesOf(f.getInput());
    for (Value leaf : cone.leaves) {
      double share = bytesOf(leaf) / static_cast<double>(readers.lookup(leaf));
      bool isF = leaf.getDefiningOp<FOp>() != nullptr;
      if (!knownF(leaf))
        spent += isF ? 0 : share; // an f over one more axis reduces no more bytes
      else if (isF)
        saved += share; // one f in the place of two
    }
    return spent < saved;
  }

  Value replicated(Value value) {
    if (!isFloat(value))
      return value;
    OpBuilder builder(function.getContext());
    builder.setInsertionPointAfterValue(value);
    Type type = withState(value.getType(), AxisState::replicated(axis));
    if (auto constant = value.getDefiningOp<ConstantOp>())
      return ConstantOp::create(builder, constant.getLoc(), type, constant.getValue());
    if (FOp known = knownF(value))
      return known;
    SmallVector<Attribute> axes{axis};
    Value source = value;
    if (auto f = value.getDefiningOp<FOp>()) {
      axes.assign(f.getAxes().begin(), f.getAxes().end());
      axes.push_back(axis);
      source = f.getInput();
    }
    return FOp::create(builder, value.getLoc(), type, source, builder.getArrayAttr(axes));
  }

  void move(Cone &cone) {
    llvm::DenseMap<Value, Value> replicas;
    for (Operation *op : cone.ops)
      for (OpOperand &operand : op->getOpOperands()) {
        Value value = operand.get();
        if (value.getDefiningOp() && cone.ops.contains(value.getDefiningOp()))
          continue;
        Value &replica = replicas[value];
        if (!replica)
          replica = replicated(value);
        operand.set(replica);
      }
    for (Operation *op : cone.ops)
      for (Value result : op->getResults())
        if (isFloat(result))
          result.setType(withState(result.getType(), AxisState::replicated(axis)));
    for (FOp f : cone.removed) {
      f.getResult().replaceAllUsesWith(f.getInput());
      f.erase();
    }
  }

  func::FuncOp function;
  StringAttr axis;
};

} // namespace

void moveF(func::FuncOp function, ArrayRef<StringAttr> axes) {
  for (StringAttr axis : axes)
    Mover(function, axis).run();
}

} // namespace colrow
