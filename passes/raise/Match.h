//===- Match.h - what recognisers look for --------------------------------===//
//
// A recogniser finds what an operation computes in primitive ones. Exporters write one formula in
// many ways, so formulas are compared as polynomials and constants by their values, never as graphs
// by their shapes.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "dialect/Colrow.h"
#include "runtime/reference/Tensor.h"

#include <map>

namespace colrow {

/// The number that every element of a floating constant is; nothing for other values.
std::optional<double> numberOf(mlir::Value value);

/// Whether two numbers are equal but for rounding to single precision.
bool isAbout(double number, double expected);

/// A polynomial in x and y: the coefficient of x^i y^j at {i, j}. Zeros are left out.
using Polynomial = std::map<std::pair<int, int>, double>;
bool isAbout(const Polynomial &polynomial, const Polynomial &expected);

/// `value` as a polynomial of low degree in x and y (y may be null); nothing where it depends on
/// anything else.
std::optional<Polynomial> polynomialOf(mlir::Value value, mlir::Value x, mlir::Value y = {});

/// A value x in which `value` is the polynomial; null where there is none.
mlir::Value findVariable(mlir::Value value, const Polynomial &polynomial);

/// What is computed from `y` and `x` alone, through values that are read once, and is the
/// polynomial; null where there is none. It has the type of x.
mlir::Value findResult(mlir::Value x, mlir::Value y, const Polynomial &polynomial);

/// x and the factor, where `value` is x times a number or divided by one.
struct Scaled {
  mlir::Value value;
  double factor;
};
std::optional<Scaled> scaledOf(mlir::Value value);

/// The operation that alone reads a value, once; null if there is none.
mlir::Operation *onlyReader(mlir::Value value);
template <typename OpTy> OpTy onlyReader(mlir::Value value) {
  return llvm::dyn_cast_or_null<OpTy>(onlyReader(value));
}

/// Values that depend on constants alone, executed once each.
class ConstantValues {
public:
  /// Nothing where the value depends on an argument.
  const std::optional<reference::Tensor> &of(mlir::Value value);

private:
  std::optional<reference::Tensor> execute(mlir::Value value);

  llvm::DenseMap<mlir::Value, std::optional<reference::Tensor>> known;
};

/// Whether a gradient could be wanted of a value: it depends on a trained parameter.
bool dependsOnParameter(mlir::Value value);

} // namespace colrow
