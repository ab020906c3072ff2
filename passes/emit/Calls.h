//===- Calls.h - what the calls of an outlined function have in common ----===//
//
// Layers that repeat are one function with a call for each. Much of what a call would pass follows
// from the number of the layer: parameter 2 + 12 * layer, the activations at
// 4096 + 16384 * layer. That is not passed; the function computes it, so that the step reads
//
//   layerForward(0); // transformer.h.0
//   layerForward(1); // transformer.h.1
//
//===----------------------------------------------------------------------===//
#pragma once

#include "dialect/Colrow.h"
#include "passes/lower/Plan.h"

#include <string>

namespace colrow {

/// Numbers of parameters and inputs in programInfo(), by name.
struct ProgramNumbers {
  llvm::StringMap<unsigned> parameters, inputs;
};

/// Memory that the generated class has a name for: a parameter, or bytes of a segment.
struct MemoryName {
  std::string accessor; ///< "p", "in", "activations", or a member without a number
  int64_t number = 0;   ///< of the parameter or input; bytes from the segment's begin
  enum Kind { member, numbered, typed, segment } kind = member;

  /// "p(3)", "in<int64_t>(0)", "scratch.at<float>(64)", with any expression as the number.
  std::string text(const std::string &number, mlir::Type elementType) const;
};

/// The memory of a buffer that is no pointer passed by a caller.
MemoryName nameMemory(const FunctionPlan &plan, const Buffer &buffer,
                      const ProgramNumbers &numbers);

/// How an outlined function is called.
struct CallForm {
  /// For each argument and each result: an expression in `layer`; empty where a pointer is passed.
  llvm::SmallVector<std::string> arguments, results;
  bool numbered = false; ///< whether any of them has an expression
  int64_t first = 0, step = 1; ///< the layer of call i is first + step * i
};

/// Finds it, for a function that `program` calls from exactly one other.
CallForm findCallForm(const FunctionPlan &function, const ProgramPlan &program,
                      const ProgramNumbers &numbers);

} // namespace colrow
