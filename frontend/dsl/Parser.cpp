//===- Parser.cpp - texts of the model language to trees ------------------===//

#include "frontend/dsl/ParserImpl.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"

using namespace llvm;

namespace colrow::dsl {

//===----------------------------------------------------------------------===//
// Tokens
//===----------------------------------------------------------------------===//

bool Parser::accept(StringRef symbol) {
  if (!peek().is(symbol))
    return false;
  ++at;
  return true;
}

bool Parser::acceptWord(StringRef word) {
  if (!isWord(word))
    return false;
  ++at;
  return true;
}

std::string Parser::found() const {
  switch (peek().kind) {
  case Token::End:
    return "the end of the file";
  case Token::Newline:
    return "the end of the line";
  default:
    return "'" + peek().text.str() + "'";
  }
}

Token Parser::expect(StringRef symbol, const Twine &where) {
  if (!peek().is(symbol))
    expected("'" + symbol + "' " + where);
  return next();
}

void Parser::unclosed(const Token &open, StringRef close) {
  sources.fail(peek().range(), "expected ',' or '" + close + "', got " + found(),
               {{open.range(), "to close this '" + open.text.str() + "'"}});
}

Name Parser::name(const Twine &what) {
  if (peek().kind != Token::Word)
    expected(what);
  if (isKeyword(peek().text))
    sources.fail(peek().range(),
                 "'" + peek().text + "' is a word of the language and cannot be " + what);
  Token token = next();
  return {token.text.str(), token.range()};
}

/// Modules may be called as words of the language: `output.dense`.
bool Parser::startsPath() const {
  if (peek().kind != Token::Word)
    return false;
  return !isKeyword(peek().text) || peek(1).is(".") || (allowsLabels && peek(1).is(":"));
}

Name Parser::path(const Twine &what) {
  if (peek().kind != Token::Word)
    expected(what);
  Token first = next();
  Name name{first.text.str(), first.range()};
  // What is numbered has its number between dots: `h.0.attn`, which is read as `h`, `.0`, `.`,
  // `attn`.
  auto isIndex = [&] {
    return peek().kind == Token::Number && peek().text[0] == '.' &&
           llvm::all_of(peek().text.drop_front(), llvm::isDigit);
  };
  while (peek().is(".") || isIndex()) {
    if (accept(".")) {
      if (peek().kind != Token::Word)
        expected("a name behind '.'");
      name.text += ".";
    }
    Token part = next();
    name.text += part.text.str();
    name.range = join(name.range, part.range());
  }
  return name;
}

//===----------------------------------------------------------------------===//
// Statements
//===----------------------------------------------------------------------===//

File Parser::run() {
  File file;
  skipNewlines();
  if (acceptWord("extends")) {
    if (peek().kind != Token::String)
      expected("the path of a file in quotes behind 'extends'");
    Token token = next();
    file.extends = Name{token.text.drop_front().drop_back().str(), token.range()};
    endStatement();
  }
  while (true) {
    skipNewlines();
    if (peek().kind == Token::End)
      return file;
    if (isWord("block"))
      file.blocks.push_back(block());
    else
      statement(file.body, /*isTop=*/true);
  }
}

Block Parser::block() {
  next();
  Block block;
  block.name = name("the name of a block");
  Token open = expect("(", "behind the name of a block");
  while (!accept(")")) {
    Block::Argument argument{name("the name of an argument"), nullptr};
    if (accept("="))
      argument.otherwise = expr();
    block.arguments.push_back(std::move(argument));
    if (!peek().is(")") && !accept(","))
      unclosed(open, ")");
  }
  block.body = body("block '" + block.name.text + "'");
  endStatement();
  return block;
}

Body Parser::body(const Twine &of) {
  Depth guard(*this);
  Token open = expect("{", "before what is in " + of);
  Body result;
  while (true) {
    skipNewlines();
    if (accept("}"))
      return result;
    if (peek().kind == Token::End)
      sources.fail(peek().range(), "expected '}', got the end of the file",
                   {{open.range(), "to close this '{'"}});
    statement(result, /*isTop=*/false);
  }
}

/// Behind a '}' too, but for one that follows.
void Parser::endStatement() {
  if (peek().kind == Token::End || peek().is("}"))
    return;
  if (peek().kind != Token::Newline)
    expected("the end of the line");
  skipNewlines();
}

void Parser::statement(Body &body, bool isTop) {
  Token first = peek();
  auto add = [&](auto node) { body.push_back({first.range(), std::move(node)}); };
  bool isTopOnly =
      first.kind == Token::Word && StringSwitch<bool>(first.text)
                                       .Cases({"block", "dim", "extends", "input", "let"}, true)
                                       .Default(false);
  if (isTopOnly && !isTop)
    sources.fail(first.range(), "'" + first.text +
                                    "' belongs to the top of a file, outside of all "
                                    "braces");
  if (isTop && isWord("return"))
    sources.fail(first.range(), "'return' belongs into a block");
  if (isWord("extends"))
    sources.fail(first.range(), "'extends' is the first statement of a file");
  if (acceptWord("dim"))
    dims(body);
  else if (acceptWord("let"))
    lets(body);
  else if (acceptWord("input"))
    add(input());
  else if (acceptWord("param"))
    add(param());
  else if (acceptWord("tie"))
    add(tie());
  else if (acceptWord("output"))
    add(output());
  else if (acceptWord("repeat"))
    add(repeat());
  else if (acceptWord("if"))
    add(branch());
  else if (acceptWord("return")) {
    ReturnStmt result;
    do
      result.values.push_back(expr());
    while (accept(","));
    add(std::move(result));
  } else {
    add(assignment());
  }
  endStatement();
}

void Parser::dims(Body &body) {
  do {
    skipNewlines();
    DimStmt dim{name("the name of a dim"), nullptr};
    if (accept("="))
      dim.value = expr();
    SMRange range = dim.name.range;
    body.push_back({range, std::move(dim)});
  } while (accept(","));
}

void Parser::lets(Body &body) {
  do {
    skipNewlines();
    LetStmt let{name("the name of a constant"), nullptr};
    expect("=", "behind '" + let.name.text + "'");
    let.value = expr();
    SMRange range = let.name.range;
    body.push_back({range, std::move(let)});
  } while (accept(","));
}

InputStmt Parser::input() {
  InputStmt input;
  input.name = name("the name of an input");
  expect(":", "before the type of an input");
  input.element = name("the element type of an input");
  Token open = expect("[", "before the shape of an input");
  input.shape = exprs("]", open);
  return input;
}

ParamStmt Parser::param() {
  ParamStmt param;
  param.path = path("the name of a parameter");
  expect(":", "before the shape of a parameter");
  Token open = expect("[", "before the shape of a parameter");
  param.shape = exprs("]", open);
  expect("~", "before what a parameter starts with: normal(0.02), zeros or ones");
  param.rule = name("what a parameter starts with: normal(0.02), zeros or ones");
  if (accept("(")) {
    param.deviation = expr();
    expect(")", "behind the standard deviation");
  }
  return param;
}

TieStmt Parser::tie() {
  TieStmt tie;
  tie.alias = path("another name of a parameter");
  expect("=", "before the parameter that has another name");
  tie.path = path("the name of a parameter");
  return tie;
}

OutputStmt Parser::output() {
  OutputStmt output;
  output.name = name("the name of an output");
  expect("=", "before the value of an output");
  output.value = expr();
  return output;
}

RepeatStmt Parser::repeat() {
  RepeatStmt repeat;
  if (peek().kind == Token::Word && isWord("in", 1)) {
    repeat.index = name("the name of a number");
    next();
  }
  repeat.count = expr();
  if (acceptWord("as"))
    repeat.scope = path("the name of what is repeated");
  repeat.body = body("a repeat");
  return repeat;
}

IfStmt Parser::branch() {
  Depth guard(*this);
  IfStmt result;
  result.condition = expr();
  result.body = body("an if");
  size_t before = at;
  skipNewlines();
  if (!isWord("else")) {
    at = before;
    return result;
  }
  next();
  Token first = peek();
  if (acceptWord("if"))
    result.otherwise.push_back({first.range(), branch()});
  else
    result.otherwise = body("an else");
  return result;
}

AssignStmt Parser::assignment() {
  AssignStmt result;
  if (peek().kind != Token::Word)
    expected("a statement");
  bool begins = peek(1).is("=") || peek(1).is(",");
  if (!begins && peek(1).kind == Token::Word)
    sources.fail(peek().range(),
                 "'" + peek().text + "' begins no statement" +
                     suggestion(peek().text, {"block", "dim", "extends", "if", "input", "let",
                                              "output", "param", "repeat", "return", "tie"}));
  do
    result.targets.push_back(name("the name of a value"));
  while (accept(","));
  if (peek().is("(") || peek().is(".") || peek().is(":"))
    sources.fail(result.targets.back().range,
                 "what is computed here has no reader; give it a name: 'x = ...'");
  expect("=", "behind '" + result.targets.back().text + "'");
  skipNewlines();
  result.value = expr();
  return result;
}

File parse(const Sources &sources, StringRef text) { return Parser(sources, text).run(); }

} // namespace colrow::dsl
