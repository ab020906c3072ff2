//===- Format.cpp - texts in canonical form -------------------------------===//
//
// One statement a line, two spaces a brace, single blank lines where there were any. A statement
// that is longer than a line has the elements of its longest bracket on lines of their own.
// Comments stay where they are: on their own lines, or behind what they were behind.
//
//===----------------------------------------------------------------------===//

#include "frontend/dsl/Import.h"
#include "frontend/dsl/Lexer.h"
#include "frontend/dsl/Parser.h"

using namespace llvm;

namespace colrow::dsl {
namespace {

using Tokens = ArrayRef<Token>;

constexpr size_t lineLength = 100;

bool opens(const Token &token) { return token.is("(") || token.is("["); }
bool closes(const Token &token) { return token.is(")") || token.is("]"); }

/// Whether something may be called or indexed behind this token, and '-' is a difference.
bool endsValue(const Token &token) {
  switch (token.kind) {
  case Token::Word:
    return !isKeyword(token.text) || token.text == "true" || token.text == "false" ||
           token.text == "none";
  case Token::Number:
  case Token::String:
    return true;
  default:
    return closes(token);
  }
}

/// Tokens of one statement on one line; comments left out.
class Line {
public:
  void add(const Token &token) {
    if (token.kind == Token::Comment)
      return;
    if (!text.empty() && needsSpace(token))
      text += ' ';
    text += token.text;
    if (opens(token))
      brackets.push_back(token.text == "[" && last.kind != Token::End && endsValue(last));
    else if (closes(token) && !brackets.empty())
      brackets.pop_back();
    isSign = token.is("-") && (last.kind == Token::End || !endsValue(last));
    last = token;
  }
  std::string text;

private:
  bool isIndex() const { return !brackets.empty() && brackets.back(); }
  bool needsSpace(const Token &next) const {
    bool isPart = next.kind == Token::Number && next.text[0] == '.' &&
                  last.text.end() == next.text.begin(); // of a path: `h.0`
    if (opens(last) || closes(next) || next.is(",") || next.is(".") || last.is(".") || isPart ||
        isSign)
      return false;
    if (next.is(":") || (last.is(":") && isIndex()))
      return false;
    return !opens(next) || !endsValue(last);
  }

  Token last;
  bool isSign = false;
  std::vector<bool> brackets; ///< whether they are of an index
};

std::string flat(Tokens tokens) {
  Line line;
  for (const Token &token : tokens)
    line.add(token);
  return line.text;
}

bool hasComment(Tokens tokens) {
  return any_of(tokens, [](const Token &token) { return token.kind == Token::Comment; });
}

/// `dim` or `let`, which may declare several names.
bool isDeclaration(Tokens tokens) {
  return tokens[0].kind == Token::Word && (tokens[0].text == "dim" || tokens[0].text == "let");
}

bool hasOuterComma(Tokens tokens) {
  int depth = 0;
  for (const Token &token : tokens) {
    depth += opens(token) - closes(token);
    if (depth == 0 && token.is(","))
      return true;
  }
  return false;
}

class Formatter {
public:
  std::string run(std::vector<Token> all);

private:
  void finish();
  void emit(Tokens tokens, size_t indent, StringRef suffix);
  void emitList(Tokens tokens, size_t indent);
  void line(size_t indent, const std::string &text) {
    lines.push_back(std::string(indent, ' ') + text);
  }
  void comment(const Token &token) { lines.back() += "  " + token.text.rtrim().str(); }
  void blankLine(const Token &first) {
    if (first.newlines > 1 && !lines.empty() && !lines.back().empty() && !opened && !first.is("}"))
      lines.push_back("");
    opened = false;
  }

