//===- Regions.h - what a cut of one factor drags along -------------------===//
//
// Cutting one dimension of one product forces cuts elsewhere: the weight it comes from, every other
// use of that weight, the values computed from the result. A region is all of that. It is grown
// from a seed, an op and one of its factors, through sharding rules in both directions,
//
//   x -------> [c_fc] ---> [gelu] ---> [c_proj] ---> y
//   whole: f   column      cut         row           partial: g
//
// until the cut factor is one an op sums over (its result is partial, and g follows) or an operand
// lacks it (that operand is whole, and f goes there). The blocks of a fused QKV are known only from
// the heads, which is why growth goes backward too. Growing through a parameter takes all its uses.
// Growth that meets a dimension that must be whole makes the region illegal, and that op and
// dimension are the printed reason.
//
// Regions are closed, so two of them are either disjoint or disagree on some op: choosing among
// them is an independent set problem (Choose.cpp).
//
//===----------------------------------------------------------------------===//
#pragma once

#include "dialect/Colrow.h"
#include "llvm/ADT/MapVector.h"

#include <map>

namespace colrow {

/// Why a region cannot be cut.
struct Obstacle {
  mlir::Operation *op = nullptr; ///< where growth met it; null for a function argument
  mlir::Value value;
  std::string text;
};

struct Region {
  mlir::Operation *seed = nullptr;
  FactorCut seedCut;

  /// The cut of each op, in the order of growth.
  llvm::MapVector<mlir::Operation *, FactorCut> ops;
  /// The state of each value that is cut.
  llvm::MapVector<mlir::Value, AxisState> cuts;
  /// Results that are partial sums or maxima: g follows.
  llvm::SmallVector<mlir::OpResult> partials;
  /// Operands that stay whole beside cut ones: f goes there.
  llvm::SmallVector<mlir::OpOperand *> wholes;
  /// Constants that are cut, by use: a constant belongs to each of its uses alone.
  llvm::SmallVector<std::pair<mlir::OpOperand *, AxisState>> constants;
  /// Parameters that are cut.
  llvm::SmallVector<mlir::BlockArgument> parameters;
  /// Whether the factor is a vocabulary: looked up along, or the classes of a loss. Its storage is
  /// padded so that it divides.
  bool isVocabulary = false;
  /// Whether a data input is cut: that is data or sequence parallelism, not tensor parallelism.
  bool cutsInput = false;
  std::optional<Obstacle> obstacle;

  /// Units of the cut factor in one block, inside a slice of the outer axes: what the ranks must
  /// divide.
  int64_t units = 0;

  // What choosing it gains and costs, on all ranks together.
  double flops = 0;          ///< of forward matrix products that are divided
  double parameterBytes = 0; ///< of parameters with two or more dimensions that are divided
  double movedBytes = 0;     ///< reduced by g, forward and backward
  int64_t collectives = 0;

  bool isLegal() const { return !obstacle && !cutsInput && !parameters.empty(); }
};

/// Grows regions over one function, each (op, factor cut) once. `outer` are the axes whose cuts the
/// types have already: new ones cut their slices.
class RegionGrower {
public:
  RegionGrower(mlir::func::FuncOp function, mlir::StringAttr axis,
               llvm::ArrayRef<mlir::StringAttr> outer)
      : function(function), axis(axis), outer(outer) {}

  /// Regions of every factor of every product and of every lookup in a parameter. Illegal ones are
  /// kept for their reasons.
  std::vector<Region> growAll();

  const ShardingRule &ruleOf(mlir::Operation *op);

private:
  FactorSizes sizesOf(mlir::Operation *op);
  Region grow(mlir::Operation *op, FactorCut cut);
  bool cutOp(Region &region, mlir::Operation *op, FactorCut cut);
  bool cutValue(Region &region, mlir::Value value, AxisState state);
  void measure(Region &region);

  mlir::func::FuncOp function;
  mlir::StringAttr axis;
  llvm::SmallVector<mlir::StringAttr> outer;
  /// References into it stay valid while it grows.
  std::map<mlir::Operation *, ShardingRule> rules;
  /// Ops whose cut is decided but whose neighbours are not visited yet.
  llvm::SmallVector<std::pair<mlir::Operation *, FactorCut>> work;
};

/// Chooses regions that agree: most product FLOPs divided, then most parameter bytes, then fewest
/// bytes moved, fewest collectives, program order. Exact. Returns indices into `regions`. Those that
/// `wanted` lists, which agree, are chosen whatever they gain.
std::vector<size_t> chooseRegions(llvm::ArrayRef<Region> regions,
                                  llvm::ArrayRef<size_t> wanted = {});

/// What the regions of all axes together do to a function: the types have the cuts already, f and g
/// follow when all axes are known.
struct Cuts {
  /// Constants that are cut, by use, outer axis first.
  llvm::MapVector<mlir::OpOperand *, llvm::SmallVector<AxisState>> constants;
  /// Results that are partial, and operands that are whole beside cut ones, on these axes.
  llvm::MapVector<mlir::OpResult, llvm::SmallVector<mlir::StringAttr>> partials;
  llvm::MapVector<mlir::OpOperand *, llvm::SmallVector<mlir::StringAttr>> wholes;
};

/// Rounds the storage of a vocabulary up to a multiple of 128 times `ranks` and masks the padding
/// where something reduces over it.
mlir::LogicalResult padVocabulary(Region &region, RegionGrower &grower, Cuts &cuts,
                                  int64_t ranks);

/// Rounds the units of a region's blocks (heads) up to a multiple of the ranks and masks the padding
/// where it would be noticed. Emits an error that names the operation where that cannot be.
mlir::LogicalResult padUnits(Region &region, RegionGrower &grower, Cuts &cuts, int64_t ranks);

/// Writes the cuts of a region into the types, and the rest into `cuts`.
void writeTypes(const Region &region, mlir::StringAttr axis, Cuts &cuts);

/// Inserts f, g and take_shard.
void insertConversions(mlir::func::FuncOp function, const Cuts &cuts);

/// Adds partial values before g where only their sum is read.
void reduceSumsOnce(mlir::func::FuncOp function);

/// Puts f before what is computed for it alone, where the gradients to reduce are smaller there.
void moveF(mlir::func::FuncOp function, llvm::ArrayRef<mlir::StringAttr> axes);

/// How a region's factor is named in messages: the op whose factor it is, and its size.
std::string describe(const Region &region);

} // namespace colrow
