//===- ParserExpressions.cpp - expressions to trees -----------------------===//

#include "frontend/dsl/ParserImpl.h"
#include "llvm/ADT/StringExtras.h"

#include <cmath>

using namespace llvm;

namespace colrow::dsl {

//===----------------------------------------------------------------------===//
// Expressions
//===----------------------------------------------------------------------===//

ExprPtr Parser::binary(ExprPtr left, const Token &op, ExprPtr right) {
  SMRange range = join(left->range, right->range);
  return make(range, BinaryExpr{{op.text.str(), op.range()}, std::move(left), std::move(right)});
}

ExprPtr Parser::disjunction() {
  Depth guard(*this);
  ExprPtr left = conjunction();
  while (isWord("or")) {
    Token op = next();
    skipNewlines();
    left = binary(std::move(left), op, conjunction());
  }
  return left;
}

ExprPtr Parser::conjunction() {
  ExprPtr left = negation();
  while (isWord("and")) {
    Token op = next();
    skipNewlines();
    left = binary(std::move(left), op, negation());
  }
  return left;
}

ExprPtr Parser::negation() {
  if (!isWord("not") || startsPath())
    return comparison();
  Depth guard(*this);
  Token op = next();
  ExprPtr operand = negation();
  return make(join(op.range(), operand->range), UnaryExpr{{"not", op.range()}, std::move(operand)});
}

ExprPtr Parser::comparison() {
  ExprPtr left = sum();
  auto isComparison = [&] {
    return peek().kind == Token::Symbol &&
           is_contained({"==", "!=", "<", "<=", ">", ">="}, peek().text);
  };
  if (!isComparison())
    return left;
  Token op = next();
  skipNewlines();
  left = binary(std::move(left), op, sum());
  if (isComparison())
    sources.fail(peek().range(), "comparisons do not follow each other: 'a < b and b < c'");
  return left;
}

ExprPtr Parser::sum() {
  ExprPtr left = product();
  while (peek().is("+") || peek().is("-")) {
    Token op = next();
    skipNewlines();
    left = binary(std::move(left), op, product());
  }
  return left;
}

ExprPtr Parser::product() {
  ExprPtr left = sign();
  while (peek().is("*") || peek().is("/") || peek().is("%") || peek().is("@")) {
    Token op = next();
    skipNewlines();
    left = binary(std::move(left), op, sign());
  }
  return left;
}

ExprPtr Parser::sign() {
  if (!peek().is("-"))
    return power();
  Depth guard(*this);
  Token op = next();
  ExprPtr operand = sign();
  return make(join(op.range(), operand->range), UnaryExpr{{"-", op.range()}, std::move(operand)});
}

ExprPtr Parser::power() {
  ExprPtr base = postfix();
  if (!peek().is("**"))
    return base;
  Token op = next();
  skipNewlines();
  return binary(std::move(base), op, sign());
}

ExprPtr Parser::postfix() {
  ExprPtr value = primary();
  while (peek().is("[")) {
    Token open = next();
    IndexExpr index{std::move(value), {}};
    bool before = std::exchange(allowsLabels, false);
    do
      index.items.push_back(indexItem());
    while (accept(","));
    allowsLabels = before;
    if (!peek().is("]"))
      unclosed(open, "]");
    SMRange range = join(index.value->range, next().range());
    value = make(range, std::move(index));
  }
  return value;
}

IndexItem Parser::indexItem() {
  Token first = peek();
  if (accept("..."))
    return {IndexItem::Rest, nullptr, nullptr, first.range()};
  IndexItem item{IndexItem::One, nullptr, nullptr, first.range()};
  if (!peek().is(":")) {
    item.first = expr();
    item.range = item.first->range;
  }
  if (peek().is(":")) {
    item.kind = IndexItem::Range;
    item.range = join(item.range, next().range());
    if (!peek().is(",") && !peek().is("]")) {
      item.last = expr();
      item.range = join(item.range, item.last->range);
    }
  }
  return item;
}

std::vector<ExprPtr> Parser::exprs(StringRef close, const Token &open) {
  std::vector<ExprPtr> result;
  bool before = std::exchange(allowsLabels, true);
  while (!accept(close)) {
    result.push_back(expr());
    if (!peek().is(close) && !accept(","))
      unclosed(open, close);
  }
  allowsLabels = before;
  return result;
}

ExprPtr Parser::number(const Token &token) {
  if (token.text.find_first_of(".eE") == StringRef::npos) {
    int64_t value = 0;
    if (token.text.getAsInteger(10, value))
      sources.fail(token.range(), "is larger than any size");
    return make(token.range(), IntegerExpr{value});
  }
  double value = 0;
  if (token.text.getAsDouble(value) || !std::isfinite(value))
    sources.fail(token.range(), "is not in the range of a number");
  return make(token.range(), RealExpr{value});
}

ExprPtr Parser::call(Name label) {
  CallExpr call;
  call.label = std::move(label);
  call.callee = name("the name of a block");
  SMRange start = call.label.text.empty() ? call.callee.range : call.label.range;
  Token open = expect("(", "behind '" + call.callee.text + "'");
  bool before = std::exchange(allowsLabels, true);
  while (!peek().is(")")) {
    Argument argument;
    if (peek().kind == Token::Word && peek(1).is("=")) {
      argument.name = name("the name of an argument");
      next();
    }
    argument.value = expr();
    call.arguments.push_back(std::move(argument));
    if (!peek().is(")") && !accept(","))
      unclosed(open, ")");
  }
  allowsLabels = before;
  SMRange range = join(start, next().range());
  return make(range, std::move(call));
}

ExprPtr Parser::primary() {
  Token first = peek();
  if (first.kind == Token::Number)
    return number(next());
  if (first.kind == Token::String)
    return make(first.range(), TextExpr{next().text.drop_front().drop_back().str()});
  if (accept("(")) {
    bool before = std::exchange(allowsLabels, true);
    ExprPtr inner = expr();
    allowsLabels = before;
    if (!peek().is(")"))
      sources.fail(peek().range(), "expected ')', got " + found(),
                   {{first.range(), "to close this '('"}});
    inner->range = join(first.range(), next().range());
    return inner;
  }
  if (accept("[")) {
    ListExpr list{exprs("]", first)};
    SMRange end = tokens[at - 1].range();
    return make(join(first.range(), end), std::move(list));
  }
  if (first.kind != Token::Word)
    expected("a value");
  if (!startsPath()) {
    if (acceptWord("true") || acceptWord("false"))
      return make(first.range(), TruthExpr{first.text == "true"});
    if (acceptWord("none"))
      return make(first.range(), NoneExpr{});
    sources.fail(first.range(), "'" + first.text + "' is a word of the language, no value");
  }
  if (peek(1).is("(") && !isKeyword(first.text))
    return call({});
  Name whole = path("a value");
  if (allowsLabels && accept(":"))
    return call(whole);
  if (peek().is("("))
    sources.fail(whole.range, "blocks and operations have names without '.'; their parameters are "
                              "named before ':': 'attn.c_attn: linear(x)'");
  return make(whole.range, PathExpr{whole.text});
}

} // namespace colrow::dsl
