//===- GradientProgram.h - gradients against difference quotients ---------===//
#pragma once

#include "dialect/Colrow.h"
#include "runtime/reference/Interpreter.h"

#include <map>
#include <string>
#include <vector>

namespace colrow {

/// A program with a loss, differentiated, ready to run in fp64 on the ranks of its grid.
class GradientProgram {
public:
  using Tensors = std::map<std::string, reference::Tensor>;

  /// `text` has a function @main with role attributes. `passes` is a textual pipeline that runs
  /// first and ends in colrow-differentiate; colrow-decompose and colrow-localize follow. Throws
  /// Error with the diagnostics where anything fails.
  GradientProgram(const std::string &text, const std::string &passes);
  ~GradientProgram();

  /// Random numbers in [low, high) for every float argument of @main, integers in [0, high) for the
  /// others; `ranges` by name, else -1 to 1 and below 2.
  Tensors randomInputs(const std::map<std::string, std::pair<double, double>> &ranges) const;

  /// Of the training step.
  double loss(const Tensors &inputs) const;
  /// Of @evaluate, without dropout.
  double evaluate(const Tensors &inputs) const;
  /// By name of parameter, with gradients of zero coming in.
  Tensors gradients(const Tensors &inputs) const;

  /// The largest distance of a gradient to the central difference quotient of the loss, over all
  /// elements of all parameters, relative to the largest quotient.
  double gradientError(const Tensors &inputs) const;

private:
  struct Argument {
    std::string name, role;
    mlir::RankedTensorType type;
  };

  InterpreterResult runStep(const Tensors &inputs) const;

  mlir::MLIRContext context;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  std::vector<Argument> arguments; ///< of @main
};

} // namespace colrow
