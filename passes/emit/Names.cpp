//===- Names.cpp - C++ names from the model's names -----------------------===//

#include "passes/emit/Names.h"
#include "dialect/Colrow.h"
#include "passes/lower/Plan.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;

namespace colrow {

/// Words that a variable cannot be called, or that would hide what generated code calls.
static bool isReserved(StringRef name) {
  static const llvm::StringSet<> words = {
      // The language, with the alternative spellings of operators.
      "alignas", "alignof", "and", "and_eq", "asm", "auto", "bitand", "bitor", "bool", "break",
      "case", "catch", "char", "char8_t", "char16_t", "char32_t", "class", "co_await", "co_return",
      "co_yield", "compl", "concept", "const", "const_cast", "consteval", "constexpr", "constinit",
      "continue", "decltype", "default", "delete", "do", "double", "dynamic_cast", "else", "enum",
      "explicit", "export", "extern", "false", "final", "float", "for", "friend", "goto", "if",
      "inline", "int", "long", "mutable", "namespace", "new", "noexcept", "not", "not_eq", "nullptr",
      "operator", "or", "or_eq", "override", "private", "protected", "public", "register",
      "reinterpret_cast", "requires", "return", "short", "signed", "sizeof", "static",
      "static_assert", "static_cast", "struct", "switch", "template", "this", "thread_local",
      "throw", "true", "try", "typedef", "typeid", "typename", "typeof", "union", "unsigned",
      "using", "virtual", "void", "volatile", "wchar_t", "while", "xor", "xor_eq",
      // Types, macros and namespaces of the library.
      "std", "colrow", "math", "size_t", "ptrdiff_t", "int8_t", "int16_t", "int32_t", "int64_t",
      "uint8_t", "uint16_t", "uint32_t", "uint64_t", "NULL", "EOF", "NAN", "INFINITY", "HUGE_VAL",
      "errno", "assert", "linux", "unix", "stdin", "stdout", "stderr",
      // Functions of the runtime (a test compares with its headers).
      "adamW", "append", "attention", "attentionGrad", "axpy", "back", "broadcastTo",
      "cast", "clear", "clipCoefficient", "concat", "copy", "countBelow", "crossEntropy",
      "crossEntropyGrad", "cumsum", "dropout", "einsum", "fill", "fillRuns", "gelu",
      "geluGrad", "globalIndex", "globalSize", "iota", "layerNorm", "layerNormGrad",
      "linearCrossEntropy", "linearCrossEntropyGrad", "localIndex", "localSize",
      "maskPadding", "numel", "operator", "pad", "reduceMax", "reduceMin", "reduceProd",
      "reduceSum", "rmsNorm", "rmsNormGrad", "silu", "siluGrad", "slice", "softmax",
      "softmaxGrad", "sumOfSquares", "take", "takeAlong", "takeAlongGrad", "takeGrad",
      "transpose",
      // Members and variables of the generated class.
      "ctx", "rank", "ids", "layer", "step", "random", "scalars", "count", "i", "j", "k", "l", "m",
      "n", "p", "g", "in", "m1", "m2", "parameters", "gradients", "firstMoments", "secondMoments",
      "inputs", "outputs", "wholeOutputs", "scratch", "activations", "constants", "parameterBegin",
      "inputBegin", "load", "info", "parameter", "gradient", "firstMoment", "secondMoment", "input",
      "output", "zeroGradients", "watch", "observe", "forwardBackward", "update", "evaluate", "map",
      "slices", "exchange", "vocabulary", "arena", "accumulates"};
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
  std::string prefix = text.consume_front("grad.") ? "grad_" : op && isBackward(op) && !isRecomputed(op) ? "d_" : "";
  std::string name = identifier(text);
  if (!label.empty() && StringRef(name).starts_with(label))
    name = identifier(StringRef(name).drop_front(label.size()));
  return prefix + name + (op && isRecomputed(op) ? "_again" : "");
}

} // namespace colrow
