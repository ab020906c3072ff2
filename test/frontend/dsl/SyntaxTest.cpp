//===- SyntaxTest.cpp - damaged texts, and the formatter ------------------===//

#include "frontend/dsl/Import.h"
#include "frontend/dsl/Lexer.h"
#include "llvm/Support/MemoryBuffer.h"

#include <filesystem>
#include <gtest/gtest.h>

using namespace mlir;

namespace colrow::dsl {
namespace {

std::vector<std::string> modelFiles() {
  std::vector<std::string> paths;
  for (const auto &entry : std::filesystem::directory_iterator(COLROW_DSL_MODELS))
    paths.push_back(entry.path().string());
  llvm::sort(paths);
  return paths;
}

std::string read(const std::string &path) {
  return (*llvm::MemoryBuffer::getFile(path))->getBuffer().str();
}

/// Parses and elaborates, in the folder of the models. Whether it was refused: with a message of
/// the form that errors have.
bool isRefused(const std::string &text) {
  MLIRContext context(MLIRContext::Threading::DISABLED);
  ImportOptions options;
  options.batch = 2;
  options.sequence = 8;
  // Small, so that whole texts are elaborated quickly.
  options.bindings = {{"layers", 1}, {"hidden", 8}, {"heads", 2}, {"vocabulary", 16}};
  if (llvm::StringRef(text).contains("kv_heads"))
    options.bindings["kv_heads"] = 2;
  try {
    DslModel model = DslModel::parse(std::string(COLROW_DSL_MODELS) + "/damaged.colrow", text);
    importDsl(context, model, options);
    return false;
  } catch (const SourceError &error) {
    EXPECT_NE(std::string(error.what()).find(": error: "), std::string::npos) << error.what();
    EXPECT_NE(std::string(error.what()).find("^"), std::string::npos) << error.what();
    return true;
  } catch (const Error &error) {
    EXPECT_NE(std::string(error.what()), "");
    return true;
  }
}

TEST(Damaged, EveryPrefix) {
  for (const std::string &name :
       {"gpt2.colrow", "bert.colrow", "llama.colrow", "bert-336m.colrow"}) {
    std::string text = read(std::string(COLROW_DSL_MODELS) + "/" + name);
    int64_t refused = 0;
    for (size_t length = 0; length < text.size(); ++length)
      refused += isRefused(text.substr(0, length));
    EXPECT_GT(refused, name == std::string("bert-336m.colrow") ? 10 : 500) << name;
    EXPECT_FALSE(isRefused(text)) << name;
  }
}

TEST(Damaged, EveryTokenLeftOutDoubledOrReplaced) {
  for (const std::string &name : {"gpt2.colrow", "bert.colrow", "llama.colrow"}) {
    std::string text = read(std::string(COLROW_DSL_MODELS) + "/" + name);
    Sources sources;
    llvm::StringRef kept = sources.add(name, text);
    int64_t refused = 0;
    for (const Token &token : lex(sources, kept)) {
      size_t at = token.text.begin() - kept.begin(), size = token.text.size();
      for (const std::string &other : {std::string(), token.text.str() + " " + token.text.str(),
                                       std::string("("), std::string("0")})
        refused += isRefused(text.substr(0, at) + other + text.substr(at + size));
    }
    EXPECT_GT(refused, 500) << name;
  }
}

TEST(Damaged, Depth) {
  EXPECT_TRUE(isRefused("let a = " + std::string(100000, '(')));
  EXPECT_TRUE(isRefused("let a = " + std::string(100000, '-') + "1"));
  EXPECT_TRUE(isRefused("let a = " + std::string(100000, '[')));
  std::string nested;
  for (int i = 0; i < 100000; ++i)
    nested += "if true {\n";
  EXPECT_TRUE(isRefused(nested));
}

/// The words of a text, without ends of lines and with the text that comments have.
std::vector<std::string> words(llvm::StringRef text) {
  Sources sources;
  llvm::StringRef kept = sources.add("text", text);
  std::vector<std::string> result;
  for (const Token &token : lex(sources, kept))
    if (token.kind != Token::Newline)
      result.push_back(token.text.rtrim().str());
  return result;
}

TEST(Format, ModelsAreInCanonicalForm) {
  for (const std::string &path : modelFiles()) {
    std::string text = read(path);
    EXPECT_EQ(format(path, text), text);
  }
}

TEST(Format, AnySpacing) {
  for (const std::string &path : modelFiles()) {
    std::string text = read(path), spaced;
    for (const std::string &line :
         llvm::map_range(llvm::split(text, "\n"), [](llvm::StringRef line) { return line.str(); }))
      spaced += "\t  " + line + "   \n";
    spaced.erase(spaced.rfind("\t"));
    EXPECT_EQ(format(path, spaced), text);
  }
}

TEST(Format, LongLinesAndComments) {
  const char text[] = R"(#first
dim  batch,sequence , # open
     hidden=64 # width

block f( x,y=-1 ){ return x[ :, 0:2 ]*-y } # last
let   a = [1, # one
   2,
   # three
   3,]


input ids:int64[batch,sequence]
if hidden>2 and true{ x = where(some_long_condition_name, some_other_long_operand_name_1234567890, [some_name, other_name_2]) }
else { z = h.0.attn.weight@f.g: f( - 1 ) }
)";
  const char formatted[] = R"(#first
dim batch,
    sequence,  # open
    hidden = 64  # width

block f(x, y = -1) {
  return x[:, 0:2] * -y
}  # last
let a = [
  1,  # one
  2,
  # three
  3
]

input ids: int64[batch, sequence]
if hidden > 2 and true {
  x = where(
    some_long_condition_name,
    some_other_long_operand_name_1234567890,
    [some_name, other_name_2]
  )
} else {
  z = h.0.attn.weight @ f.g: f(-1)
}
)";
  std::string once = format("text", text);
  EXPECT_EQ(once, formatted);
  EXPECT_EQ(format("text", once), once);
  // Only the comma behind the last element is gone.
  std::vector<std::string> before = words(text), after = words(once);
  EXPECT_EQ(before.size(), after.size() + 1);
}

} // namespace
} // namespace colrow::dsl
