#include "runtime/reference/Einsum.h"

#include "runtime/reference/Shape.h"

#include <algorithm>
#include <cctype>
#include <map>

namespace colrow::reference {

namespace {

/// The letters of an equation, and what each is to the product: every einsum of two operands is
/// a batch of matrix products, [batch, left, summed] by [batch, summed, right].
struct Equation {
  std::string a, b, result;
  std::string batch;  ///< in both operands and the result
  std::string left;   ///< in a and the result
  std::string right;  ///< in b and the result
  std::string summed; ///< in both operands, not in the result
};

[[noreturn]] void fail(const std::string &equation, const std::string &message) {
  throw Error("einsum '" + equation + "': " + message);
}

bool contains(const std::string &letters, char letter) {
  return letters.find(letter) != std::string::npos;
}

Equation parse(const std::string &text) {
  size_t comma = text.find(','), arrow = text.find("->");
  if (comma == std::string::npos || arrow == std::string::npos || arrow < comma)
    fail(text, "expects the form 'ab,bc->ac'");
  Equation equation;
  equation.a = text.substr(0, comma);
  equation.b = text.substr(comma + 1, arrow - comma - 1);
  equation.result = text.substr(arrow + 2);
  std::map<char, int> occurrences;
  for (const std::string *letters : {&equation.a, &equation.b, &equation.result})
    for (char letter : *letters) {
      if (!std::isalpha(static_cast<unsigned char>(letter)))
        fail(text, std::string("'") + letter + "' is no letter");
      if (std::count(letters->begin(), letters->end(), letter) > 1)
        fail(text, std::string("'") + letter + "' occurs twice in '" + *letters + "'");
      ++occurrences[letter];
    }
  for (auto [letter, count] : occurrences)
    if (count < 2)
      fail(text, std::string("'") + letter + "' occurs in only one of the operands and result");
  for (char letter : equation.a)
    if (!contains(equation.result, letter))
      equation.summed += letter;
    else
      (contains(equation.b, letter) ? equation.batch : equation.left) += letter;
  for (char letter : equation.b)
    if (!contains(equation.a, letter))
      equation.right += letter;
  return equation;
}

/// `x`, whose axes are named by `own`, with its axes in the order of `wanted`, contiguous.
Tensor arranged(const Tensor &x, const std::string &own, const std::string &wanted) {
  std::vector<int64_t> permutation;
  for (char letter : wanted)
    permutation.push_back(static_cast<int64_t>(own.find(letter)));
  return transpose(x, permutation).materialize();
}

} // namespace

Tensor einsum(const std::string &text, const Tensor &a, const Tensor &b, Precision precision) {
  Equation equation = parse(text);
  if (!a.isFloat() || a.type() != b.type())
    fail(text, "expects floating operands of one element type, got " + a.describe() + " and " +
                   b.describe());
  std::map<char, int64_t> sizes;
  auto bind = [&](const std::string &letters, const Tensor &x) {
    if (static_cast<int64_t>(letters.size()) != x.rank())
      fail(text, "'" + letters + "' does not fit " + x.describe());
    for (size_t i = 0; i < letters.size(); ++i) {
      auto [known, isNew] = sizes.emplace(letters[i], x.shape()[i]);
      if (!isNew && known->second != x.shape()[i])
        fail(text, std::string("'") + letters[i] + "' is " + std::to_string(known->second) +
                       " and " + std::to_string(x.shape()[i]) + " in " + a.describe() + " and " +
                       b.describe());
    }
  };
  bind(equation.a, a);
  bind(equation.b, b);
  auto shapeOf = [&](const std::string &letters) {
    Shape shape;
    for (char letter : letters)
      shape.push_back(sizes.at(letter));
    return shape;
  };

  int64_t left = elementCount(shapeOf(equation.left)),
          right = elementCount(shapeOf(equation.right));
  int64_t batch = elementCount(shapeOf(equation.batch));
  int64_t summed = elementCount(shapeOf(equation.summed));
  Tensor denseA = arranged(a, equation.a, equation.batch + equation.left + equation.summed);
  Tensor denseB = arranged(b, equation.b, equation.batch + equation.summed + equation.right);
  const double *fromA = denseA.data<double>() + denseA.offset();
  const double *fromB = denseB.data<double>() + denseB.offset();
  std::vector<double> values(batch * left * right, 0);
  for (int64_t n = 0; n < batch; ++n)
    for (int64_t i = 0; i < left; ++i) {
      double *row = values.data() + (n * left + i) * right;
      for (int64_t k = 0; k < summed; ++k) {
        double factor = fromA[(n * left + i) * summed + k];
        const double *column = fromB + (n * summed + k) * right;
        for (int64_t j = 0; j < right; ++j)
          row[j] += factor * column[j];
      }
    }
  for (double &value : values)
    value = roundTo(a.type(), precision, value);
  std::string computed = equation.batch + equation.left + equation.right;
  return arranged(Tensor::floats(shapeOf(computed), std::move(values), a.type()), computed,
                  equation.result);
}

} // namespace colrow::reference
