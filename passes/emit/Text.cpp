//===- Text.cpp - pieces of C++ text --------------------------------------===//

#include "passes/emit/Text.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/ErrorHandling.h"

#include <cmath>
#include <fmt/format.h>

using namespace mlir;

namespace colrow {

std::string memoryType(Type elementType) {
  if (isa<FloatType>(elementType)) // constants may be kept in more bits than they have
    return "float";
  switch (elementType.getIntOrFloatBitWidth()) {
  case 1:
    return "uint8_t";
  case 32:
    return "int32_t";
  default:
    return "int64_t";
  }
}

std::string variableType(Type elementType) {
  return elementType.isInteger(1) ? "bool" : memoryType(elementType);
}

std::string listed(ArrayRef<int64_t> numbers) { return fmt::format("{}", fmt::join(numbers, ", ")); }
std::string braced(ArrayRef<int64_t> numbers) { return "{" + listed(numbers) + "}"; }

std::string literal(double value) {
  if (std::isnan(value))
    return "NAN";
  if (std::isinf(value))
    return value < 0 ? "-INFINITY" : "INFINITY";
  // The shortest text that reads back as the same float.
  std::string text = fmt::format("{}", static_cast<float>(value));
  if (text.find_first_of(".e") == std::string::npos)
    text += ".0";
  return text + "f";
}

std::string literal(int64_t value) {
  bool fits = value >= INT32_MIN && value <= INT32_MAX;
  return fits ? std::to_string(value)
              : value == INT64_MIN ? "INT64_MIN" : fmt::format("INT64_C({})", value);
}

std::string quoted(StringRef text) {
  std::string result = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\')
      result += '\\';
    if (c == '\n')
      result += "\\n";
    else
      result += c;
  }
  return result + "\"";
}

std::string literal(DenseElementsAttr elements, int64_t index) {
  if (elements.isSplat())
    index = 0;
  Type type = elements.getElementType();
  if (isa<FloatType>(type)) {
    APFloat value = *(elements.value_begin<APFloat>() + index);
    bool lossy;
    value.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &lossy);
    return literal(value.convertToDouble());
  }
  APInt value = *(elements.value_begin<APInt>() + index);
  if (type.isInteger(1))
    return value.isZero() ? "false" : "true";
  return literal(value.getSExtValue());
}

std::string dimSlice(const DimSlice &slice) {
  std::string cuts;
  for (const Cut &cut : slice.cuts)
    cuts += fmt::format("{}{{{}, {}, {}, {}}}", cuts.empty() ? "" : ", ", quoted(cut.axis),
                        cut.ranks, cut.blocks, cut.unit);
  std::string filled = slice.filled == 1 ? "" : fmt::format(", {}", slice.filled);
  return fmt::format("{{{}, {{{}}}{}}}", slice.size, cuts, filled);
}

/// Where a line's comment begins, outside strings; npos without one.
static size_t commentBegin(const std::string &text) {
  bool inString = false;
  for (size_t i = 0; i + 1 < text.size(); ++i) {
    if (text[i] == '"' && (i == 0 || text[i - 1] != '\\'))
      inString = !inString;
    if (!inString && text[i] == '/' && text[i + 1] == '/')
      return i;
  }
  return std::string::npos;
}

static constexpr size_t columns = 100;

/// Code without comments, broken behind operators and commas.
static std::string wrappedCode(unsigned indent, const std::string &text) {
  std::string result, line(indent, ' ');
  size_t begin = 0;
  bool inString = false;
  auto append = [&](const std::string &piece) {
    size_t length = piece.size() - (piece.back() == ' ');
    if (line.size() + length > columns && line.find_first_not_of(' ') != std::string::npos) {
      result += StringRef(line).rtrim(' ').str() + "\n";
      line = std::string(indent + 4, ' ');
    }
    line += piece;
  };
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '"' && (i == 0 || text[i - 1] != '\\'))
      inString = !inString;
    bool breakHere = !inString && text[i] == ' ' && i > 0 &&
                     StringRef(",=+*/?:|&(").contains(text[i - 1]);
    if (breakHere) {
      append(text.substr(begin, i + 1 - begin));
      begin = i + 1;
    }
  }
  append(text.substr(begin));
  return result + line + "\n";
}

std::string wrapped(unsigned indent, const std::string &text) {
  size_t begin = commentBegin(text);
  if (begin == std::string::npos)
    return wrappedCode(indent, text);
  // A comment is one line, which ends with it: where both do not fit it stands above the code.
  std::string margin(indent, ' ');
  if (begin == 0 || indent + text.size() <= columns)
    return margin + text + "\n";
  return margin + text.substr(begin) + "\n" +
         wrappedCode(indent, StringRef(text).take_front(begin).rtrim(' ').str());
}

} // namespace colrow
