//===- Elaborator.h - runs a text, which builds its model -----------------===//
//
// A text is run from top to bottom: every operation is added to the program when its turn comes,
// repeats and calls of blocks leave nothing behind but the names of what they build. Numbers are
// known at that time, so conditions, counts and sizes are.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "colrow/Checksum.h"
#include "frontend/dsl/Import.h"
#include "frontend/dsl/OpCall.h"

#include <set>

namespace colrow::dsl {

class Elaborator {
public:
  Elaborator(mlir::MLIRContext &context, const DslModel &model, const ImportOptions &options);
  DslProgram run();

private:
  /// What runs: the file, or a block that was called.
  struct Frame {
    const Block *block = nullptr;
    llvm::SMRange call;
    std::string scope; ///< of parameters: `h.0.attn`
    /// By name; those of inner braces come last.
    std::vector<std::map<std::string, Datum>> variables;
  };

  struct DslParameter {
    Parameter parameter;
    std::string rule;
    double deviation = 0;
    llvm::SMRange range;
    mlir::BlockArgument value;
    mlir::Value transposed; ///< what `linear` reads
    bool isRead = false;
  };

  // Elaborator.cpp: statements.
  void bindDims();
  void setLocation(llvm::StringRef what);
  std::optional<List> execute(const Body &body);
  std::optional<List> execute(const Stmt &stmt);
  void declare(const Name &name, llvm::StringRef kind, Datum value);
  void add(const DimStmt &dim);
  void add(const LetStmt &let);
  void add(const InputStmt &input);
  void add(const ParamStmt &param);
  void add(const TieStmt &tie);
  void add(const OutputStmt &output);
  void add(const AssignStmt &assign);
  void assign(const Name &target, Datum value);
  std::optional<List> repeat(const RepeatStmt &repeat);
  void forgetUnread();

  // Parameters.cpp: names, parameters, the end.
  std::string scoped(llvm::StringRef path) const;
  std::string uniqueName(llvm::StringRef what);
  DslParameter *findParameter(llvm::StringRef path);
  mlir::Value read(DslParameter &parameter);
  mlir::Value transposedOf(mlir::Value weight);
  std::string sourceOf(mlir::Value value);
  mlir::Value randomArgument();
  void keepTransposed();
  DslProgram finish();

  // Expressions.cpp.
  Datum evaluate(const Expr &expr, llvm::StringRef name = "");
  Datum lookUp(const PathExpr &path, llvm::SMRange range);
  Datum unary(const UnaryExpr &unary, const Expr &expr, llvm::StringRef name);
  Datum binary(const BinaryExpr &binary, const Expr &expr, llvm::StringRef name);
  Datum index(const IndexExpr &index, const Expr &expr, llvm::StringRef name);
  Datum call(const CallExpr &call, const Expr &expr, llvm::StringRef name);
  Datum callBlock(const Block &block, const CallExpr &call, llvm::SMRange range);
  Datum callOp(const Op &op, const CallExpr &call, llvm::SMRange range, llvm::StringRef name);
  std::vector<OpCall::Given> bindArguments(llvm::StringRef callee,
                                           const std::vector<Formal> &formals, const CallExpr &call,
                                           llvm::SMRange range);
  Datum build(OpCall &call, llvm::StringRef name, llvm::function_ref<Datum()> builder);
  Number integerOf(const Expr &expr, llvm::StringRef what);
  int64_t sizeOf(const Expr &expr);

  // The checksum of the operations: what is computed, whatever the batch and the names.
  void trace(llvm::StringRef word);
  void trace(const Datum &datum);

  [[noreturn]] void fail(llvm::SMRange range, const llvm::Twine &message,
                         std::vector<Note> notes = {}) const;

  mlir::MLIRContext &context;
  const DslModel &model;
  const ImportOptions &options;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  mlir::func::FuncOp main;
  mlir::Block *body;
  FoldingBuilder builder;
  OpContext operations;

  std::map<std::string, int64_t> bindings; ///< sizes of dims from the command line
  std::vector<Frame> frames;
  std::map<std::string, Datum> constants;                                ///< dims and lets
  std::map<std::string, std::pair<std::string, llvm::SMRange>> declared; ///< kind and place
  std::vector<std::unique_ptr<DslParameter>> parameters;
  std::map<std::string, DslParameter *> parametersByName;
  std::vector<mlir::DictionaryAttr> inputAttributes;
  std::optional<int64_t> batch, sequence;
  struct Output {
    std::string name;
    mlir::Value value;
  };
  std::vector<Output> outputs;
  mlir::Value random;
  std::map<std::string, int> nameCounts;
  Checksum checksum;
  llvm::DenseMap<mlir::Value, uint64_t> traced;
};

} // namespace colrow::dsl
