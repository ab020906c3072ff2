//===- Text.h - pieces of C++ text ----------------------------------------===//
#pragma once

#include "colrow/Layout.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"

#include <string>

namespace colrow {

/// The C++ type of an element in memory (a boolean is uint8_t) and in a variable.
std::string memoryType(mlir::Type elementType);
std::string variableType(mlir::Type elementType);

/// "{4, 32, 64}"
std::string braced(llvm::ArrayRef<int64_t> numbers);
/// "4, 32, 64"
std::string listed(llvm::ArrayRef<int64_t> numbers);

/// A C++ literal.
std::string literal(double value);
std::string literal(int64_t value);
std::string quoted(llvm::StringRef text);
/// Element `index` of a dense constant.
std::string literal(mlir::DenseElementsAttr elements, int64_t index);

/// "{512, {{\"tp\", 2, 1, 1}}}": a DimSlice.
std::string dimSlice(const DimSlice &slice);

/// A statement with an indentation, broken after commas and operators so that lines have at most
/// 100 columns; ends with a newline.
std::string wrapped(unsigned indent, const std::string &text);

} // namespace colrow
