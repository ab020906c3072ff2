//===- Repeats.h - finds what follows itself several times ----------------===//
#pragma once

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Operation.h"

namespace colrow {

/// `count` instances of `period` operations each, one behind the other from `start` on in the list
/// of operations that was searched.
struct Repeat {
  size_t start = 0, period = 0, count = 0;

  size_t end() const { return start + period * count; }
  /// Operations that need not be written again.
  size_t saved() const { return period * (count - 1); }
};

/// Finds repeats in a list of operations of one block. Two operations are alike if name,
/// attributes (but identifiers of dropout sites), types and pass (forward or backward) are the same;
/// two instances are alike if so are their operations and what these read from their own instance.
class RepeatFinder {
public:
  /// `operations` are all of a block in order, without constants and terminator.
  explicit RepeatFinder(llvm::ArrayRef<mlir::Operation *> operations);

  /// The repeat in [begin, end) that saves the most operations, of at least `minOps` each and with
  /// a parameter read in each, or nothing. Where it may begin at one of several operations, it
  /// begins where instances share the longest part of their parameters' names (all those of
  /// "h.0" rather than half "h.0" and half "h.1"), then where the fewest values go from one
  /// instance to the next.
  std::optional<Repeat> find(size_t begin, size_t end, size_t minOps) const;

  /// The common dotted prefix of the names of the parameters (or their gradients) that an instance
  /// reads; empty if there is none.
  std::string label(size_t begin, size_t end) const;

private:
  bool instancesAgree(const Repeat &repeat) const;
  size_t crossings(const Repeat &repeat) const;
  std::optional<Repeat> rotate(Repeat repeat, size_t slack) const;

  llvm::ArrayRef<mlir::Operation *> operations;
  std::vector<unsigned> symbols;
  llvm::DenseMap<mlir::Operation *, size_t> positions;
};

} // namespace colrow
