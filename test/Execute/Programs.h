//===- Programs.h - whole programs, run and mutated ------------------------===//
#pragma once

#include "dialect/Colrow.h"
#include "runtime/reference/Tensor.h"

#include <map>
#include <string>

namespace colrow::test {

using Tensors = std::map<std::string, reference::Tensor>;

/// The results of every function of a module on random arguments, by "function result".
Tensors runAll(mlir::ModuleOp module);

/// The largest difference of two such; infinite where they have other results.
double worstDifference(const Tensors &a, const Tensors &b);

/// Fails the current test for every mutant of the module that no numbered rule rejects, and prints
/// how many each rule caught. One that the verifier accepts is right only if it computes the same.
void expectAllMutantsRejected(mlir::ModuleOp module, llvm::StringRef name, int atLeast);

} // namespace colrow::test
