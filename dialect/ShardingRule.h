//===- ShardingRule.h - what an op does to cuts, and the rules L1-L8 ------===//
//
// An op says once how its dimensions hang together: each dimension of each operand and result is
// a product of factors, outer to inner. A matrix product "ti,io->to" has factors t, i and o. The
// reshape of 192 to 3x4x16 has the factors 3, 4 and 16: the operand's one dimension is their
// product, the result's three are one each. Cutting the factor of size 4 (heads) means
//
//   operand: dim 0 of 192 = 3 * 4 * 16, so shard<0, blocks = 3, unit = 16>
//   result:  dim 1 of 3x4x16,           so shard<1>
//
// because everything outside a factor in its dimension becomes blocks, everything inside unit.
// From that the rules L1 to L8 follow for every op alike, forward and backward.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "dialect/Layout.h"
#include "mlir/IR/Operation.h"
#include "mlir/IR/OpDefinition.h"

#include <optional>

namespace colrow {

enum class FactorKind {
  pass,  ///< in operands and results; results that lack it depend on no operand that has it
  sum,   ///< in operands; results that lack it are sums over it
  own,   ///< in results only: broadcast, iota
  inner, ///< the op communicates over it by itself; results that lack it are whole
  whole, ///< must not be cut
};

struct Factor {
  FactorKind kind;
  int64_t size;
};

/// The factors of each dimension of one tensor, outer to inner. A dimension of size 1 that is
/// broadcast has none.
using TensorFactors = llvm::SmallVector<llvm::SmallVector<unsigned, 2>>;

struct ShardingRule {
  llvm::SmallVector<Factor> factors;
  llvm::SmallVector<TensorFactors> operands, results;
  /// Sets of operands the op is jointly linear in.
  llvm::SmallVector<llvm::SmallVector<unsigned>> linear;
  /// Sums over a cut factor are maxima (L8).
  bool isMax = false;
  /// Results that are sums over a cut `inner` factor nevertheless (gradients that leave the op
  /// before they are reduced).
  llvm::SmallVector<unsigned> partialResults;

  /// Adds a factor and returns its number.
  unsigned add(FactorKind kind, int64_t size) {
    factors.push_back({kind, size});
    return factors.size() - 1;
  }
};

/// A cut of a factor: the factor's n units of every block, dealt out in order.
struct FactorCut {
  unsigned factor = 0;
  int64_t blocks = 1, unit = 1;
  bool operator==(const FactorCut &o) const {
    return factor == o.factor && blocks == o.blocks && unit == o.unit;
  }
};

/// A numbered rule that does not hold.
struct Violation {
  int rule;
  std::string text;
};

/// Sizes of the rule's factors as one axis sees them: divided by the cuts listed before it.
using FactorSizes = llvm::SmallVector<int64_t>;

/// The factor that a shard state cuts, or nothing where it cuts across factors.
std::optional<FactorCut> factorOf(const ShardingRule &rule, const FactorSizes &sizes,
                                  const TensorFactors &tensor, const AxisState &state);

/// The shard state of a tensor when a factor of it is cut, or nothing where it lacks the factor.
std::optional<AxisState> stateFor(const ShardingRule &rule, const FactorSizes &sizes,
                                  const TensorFactors &tensor, const FactorCut &cut,
                                  mlir::StringAttr axis);

/// What L1 to L8 make of the results on one axis. `declared` has the results' own states, which
/// decide where a rule leaves a choice (L5: own factors, L7: ops without floating operands); pass
/// an empty array for the default (invariant or replicated).
struct AxisInference {
  int rule = 0; ///< the rule that says what the results are
  llvm::SmallVector<AxisState> results;
  std::optional<Violation> violation;
};
AxisInference inferAxis(mlir::Operation *op, const ShardingRule &rule, const FactorSizes &sizes,
                        mlir::StringAttr axis, llvm::ArrayRef<AxisState> operands,
                        llvm::ArrayRef<AxisState> declared);

/// Factor sizes for one axis of an op, after the outer cuts of that op's types.
FactorSizes factorSizes(mlir::Operation *op, const ShardingRule &rule, mlir::StringAttr axis);

/// Checks L1 to L8 on every axis of the grid. Emits an error that quotes the rule.
mlir::LogicalResult verifyShardingRule(mlir::Operation *op);

/// Sets the layouts of the results from those of the operands. Result types that have a layout
/// already say what is wanted where there is a choice. On failure nothing is changed and the
/// violation is returned.
std::optional<Violation> inferResultLayouts(mlir::Operation *op);

/// Factors of a reshape: the common refinement of both shapes; what has none is one whole factor.
ShardingRule reshapeRule(llvm::ArrayRef<int64_t> from, llvm::ArrayRef<int64_t> to);

/// Rule of an elementwise op with numpy broadcasting: a factor for each dimension of the result.
ShardingRule elementwiseRule(mlir::Operation *op,
                             llvm::ArrayRef<llvm::SmallVector<unsigned>> linear = {});

} // namespace colrow
