//===- Lexer.cpp - the words of a text ------------------------------------===//

#include "frontend/dsl/Lexer.h"
#include "llvm/ADT/StringExtras.h"

#include <fmt/format.h>

using namespace llvm;

namespace colrow::dsl {

bool isKeyword(StringRef word) {
  static constexpr StringLiteral keywords[] = {
      "and", "as",   "block", "dim", "else",   "extends", "false",  "if",     "in",  "input",
      "let", "none", "not",   "or",  "output", "param",   "repeat", "return", "tie", "true"};
  return is_contained(keywords, word);
}

static bool isWordStart(char c) { return isAlpha(c) || c == '_'; }
static bool isWordPart(char c) { return isAlnum(c) || c == '_'; }

namespace {
class Lexer {
public:
  Lexer(const Sources &sources, StringRef text) : sources(sources), rest(text) {}

  std::vector<Token> run() {
    while (true) {
      skipSpace();
      if (rest.empty())
        break;
      if (rest[0] == '#')
        add(Token::Comment, rest.take_until([](char c) { return c == '\n' || c == '\r'; }).size());
      else if (isWordStart(rest[0]))
        add(Token::Word, rest.take_while(isWordPart).size());
      else if (isDigit(rest[0]) || (rest[0] == '.' && rest.size() > 1 && isDigit(rest[1])))
        add(Token::Number, numberLength());
      else if (rest[0] == '"')
        add(Token::String, stringLength());
      else
        addSymbol();
    }
    endLine();
    add(Token::End, 0);
    return std::move(tokens);
  }

private:
  void add(Token::Kind kind, size_t length) {
    tokens.push_back({kind, rest.take_front(length), newlines});
    rest = rest.drop_front(length);
    newlines = 0;
  }

  void skipSpace() {
    while (!rest.empty() && isSpace(rest[0])) {
      if (rest[0] == '\n') {
        endLine();
        ++newlines;
      }
      rest = rest.drop_front();
    }
  }

  /// A statement ends here unless a bracket is open or none has begun.
  void endLine() {
    const Token *last = nullptr;
    for (const Token &token : reverse(tokens))
      if (token.kind != Token::Comment) {
        last = &token;
        break;
      }
    if (!open.empty() || !last || last->kind == Token::Newline)
      return;
    tokens.push_back({Token::Newline, rest.take_front(0), 0});
  }

  size_t numberLength() {
    size_t at = 0;
    auto digits = [&] {
      while (at < rest.size() && isDigit(rest[at]))
        ++at;
    };
    digits();
    if (at < rest.size() && rest[at] == '.') {
      ++at;
      digits();
    }
    if (at < rest.size() && (rest[at] == 'e' || rest[at] == 'E')) {
      size_t before = at++;
      if (at < rest.size() && (rest[at] == '+' || rest[at] == '-'))
        ++at;
      size_t exponent = at;
      digits();
      if (at == exponent)
        at = before;
    }
    if (at < rest.size() && isWordPart(rest[at]))
      sources.fail(rangeOf(rest.take_front(at + rest.drop_front(at).take_while(isWordPart).size())),
                   "is neither a number nor a name; names begin with a letter or '_'");
    return at;
  }

  size_t stringLength() {
    size_t end = rest.drop_front().find_first_of("\"\n\r");
    if (end == StringRef::npos || rest[end + 1] != '"')
      sources.fail(rangeOf(rest.take_front(std::min(end, rest.size() - 1) + 1)),
                   "a text ends on its line, with '\"'");
    return end + 2;
  }

  void addSymbol() {
    static constexpr StringLiteral symbols[] = {"...", "**", "==", "!=", "<=", ">=", "=", "<", ">",
                                                "+",   "-",  "*",  "/",  "%",  "@",  "(", ")", "[",
                                                "]",   "{",  "}",  ",",  ":",  "~",  "."};
    for (StringRef symbol : symbols)
      if (rest.starts_with(symbol)) {
        if (symbol == "(" || symbol == "[")
          open.push_back(symbol[0]);
        else if ((symbol == ")" || symbol == "]") && !open.empty())
          open.pop_back();
        else if (symbol == "{" || symbol == "}")
          open.clear(); // a bracket was forgotten: the parser says so
        return add(Token::Symbol, symbol.size());
      }
    // The whole character of a text in UTF-8.
    size_t length = 1;
    while (length < rest.size() && (rest[length] & 0xC0) == 0x80)
      ++length;
    unsigned char first = static_cast<unsigned char>(rest[0]);
    sources.fail(rangeOf(rest.take_front(length)),
                 first < 0x20 || first == 0x7f
                     ? fmt::format("no use is known for the character 0x{:02x}", first)
                     : "no use is known for '" + rest.take_front(length).str() + "'");
  }

  const Sources &sources;
  StringRef rest;
  std::vector<Token> tokens;
  std::string open; ///< brackets
  unsigned newlines = 0;
};
} // namespace

std::vector<Token> lex(const Sources &sources, StringRef text) {
  return Lexer(sources, text).run();
}

} // namespace colrow::dsl
