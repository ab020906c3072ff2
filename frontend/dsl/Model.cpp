//===- Model.cpp - files of the language and what they extend -------------===//

#include "colrow/Error.h"
#include "frontend/dsl/Import.h"
#include "frontend/dsl/Parser.h"

namespace fs = std::filesystem;

namespace colrow {

using namespace dsl;

bool isDslPath(const std::string &path) { return fs::path(path).extension() == ".colrow"; }

DslModel DslModel::load(const fs::path &path) {
  DslModel model;
  model.read(model.sources->open(path.string()), {});
  return model;
}

DslModel DslModel::parse(const std::string &name, llvm::StringRef text) {
  DslModel model;
  model.read(model.sources->add(name, text), {});
  return model;
}

static std::vector<std::string> constantsOf(const File &file) {
  std::vector<std::string> names;
  for (const Stmt &stmt : file.body) {
    if (auto *dim = std::get_if<DimStmt>(&stmt.node))
      names.push_back(dim->name.text);
    if (auto *let = std::get_if<LetStmt>(&stmt.node))
      names.push_back(let->name.text);
  }
  return names;
}

/// Whether the file declares the name, and as a dim.
static std::optional<bool> isDim(const File &file, const std::string &name) {
  for (const Stmt &stmt : file.body) {
    if (auto *dim = std::get_if<DimStmt>(&stmt.node); dim && dim->name.text == name)
      return true;
    if (auto *let = std::get_if<LetStmt>(&stmt.node); let && let->name.text == name)
      return false;
  }
  return std::nullopt;
}

void DslModel::read(llvm::StringRef text, llvm::SMRange from) {
  File file = dsl::parse(*sources, text);
  if (!file.extends) {
    base = std::move(file);
    for (const auto &[name, override] : overriding) {
      std::optional<bool> known = isDim(base, name);
      if (!known)
        sources->fail(override.range, "'" + sources->paths().back() + "' has no " +
                                          (override.isDim ? "dim" : "let") + " '" + name + "'" +
                                          suggestion(name, constantsOf(base)));
      if (*known != override.isDim)
        sources->fail(override.range, "'" + name + "' is a " + (*known ? "dim" : "let") + " in '" +
                                          sources->paths().back() + "'");
    }
    return;
  }
  auto kept = std::make_shared<File>(std::move(file));
  extensions.push_back(kept);
  if (!kept->blocks.empty())
    sources->fail(kept->blocks[0].name.range, "a file that extends another has dims and lets only");
  for (const Stmt &stmt : kept->body) {
    auto *dim = std::get_if<DimStmt>(&stmt.node);
    auto *let = std::get_if<LetStmt>(&stmt.node);
    if (!dim && !let)
      sources->fail(stmt.range, "a file that extends another has dims and lets only");
    const Name &name = dim ? dim->name : let->name;
    const ExprPtr &value = dim ? dim->value : let->value;
    if (!value)
      sources->fail(name.range,
                    "'" + name.text + "' needs a value here: 'dim " + name.text + " = ...'");
    for (const Stmt &other : kept->body) // once in a file
      if (&other < &stmt && other.node.index() == stmt.node.index() &&
          isDim(*kept, name.text).has_value()) {
        auto *otherDim = std::get_if<DimStmt>(&other.node);
        const Name &otherName = otherDim ? otherDim->name : std::get<LetStmt>(other.node).name;
        if (otherName.text == name.text)
          sources->fail(name.range, "'" + name.text + "' has a value already",
                        {{otherName.range, "here"}});
      }
    overriding.try_emplace(name.text, Override{value.get(), dim != nullptr, name.range});
  }
  fs::path path = fs::path(sources->paths().back()).parent_path() / kept->extends->text;
  for (const std::string &open : sources->paths()) {
    std::error_code ignored;
    if (open == path.string() || fs::equivalent(open, path, ignored))
      sources->fail(kept->extends->range, "'" + open + "' would extend itself");
  }
  read(sources->open(path.string(), kept->extends->range), kept->extends->range);
}

std::vector<GraphInput> DslModel::inputs() const {
  auto isOpen = [&](const Expr &size) {
    auto *path = std::get_if<PathExpr>(&size.node);
    for (const Stmt &stmt : base.body)
      if (auto *dim = std::get_if<DimStmt>(&stmt.node); dim && path && dim->name.text == path->path)
        return !dim->value && !overriding.count(path->path);
    return false;
  };
  std::vector<GraphInput> result;
  for (const Stmt &stmt : base.body)
    if (auto *input = std::get_if<InputStmt>(&stmt.node)) {
      GraphInput graphInput;
      graphInput.name = input->name.text;
      for (const ExprPtr &size : input->shape)
        graphInput.dims.push_back(
            {isOpen(*size) ? std::get<PathExpr>(size->node).path : std::string(), 0});
      result.push_back(std::move(graphInput));
    }
  return result;
}

} // namespace colrow
