//===- Lexer.h - the words of a text --------------------------------------===//
#pragma once

#include "frontend/dsl/Source.h"

namespace colrow::dsl {

struct Token {
  enum Kind {
    Word,    ///< of letters, digits and _; keywords too
    Number,  ///< 24, 0.02, 1e-5
    String,  ///< with its quotes
    Symbol,  ///< an operator or bracket
    Comment, ///< from # to the end of the line
    Newline, ///< the end of a line that ends a statement
    End
  } kind = End;
  llvm::StringRef text; ///< in the source
  /// How many line ends stood before it.
  unsigned newlines = 0;

  llvm::SMRange range() const { return rangeOf(text); }
  bool is(llvm::StringRef symbol) const { return kind == Symbol && text == symbol; }
};

/// The tokens of a text, comments among them; the last one is End. The end of a line counts unless
/// it is inside ( or [. Throws SourceError.
std::vector<Token> lex(const Sources &sources, llvm::StringRef text);

/// Whether the language keeps a word for itself.
bool isKeyword(llvm::StringRef word);

} // namespace colrow::dsl
