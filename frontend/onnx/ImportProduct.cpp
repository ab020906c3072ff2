//===- ImportProduct.cpp - matrix products --------------------------------===//

#include "frontend/Builders.h"
#include "frontend/onnx/Model.h"
#include "frontend/onnx/OnnxNode.h"

using namespace mlir;

namespace colrow {

static void buildMatMulNode(OnnxNode &node) {
  node.set(buildMatMul(node.b, node.in(0), node.in(1)));
}

static void buildGemm(OnnxNode &node) {
  FoldingBuilder &b = node.b;
  if (node.rank(0) != 2 || node.rank(1) != 2)
    node.fail("expects matrices, got ranks " + Twine(node.rank(0)) + " and " + Twine(node.rank(1)));
  std::string equation = node.integer("transA", 0) ? "it," : "ti,";
  equation += node.integer("transB", 0) ? "oi->to" : "io->to";
  double alpha = node.number("alpha", 1), beta = node.number("beta", 1);
  Value y = b.einsum(equation, node.in(0), node.in(1));
  if (alpha != 1)
    y = b.mul(y, alpha);
  if (node.has(2) && beta != 0)
    y = b.add(y, beta == 1 ? node.in(2) : b.mul(node.in(2), beta));
  node.set(y);
}

//===----------------------------------------------------------------------===//
// Einsum
//===----------------------------------------------------------------------===//

namespace {
struct Term {
  std::string letters;
  Value value;
};
} // namespace

/// Replaces "..." by the letters of `rank` dimensions, the same from the right in every term.
static std::string expandEllipsis(OnnxNode &node, std::string term, size_t rank) {
  size_t at = term.find("...");
  if (at == std::string::npos)
    return term;
  if (rank + 3 < term.size())
    node.fail("has an equation that does not fit its operands");
  size_t count = rank - (term.size() - 3);
  std::string letters;
  for (size_t i = 0; i < count; ++i)
    letters += static_cast<char>('A' + (count - 1 - i));
  return term.replace(at, 3, letters);
}

/// Sums what occurs here only, after taking the diagonal of letters that occur twice.
static void simplifyTerm(FoldingBuilder &b, Term &term, const std::string &elsewhere) {
  Type i64 = IntegerType::get(b.getContext(), 64);
  for (size_t i = 0; i < term.letters.size(); ++i)
    for (size_t j = term.letters.size(); --j > i;)
      if (term.letters[i] == term.letters[j]) {
        SmallVector<int64_t> shape = shapeOf(term.value), row(shape.size(), 1), column(row);
        row[i] = shape[i];
        column[j] = shape[j];
        Value onDiagonal = b.compare(Predicate::eq, b.iota(row, i, i64), b.iota(column, j, i64));
        Value kept = b.select(onDiagonal, term.value, b.scalarLike(0, term.value));
        term.value = b.reduce<ReduceSumOp>(kept, {static_cast<int64_t>(j)}, false);
        term.letters.erase(j, 1);
      }
  SmallVector<int64_t> summed;
  std::string left;
  for (auto [i, letter] : llvm::enumerate(term.letters)) {
    if (elsewhere.find(letter) == std::string::npos)
      summed.push_back(static_cast<int64_t>(i));
    else
      left += letter;
  }
  term.value = b.reduce<ReduceSumOp>(term.value, summed, false);
  term.letters = left;
}

static void buildEinsum(OnnxNode &node) {
  FoldingBuilder &b = node.b;
  std::string equation = node.text("equation", "");
  llvm::erase(equation, ' ');
  StringRef left = StringRef(equation).split("->").first;
  SmallVector<StringRef> parts;
  left.split(parts, ',');
  if (parts.size() != node.numInputs())
    node.fail("has an equation of " + Twine(parts.size()) + " operands, but " +
              Twine(node.numInputs()));
  std::vector<Term> terms;
  std::string ellipsis;
  for (auto [i, part] : llvm::enumerate(parts)) {
    Term term{expandEllipsis(node, part.str(), node.rank(i)), node.in(i)};
    if (static_cast<int64_t>(term.letters.size()) != node.rank(i))
      node.fail("has an equation that does not fit its operands");
    if (part.contains("..."))
      for (char letter : term.letters)
        if (llvm::isUpper(letter) && part.find(letter) == StringRef::npos &&
            ellipsis.find(letter) == std::string::npos)
          ellipsis += letter;
    terms.push_back(std::move(term));
  }
  llvm::sort(ellipsis, std::greater<char>());
  std::string result;
  if (StringRef(equation).contains("->")) {
    result = StringRef(equation).split("->").second.str();
    if (size_t at = result.find("..."); at != std::string::npos)
      result.replace(at, 3, ellipsis);
  } else { // letters that occur once, in order
    for (char letter : left.str())
      if (llvm::isAlpha(letter) && left.count(letter) == 1)
        result += letter;
    llvm::sort(result);
    result = ellipsis + result;
  }

  auto lettersBehind = [&](size_t from) {
    std::string letters = result;
    for (size_t i = from; i < terms.size(); ++i)
      letters += terms[i].letters;
    return letters;
  };
  Term product = terms[0];
  simplifyTerm(b, product, lettersBehind(1));
  for (size_t i = 1; i < terms.size(); ++i) {
    simplifyTerm(b, terms[i], product.letters + lettersBehind(i + 1));
    std::string kept, later = lettersBehind(i + 1);
    for (char letter : product.letters + terms[i].letters)
      if (later.find(letter) != std::string::npos && kept.find(letter) == std::string::npos)
        kept += letter;
    if (i + 1 == terms.size())
      kept = result;
    product.value = b.einsum(product.letters + "," + terms[i].letters + "->" + kept, product.value,
                             terms[i].value);
    product.letters = kept;
  }
  if (product.letters != result) {
    SmallVector<int64_t> permutation;
    for (char letter : result)
      permutation.push_back(static_cast<int64_t>(product.letters.find(letter)));
    if (result.size() != product.letters.size() || llvm::is_contained(permutation, -1))
      node.fail("has a result letter that no operand has");
    product.value = b.transpose(product.value, permutation);
  }
  node.set(product.value);
}

static constexpr OnnxOp ops[] = {
    {"Einsum", 12, "F*", buildEinsum, "no broadcasting of sizes 1 under an ellipsis"},
    {"Gemm", minOpset, "FFF", buildGemm},
    {"MatMul", minOpset, "FF", buildMatMulNode},
};

ArrayRef<OnnxOp> productOps() { return ops; }

} // namespace colrow
