//===- ParserImpl.h - the parser: one function a rule of the grammar ------===//
#pragma once

#include "frontend/dsl/Parser.h"

namespace colrow::dsl {

class Parser {
public:
  Parser(const Sources &sources, llvm::StringRef text) : sources(sources) {
    for (const Token &token : lex(sources, text))
      if (token.kind != Token::Comment)
        tokens.push_back(token);
  }

  File run();

private:
  // Tokens.
  const Token &peek(size_t ahead = 0) const {
    return tokens[std::min(at + ahead, tokens.size() - 1)];
  }
  Token next() {
    Token token = peek();
    at += token.kind != Token::End;
    return token;
  }
  bool isWord(llvm::StringRef word, size_t ahead = 0) const {
    return peek(ahead).kind == Token::Word && peek(ahead).text == word;
  }
  bool accept(llvm::StringRef symbol);
  bool acceptWord(llvm::StringRef word);
  Token expect(llvm::StringRef symbol, const llvm::Twine &where);
  void skipNewlines() {
    while (peek().kind == Token::Newline)
      ++at;
  }
  std::string found() const;
  [[noreturn]] void expected(const llvm::Twine &what) {
    sources.fail(peek().range(), "expected " + what + ", got " + found());
  }

  // Names.
  Name name(const llvm::Twine &what);
  Name path(const llvm::Twine &what);
  bool startsPath() const;

  // Statements.
  Block block();
  Body body(const llvm::Twine &of);
  void statement(Body &body, bool isTop);
  void dims(Body &body);
  void lets(Body &body);
  InputStmt input();
  ParamStmt param();
  TieStmt tie();
  OutputStmt output();
  RepeatStmt repeat();
  IfStmt branch();
  AssignStmt assignment();
  void endStatement();

  // Expressions.
  ExprPtr expr() { return disjunction(); }
  ExprPtr disjunction();
  ExprPtr conjunction();
  ExprPtr negation();
  ExprPtr comparison();
  ExprPtr sum();
  ExprPtr product();
  ExprPtr sign();
  ExprPtr power();
  ExprPtr postfix();
  ExprPtr primary();
  ExprPtr number(const Token &token);
  ExprPtr call(Name label);
  IndexItem indexItem();
  std::vector<ExprPtr> exprs(llvm::StringRef close, const Token &open);
  ExprPtr binary(ExprPtr left, const Token &op, ExprPtr right);
  template <typename Node> ExprPtr make(llvm::SMRange range, Node node) {
    return std::make_unique<Expr>(Expr{range, std::move(node)});
  }
  [[noreturn]] void unclosed(const Token &open, llvm::StringRef close);

  /// What counts how deep the parser is in an expression or body.
  struct Depth {
    Depth(Parser &parser) : parser(parser) {
      constexpr int most = 200;
      if (++parser.depth > most)
        parser.sources.fail(parser.peek().range(), "is nested too deeply");
    }
    ~Depth() { --parser.depth; }
    Parser &parser;
  };

  const Sources &sources;
  std::vector<Token> tokens;
  size_t at = 0;
  int depth = 0;
  bool allowsLabels = true; ///< not between [ and ] of an index, where ':' makes a range
};

} // namespace colrow::dsl
