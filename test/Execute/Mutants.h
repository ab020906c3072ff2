//===- Mutants.h - wrong programs made from a right one --------------------===//
#pragma once

#include "dialect/Colrow.h"

#include <functional>
#include <map>
#include <string>

namespace colrow::test {

/// What the verifier made of all mutants of a module.
struct MutantCount {
  int mutants = 0;
  std::map<std::string, int> byRule;  ///< "L2" -> number rejected with that rule
  std::vector<std::string> survivors; ///< accepted, or rejected without a numbered rule

  void print(llvm::StringRef title) const;
};

/// Makes every mutant of a sharded module that has one conversion
///   - dropped (on all of its axes, or on one of several),
///   - doubled, or
///   - replaced by each other conversion, to each state that one may convert to,
/// infers the types downstream again, and asks the verifier. `survived` is called with a mutant
/// that it accepts, and says whether that mutant is right after all (what it computes is the same).
MutantCount countMutants(mlir::ModuleOp module,
                         const std::function<bool(mlir::ModuleOp)> &isRight);

} // namespace colrow::test
