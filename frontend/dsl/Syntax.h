//===- Syntax.h - a text of the model language as a tree ------------------===//
#pragma once

#include "frontend/dsl/Source.h"

#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace colrow::dsl {

//===----------------------------------------------------------------------===//
// Expressions
//===----------------------------------------------------------------------===//

struct Expr;
using ExprPtr = std::unique_ptr<Expr>;

/// A name where one is given or used: `x`, `h.attn.weight`.
struct Name {
  std::string text;
  llvm::SMRange range;
};

struct IntegerExpr {
  int64_t value;
};
struct RealExpr {
  double value;
};
struct TextExpr {
  std::string value;
};
struct TruthExpr {
  bool value;
};
struct NoneExpr {};
struct PathExpr {
  std::string path;
};
struct ListExpr {
  std::vector<ExprPtr> elements;
};
struct UnaryExpr {
  Name op; ///< -, ~ or not
  ExprPtr operand;
};
struct BinaryExpr {
  Name op;
  ExprPtr left, right;
};
struct Argument {
  Name name; ///< empty where it goes by its position
  ExprPtr value;
};
/// `label: callee(arguments)`
struct CallExpr {
  Name label; ///< the scope of its parameters; may be empty
  Name callee;
  std::vector<Argument> arguments;
};
/// One of `i`, `a:b`, `...`.
struct IndexItem {
  enum Kind { One, Range, Rest } kind;
  ExprPtr first, last; ///< of a range either may be missing
  llvm::SMRange range;
};
struct IndexExpr {
  ExprPtr value;
  std::vector<IndexItem> items;
};

struct Expr {
  llvm::SMRange range;
  std::variant<IntegerExpr, RealExpr, TextExpr, TruthExpr, NoneExpr, PathExpr, ListExpr, UnaryExpr,
               BinaryExpr, CallExpr, IndexExpr>
      node;
};

//===----------------------------------------------------------------------===//
// Statements
//===----------------------------------------------------------------------===//

struct Stmt;
using Body = std::vector<Stmt>;

/// `dim hidden = 64`; a dim without a value is bound on the command line.
struct DimStmt {
  Name name;
  ExprPtr value; ///< may be null
};
/// `let eps = 1e-5`
struct LetStmt {
  Name name;
  ExprPtr value;
};
/// `input ids: int64[batch, sequence]`
struct InputStmt {
  Name name, element;
  std::vector<ExprPtr> shape;
};
/// `param weight: [hidden] ~ normal(0.02)`
struct ParamStmt {
  Name path;
  std::vector<ExprPtr> shape;
  Name rule;
  ExprPtr deviation; ///< of normal, else null
};
/// `tie lm_head.weight = wte.weight`
struct TieStmt {
  Name alias, path;
};
/// `output logits = x`
struct OutputStmt {
  Name name;
  ExprPtr value;
};
/// `q, k, v = split(x, 3)`
struct AssignStmt {
  std::vector<Name> targets;
  ExprPtr value;
};
/// `repeat i in layers as h { ... }`
struct RepeatStmt {
  Name index; ///< may be empty
  ExprPtr count;
  Name scope; ///< may be empty
  Body body;
};
/// `if c { ... } else { ... }`
struct IfStmt {
  ExprPtr condition;
  Body body, otherwise;
};
/// `return y`
struct ReturnStmt {
  std::vector<ExprPtr> values;
};

struct Stmt {
  llvm::SMRange range; ///< its first word
  std::variant<DimStmt, LetStmt, InputStmt, ParamStmt, TieStmt, OutputStmt, AssignStmt, RepeatStmt,
               IfStmt, ReturnStmt>
      node;
};

/// `block mlp(x, factor = 4) { ... }`
struct Block {
  struct Argument {
    Name name;
    ExprPtr otherwise; ///< may be null
  };
  Name name;
  std::vector<Argument> arguments;
  Body body;
};

/// One text. One that extends another has only dims and lets, which stand for those there.
struct File {
  std::optional<Name> extends; ///< the path in it
  Body body;
  std::vector<Block> blocks;
};

} // namespace colrow::dsl
