//===- Sharder.h - cuts one function over axes, one inside the other -------===//
#pragma once

#include "passes/shard/Regions.h"
#include "llvm/Support/Error.h"


namespace colrow {

/// What a user wants of a parameter: `*.c_fc.weight=shard<1>`, or `lm_head.weight=whole`.
struct Wish {
  std::string text, pattern;
  int64_t dim = -1; ///< -1: whole

  /// Reads one; says what is wrong with it.
  static llvm::Expected<Wish> parse(llvm::StringRef text);
  bool matches(llvm::StringRef parameter) const;
};

/// Cuts a function over an axis, then its slices over the next one.
class Sharder {
public:
  /// A region that was chosen, with what its user knows it by.
  struct Cut {
    mlir::StringAttr axis;
    int64_t ranks = 1;
    Region region;
    std::string text;      ///< as `describe` says, before it was padded
    int64_t padded = 0;    ///< units that are stored in the place of `region.units`; 0: as many
  };

  Sharder(mlir::func::FuncOp function, llvm::ArrayRef<mlir::StringAttr> axes,
          llvm::ArrayRef<Wish> wishes)
      : function(function), axes(axes), wishes(wishes) {}

  /// Chooses regions and writes their cuts into the types. Emits an error where sizes cannot be
  /// filled up or a wish cannot be had.
  mlir::LogicalResult cut();
  /// Product FLOPs of one rank, padding included. After cut().
  double rankFlops() const;
  /// Inserts f and g. After cut().
  void insertConversions() {
    colrow::insertConversions(function, pending);
    reduceSumsOnce(function);
    moveF(function, axes);
  }

  const std::vector<Cut> &cuts() const { return chosen; }
  /// Why a parameter that no region cuts is whole.
  std::string whyWhole(mlir::BlockArgument parameter) const;

private:
  mlir::LogicalResult cutAxis(size_t number);
  mlir::FailureOr<std::vector<size_t>> wantedRegions(llvm::ArrayRef<Region> regions,
                                                     bool mustHave);
  std::vector<Region> withoutUnwanted(std::vector<Region> regions);

  mlir::func::FuncOp function;
  llvm::SmallVector<mlir::StringAttr> axes;
  llvm::SmallVector<Wish> wishes;
  std::vector<Cut> chosen;
  Cuts pending;
  /// Why regions that hold a parameter are illegal: of the first axis.
  llvm::DenseMap<mlir::BlockArgument, std::string> obstacles;
};

/// The size of the outer part into which an axis is best factored: where the units of a region (heads
/// of keys and values) do not divide over it but over a part, and what is left can cut what lies
/// inside them (the query heads of a group). 1 where factoring gains nothing.
int64_t outerFactor(mlir::ModuleOp module, mlir::StringAttr axis, llvm::ArrayRef<Wish> wishes);

/// Replaces an axis of the grid by `axis.0` of size `outer` and `axis.1`, and returns these.
llvm::SmallVector<mlir::StringAttr> factorAxis(mlir::ModuleOp module, mlir::StringAttr axis,
                                               int64_t outer);

/// Says in remarks and argument attributes what was cut, and why the rest is whole.
void explain(mlir::func::FuncOp function, const Sharder &sharder, llvm::StringRef axis);

/// Weights that a product or a lookup reads and no rank shares: emits an error that names them.
mlir::LogicalResult requireSharded(mlir::func::FuncOp function);

} // namespace colrow
