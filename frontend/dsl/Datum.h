//===- Datum.h - what an expression of the model language is worth --------===//
#pragma once

#include "mlir/IR/Value.h"
#include "llvm/ADT/ArrayRef.h"

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

namespace colrow::dsl {

/// A number known at compile time. `isOpen`: it follows from a dim that is bound for a run (batch,
/// sequence), so that it does not belong to the model.
struct Number {
  bool isInteger = true;
  int64_t integer = 0;
  double real = 0; ///< where it is no integer
  bool isOpen = false;

  static Number of(int64_t value, bool isOpen = false) { return {true, value, 0, isOpen}; }
  static Number of(double value, bool isOpen = false) { return {false, 0, value, isOpen}; }
  double value() const { return isInteger ? static_cast<double>(integer) : real; }
};

struct Truth {
  bool value = false, isOpen = false;
};

struct None {};

struct Datum;
using List = std::vector<Datum>;

struct Datum {
  std::variant<None, Number, Truth, std::string, mlir::Value, List> content;

  template <typename T> const T *as() const { return std::get_if<T>(&content); }
  bool isNone() const { return as<None>(); }
};

/// `a number`, `a tensor [8, 32]`, ...
std::string describe(const Datum &datum);

/// As it is written: `24`, `0.02`.
std::string numberText(const Number &number);

/// `[8, 32]`
std::string shapeText(llvm::ArrayRef<int64_t> shape);

} // namespace colrow::dsl
