//===- Parser.h - texts of the model language to trees --------------------===//
//
//   file       = [ "extends" STRING ] { block | statement }
//   block      = "block" WORD "(" [ WORD [ "=" expr ] { "," ... } ] ")" body
//   body       = "{" { statement } "}"
//   statement  = "dim" WORD [ "=" expr ] { "," ... }
//              | "let" WORD "=" expr { "," ... }
//              | "input" WORD ":" WORD "[" [ exprs ] "]"
//              | "param" path ":" "[" exprs "]" "~" WORD [ "(" expr ")" ]
//              | "tie" path "=" path
//              | "output" WORD "=" expr
//              | "repeat" [ WORD "in" ] expr [ "as" path ] body
//              | "if" expr body [ "else" ( body | if ) ]
//              | "return" exprs
//              | WORD { "," WORD } "=" expr
//   path       = WORD { "." WORD }
//
// Expressions, what binds weakest first: or, and, not, comparisons, + -, * / % @, - (sign), **;
// then
//
//   primary    = NUMBER | STRING | "true" | "false" | "none" | path | "(" expr ")" | "[" exprs "]"
//              | [ path ":" ] WORD "(" [ [ WORD "=" ] expr { "," ... } ] ")"
//   postfix    = primary { "[" item { "," item } "]" },  item = expr | [ expr ] ":" [ expr ] |
//   "..."
//
// Statements end with their line, which goes on inside ( and [ and behind an operator or comma.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "frontend/dsl/Lexer.h"
#include "frontend/dsl/Syntax.h"

namespace colrow::dsl {

/// Throws SourceError.
File parse(const Sources &sources, llvm::StringRef text);

} // namespace colrow::dsl
