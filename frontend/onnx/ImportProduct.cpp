//===- ImportProduct.cpp - matrix products --------------------------------===//

#include "frontend/onnx/Model.h"
#include "frontend/onnx/OnnxNode.h"

using namespace mlir;

namespace colrow {

/// numpy.matmul: leading dimensions broadcast. A dimension of size 1 against a larger one is
/// dropped from its operand: einsum repeats it.
static void buildMatMul(OnnxNode &node) {
  FoldingBuilder &b = node.b;
  Value lhs = node.in(0), rhs = node.in(1);
  SmallVector<int64_t> left = shapeOf(lhs), right = shapeOf(rhs);
  if (left.empty() || right.empty())
    node.fail("expects operands of rank 1 or more");
  bool isRow = left.size() == 1, isColumn = right.size() == 1;
  ArrayRef<int64_t> leftBatch = isRow ? ArrayRef<int64_t>() : ArrayRef(left).drop_back(2);
  ArrayRef<int64_t> rightBatch = isColumn ? ArrayRef<int64_t>() : ArrayRef(right).drop_back(2);
  if (left.back() != (isColumn ? right[0] : right[right.size() - 2]))
    node.fail("multiplies matrices of " + Twine(left.back()) + " columns and " +
              Twine(isColumn ? right[0] : right[right.size() - 2]) + " rows");

  std::string equation[3];
  SmallVector<int64_t> shapes[2];
  SmallVector<int64_t> result;
  size_t depth = std::max(leftBatch.size(), rightBatch.size());
  for (size_t i = 0; i < depth; ++i) {
    int64_t sizes[2] = {1, 1};
    if (i + leftBatch.size() >= depth)
      sizes[0] = leftBatch[i + leftBatch.size() - depth];
    if (i + rightBatch.size() >= depth)
      sizes[1] = rightBatch[i + rightBatch.size() - depth];
    if (sizes[0] != sizes[1] && sizes[0] != 1 && sizes[1] != 1)
      node.fail("multiplies batches of " + Twine(sizes[0]) + " and " + Twine(sizes[1]));
    int64_t size = sizes[0] == 1 ? sizes[1] : sizes[0];
    result.push_back(size);
    if (size == 1) // neither needs it; the result is reshaped
      continue;
    char letter = static_cast<char>('a' + i);
    for (int operand : {0, 1})
      if (sizes[operand] == size) {
        equation[operand] += letter;
        shapes[operand].push_back(size);
      }
    equation[2] += letter;
  }
  if (!isRow) {
    equation[0] += 'm';
    equation[2] += 'm';
    shapes[0].push_back(left[left.size() - 2]);
    result.push_back(left[left.size() - 2]);
  }
  equation[0] += 'k';
  shapes[0].push_back(left.back());
  equation[1] += 'k';
  shapes[1].push_back(left.back());
  if (!isColumn) {
    equation[1] += 'n';
    equation[2] += 'n';
    shapes[1].push_back(right.back());
    result.push_back(right.back());
  }
  Value product = b.einsum(equation[0] + "," + equation[1] + "->" + equation[2],
                           b.reshape(lhs, shapes[0]), b.reshape(rhs, shapes[1]));
  node.set(b.reshape(product, result));
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
    {"Einsum", minOpset, "F*", buildEinsum, "no broadcasting of sizes 1 under an ellipsis"},
    {"Gemm", minOpset, "FFF", buildGemm},
    {"MatMul", minOpset, "FF", buildMatMul},
};

ArrayRef<OnnxOp> productOps() { return ops; }

} // namespace colrow
