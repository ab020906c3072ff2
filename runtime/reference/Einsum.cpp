#include "runtime/reference/Einsum.h"

#include "runtime/reference/Walk.h"

#include <algorithm>
#include <cctype>
#include <map>

namespace colrow::reference {

namespace {

struct Equation {
  std::string a, b, result;
  std::string summed; ///< letters of a and b that the result lacks, in a's order
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
  Equation equation{text.substr(0, comma), text.substr(comma + 1, arrow - comma - 1),
                    text.substr(arrow + 2), ""};
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
  return equation;
}

/// The strides with which an operand is read in the space of `letters`: 0 for those it lacks.
Shape stridesOver(const std::string &letters, const std::string &own, const Tensor &x) {
  Shape strides;
  for (char letter : letters) {
    size_t axis = own.find(letter);
    strides.push_back(axis == std::string::npos ? 0 : x.strides()[axis]);
  }
  return strides;
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

  // Where the two factors of every product of one sum lie, relative to the sum's first.
  std::vector<Positions<2>> terms;
  walk<2>(
      shapeOf(equation.summed),
      {stridesOver(equation.summed, equation.a, a), stridesOver(equation.summed, equation.b, b)},
      {0, 0}, [&](const Positions<2> &at) { terms.push_back(at); });

  Shape shape = shapeOf(equation.result);
  std::vector<double> values;
  values.reserve(elementCount(shape));
  const double *left = a.data<double>(), *right = b.data<double>();
  walk<2>(
      shape,
      {stridesOver(equation.result, equation.a, a), stridesOver(equation.result, equation.b, b)},
      {a.offset(), b.offset()}, [&](const Positions<2> &at) {
        double sum = 0;
        for (const Positions<2> &term : terms)
          sum += left[at[0] + term[0]] * right[at[1] + term[1]];
        values.push_back(roundTo(a.type(), precision, sum));
      });
  return Tensor::floats(shape, std::move(values), a.type());
}

} // namespace colrow::reference