  std::vector<std::string> lines;
  std::vector<Token> statement;
  std::vector<Token> trailing; ///< comments behind it
  size_t indent = 0;
  bool opened = false; ///< the last line ends with '{'
};

void Formatter::finish() {
  if (statement.empty())
    return;
  blankLine(statement.front());
  emit(statement, indent, "");
  for (const Token &each : trailing)
    comment(each);
  statement.clear();
  trailing.clear();
}

/// A statement or a part of one on lines of its own.
void Formatter::emit(Tokens tokens, size_t indent, StringRef suffix) {
  std::string text = flat(tokens);
  bool fits = !hasComment(tokens) && indent + text.size() + suffix.size() <= lineLength;
  if (!fits && isDeclaration(tokens) && hasOuterComma(tokens))
    return emitList(tokens, indent);
  // The bracket to open: one with comments in it, or the longest.
  size_t first = 0, last = 0, most = 0;
  for (size_t i = 0; !fits && i < tokens.size(); ++i) {
    if (!opens(tokens[i]))
      continue;
    size_t begin = i;
    for (int depth = 1; depth > 0 && ++i < tokens.size();)
      depth += opens(tokens[i]) - closes(tokens[i]);
    Tokens inside = tokens.slice(begin, i - begin);
    size_t size = flat(inside).size() + (hasComment(inside) ? 10000 : 0);
    if (inside.size() > 1 && size > most) {
      most = size;
      first = begin;
      last = i;
    }
  }
  if (fits || most == 0) {
    line(indent, text + suffix.str());
    return;
  }
  line(indent, flat(tokens.take_front(first + 1)));
  emitList(tokens.slice(first + 1, last - first - 1), indent + 2);
  emit(tokens.drop_front(last), indent, suffix);
}

/// What is between commas, each on its line; a `dim` stands before the first, others under it.
void Formatter::emitList(Tokens tokens, size_t indent) {
  size_t begin = 0, more = indent;
  bool isFirst = true;
  if (isDeclaration(tokens))
    more = indent + tokens[0].text.size() + 1;
  while (begin < tokens.size()) {
    if (tokens[begin].kind == Token::Comment) {
      if (tokens[begin].newlines > 0 || isFirst)
        line(more, tokens[begin].text.rtrim().str());
      else
        comment(tokens[begin]);
      ++begin;
      continue;
    }
    size_t end = begin;
    for (int depth = 0; end < tokens.size() && (depth > 0 || !tokens[end].is(",")); ++end) {
      if (depth == 0 && tokens[end].kind == Token::Comment)
        break;
      depth += opens(tokens[end]) - closes(tokens[end]);
    }
    // A comment between an element and its comma goes behind the comma.
    size_t next = end;
    std::vector<Token> comments;
    while (next < tokens.size() && tokens[next].kind == Token::Comment)
      comments.push_back(tokens[next++]);
    bool hasComma = next < tokens.size() && tokens[next].is(",");
    emit(tokens.slice(begin, end - begin), isFirst ? indent : more, hasComma ? "," : "");
    for (const Token &each : comments)
      comment(each);
    isFirst = false;
    begin = next + hasComma;
  }
}

std::string Formatter::run(std::vector<Token> all) {
  int depth = 0;
  for (size_t i = 0; i < all.size(); ++i) {
    const Token &token = all[i];
    auto next = [&](auto skips) -> const Token & {
      size_t at = i + 1;
      while (at + 1 < all.size() && skips(all[at]))
        ++at;
      return all[at];
    };
    auto isComment = [](const Token &each) { return each.kind == Token::Comment; };
    auto isBlank = [](const Token &each) {
      return each.kind == Token::Comment || each.kind == Token::Newline;
    };
    switch (token.kind) {
    case Token::End:
      finish();
      break;
    case Token::Newline: {
      Token last;
      for (const Token &each : statement)
        if (!isComment(each))
          last = each;
      bool goesOn = last.kind == Token::Symbol && !closes(last) && !last.is("}");
      bool isWordOperator = last.kind == Token::Word && (last.text == "and" || last.text == "or");
      bool isElse = statement.size() == 1 && statement[0].is("}") && next(isBlank).text == "else" &&
                    !isComment(next([](const Token &each) { return each.kind == Token::Newline; }));
      if (!goesOn && !isWordOperator && !isElse)
        finish();
      break;
    }
    case Token::Comment:
      if (statement.empty() && token.newlines == 0 && !lines.empty()) {
        comment(token);
      } else if (statement.empty()) {
        blankLine(token);
        line(indent, token.text.rtrim().str());
      } else if (depth > 0 || statement.back().is(",")) {
        statement.push_back(token);
      } else {
        trailing.push_back(token);
      }
      break;
    default:
      if (token.is(",") && closes(next(isComment)))
        break; // the last comma of a list
      if (token.is("}")) {
        finish();
        indent -= 2;
        statement.push_back(token);
        if (next(isBlank).text != "else")
          finish();
        break;
      }
      depth += opens(token) - closes(token);
      statement.push_back(token);
      if (token.is("{")) {
        finish();
        indent += 2;
        opened = true;
      }
    }
  }
  std::string text;
  for (const std::string &each : lines)
    text += each + "\n";
  return text;
}

} // namespace

std::string format(const std::string &name, StringRef text) {
  Sources sources;
  StringRef kept = sources.add(name, text);
  parse(sources, kept); // only what is right has a form
  return Formatter().run(lex(sources, kept));
}

} // namespace colrow::dsl
