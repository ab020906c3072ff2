//===- Import.h - models in Colrow's language as programs of the dialect --===//
//
// What comes out is what an ONNX model gives (frontend/onnx/Import.h): one function @main on static
// shapes, with parameters and inputs as arguments. A parameter also says what it starts with,
//
//   colrow.init = {rule = "normal", deviation = 0.02 : f64}
//
// and has no `colrow.onnx`. Matrices that only `linear` reads are kept transposed
// (`colrow.transposed`), as exporters do. The location of an operation is its name in the model:
// `h.0.attn.scores`.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "frontend/dsl/Syntax.h"
#include "frontend/onnx/Import.h"

#include <map>

namespace colrow {

/// A file of the language and those that it extends, read and parsed.
class DslModel {
public:
  /// Throws SourceError, or Error where the file cannot be read.
  static DslModel load(const std::filesystem::path &path);
  /// The same of a text under the name of a file; what it extends is searched beside that.
  static DslModel parse(const std::string &name, llvm::StringRef text);

  const std::string &path() const { return sources->paths().front(); }
  /// All files, that of the model first.
  const std::vector<std::string> &files() const { return sources->paths(); }

  /// Inputs as they are written: dims without a size are symbols. Sizes are 0.
  std::vector<GraphInput> inputs() const;

  // For the elaborator.
  const dsl::Sources &source() const { return *sources; }
  /// The file that extends no other.
  const dsl::File &file() const { return base; }
  /// What stands for the value of a dim or let.
  struct Override {
    const dsl::Expr *value = nullptr;
    bool isDim = false;
    llvm::SMRange range;
  };
  const std::map<std::string, Override> &overrides() const { return overriding; }

private:
  DslModel() : sources(std::make_shared<dsl::Sources>()) {}
  void read(llvm::StringRef text, llvm::SMRange from);

  std::shared_ptr<dsl::Sources> sources; // what is parsed points into it
  std::vector<std::shared_ptr<dsl::File>> extensions;
  dsl::File base;
  std::map<std::string, Override> overriding;
};

struct DslProgram {
  mlir::OwningOpRef<mlir::ModuleOp> module;
  ParameterList parameters;
};

/// Throws SourceError, or Error where an option does not fit the model.
DslProgram importDsl(mlir::MLIRContext &context, const DslModel &model,
                     const ImportOptions &options = {});

/// Whether a path names a file of the language: *.colrow.
bool isDslPath(const std::string &path);

namespace dsl {
/// The table of operations in frontend/dsl/README.md.
std::string opTable();

/// A text in canonical form, comments kept. Throws SourceError.
std::string format(const std::string &name, llvm::StringRef text);
} // namespace dsl

} // namespace colrow
