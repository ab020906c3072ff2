//===- Names.cpp - C++ names from the model's names -----------------------===//

#include "passes/emit/Names.h"
#include "dialect/Colrow.h"
#include "passes/lower/Plan.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;

namespace colrow {

/// Words that a variable cannot be called: of the language, and members of the generated class.
static bool isReserved(StringRef name) {
  static const llvm::StringSet<> words = {
      "alignas",  "alignof",  "and",      "asm",      "auto",     "bool",     "break",
      "case",     "catch",    "char",     "class",    "compl",    "concept",  "const",
      "continue", "decltype", "default",  "delete",   "do",       "double",   "else",
      "enum",     "explicit", "export",   "extern",   "false",    "float",    "for",
      "friend",   "goto",     "if",       "inline",   "int",      "long",     "mutable",
      "namespace", "new",     "noexcept", "not",      "nullptr",  "operator", "or",
      "private",  "protected", "public",  "register", "requires", "return",   "short",
      "signed",   "sizeof",   "static",   "struct",   "switch",   "template", "this",
      "throw",    "true",     "try",      "typedef",  "typename", "union",    "unsigned",
      "using",    "virtual",  "void",     "volatile", "while",    "xor",
      "ctx",      "rank",     "ids",      "math",     "random",   "scalars",  "count",
      "i",        "j",        "k",        "l",        "m",        "n",        "p",
      "g",        "in",       "m1",       "m2",       "scratch",  "activations", "outputs",
      "constants", "copy",    "fill",     "take",     "slice",    "pad",      "concat",
      "iota",     "transpose", "einsum",  "softmax",  "attention", "gelu",    "silu",
      "dropout",  "cumsum",   "std",      "colrow"};
  return words.contains(name);
}

std::string identifier(StringRef name) {
  std::string result;
  for (char c : name) {
    bool plain = llvm::isAlnum(c);
    if (plain)
      result += c;
    else if (!result.empty() && result.back() != '_')
      result += '_';
  }
  while (!result.empty() && result.back() == '_')
    result.pop_back();
  if (result.empty())
    result = "value";
  if (llvm::isDigit(result.front()))
    result = "value_" + result;
  return isReserved(result) ? result + "_" : result;
}

std::string camelBack(StringRef name) {
  std::string result;
  bool upper = false;
  for (char c : name) {
    if (c == '_')
      upper = true;
    else
      result += upper ? llvm::toUpper(c) : c;
    upper = c == '_';
  }
  return result;
}

Names::Names(StringRef label) : label(label.empty() ? "" : identifier(label) + "_") {}

std::string Names::unique(const std::string &name) {
  unsigned number = used[name]++;
  if (number == 0)
    return name;
  return unique(name + "_" + std::to_string(number + 1));
}

std::string Names::base(Value value) const {
  Operation *op = value.getDefiningOp();
  std::string user = getUserName(value, op ? op->getName().stripDialect() : "value");
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    auto function = cast<func::FuncOp>(argument.getOwner()->getParentOp());
    if (getRole(function, argument.getArgNumber()) == "gradient")
      user = "grad." + user;
  }
  StringRef text(user);
  text.consume_back("_output_0");
  std::string prefix = text.consume_front("grad.") ? "grad_" : op && isBackward(op) ? "d_" : "";
  std::string name = identifier(text);
  if (!label.empty() && StringRef(name).starts_with(label))
    name = identifier(StringRef(name).drop_front(label.size()));
  return prefix + name;
}

} // namespace colrow
