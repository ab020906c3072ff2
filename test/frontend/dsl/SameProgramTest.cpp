//===- SameProgramTest.cpp - a model as text and as export is one program -===//
//
// Both forms are imported and go through the pipeline up to gradients and optimizer, on 1 and on 2
// ranks. The programs must be equal operation by operation: names of operations, attributes, types
// with their layouts and operands, from the results of each function up to its arguments, which
// correspond by role and name. An operation of one program corresponds to one of the other, and
// both have as many of each kind. What does not count: names of values and of dimensions (letters
// of an einsum), identifiers of dropout sites (they come from names), the order of the operands of
// sums and products, and a view of a view instead of one (exporters write masks so).
//
//===----------------------------------------------------------------------===//

#include "dialect/Colrow.h"
#include "frontend/dsl/Import.h"
#include "mlir/Pass/PassManager.h"
#include "passes/Pipelines.h"

#include <gtest/gtest.h>

using namespace mlir;

namespace colrow {
namespace {

/// What a view of views is a view of.
Value withoutViews(Value value) {
  auto reshape = value.getDefiningOp<ReshapeOp>();
  if (!reshape)
    return value;
  while (auto inner = reshape.getInput().getDefiningOp<ReshapeOp>())
    reshape = inner;
  return reshape.getInput();
}

/// The equation with its letters called by their first occurrence.
std::string withoutLetters(StringRef equation) {
  std::string letters, result;
  for (char c : equation) {
    if (!llvm::isAlpha(c)) {
      result += c;
      continue;
    }
    if (letters.find(c) == std::string::npos)
      letters += c;
    result += static_cast<char>('a' + letters.find(c));
  }
  return result;
}

bool isCommutative(Operation *op) { return isa<AddOp, MulOp, AndOp, OrOp, MaxOp, MinOp>(op); }

class Comparison {
public:
  /// What differs; empty if nothing does.
  std::string compare(func::FuncOp a, func::FuncOp b) {
    first = a;
    second = b;
    Operation *endA = a.getBody().front().getTerminator(),
              *endB = b.getBody().front().getTerminator();
    if (endA->getNumOperands() != endB->getNumOperands())
      return "numbers of results";
    // Results of the optimizer correspond by role and name.
    for (unsigned i = 0; i < endA->getNumOperands(); ++i) {
      std::optional<unsigned> match;
      for (unsigned j = 0; j < endB->getNumOperands(); ++j)
        if (getResultRole(a, i) == getResultRole(b, j) &&
            getResultName(a, i) == getResultName(b, j))
          match = j;
      std::string name = getResultName(a, i).str();
      if (!match)
        return "no result '" + name + "'";
      if (!equal(endA->getOperand(i), endB->getOperand(*match)))
        return "result '" + name + "': " + difference;
    }
    auto counted = [](func::FuncOp function) {
      std::map<std::string, int> counts;
      for (Operation &op : function.getBody().front())
        if (!isa<ReshapeOp, ConstantOp>(op))
          ++counts[op.getName().getStringRef().str()];
      return counts;
    };
    return counted(a) == counted(b) ? "" : "numbers of operations of a kind";
  }

private:
  bool differ(Value a, Value b, const std::string &what) {
    if (difference.empty())
      difference =
          what + " at '" + getUserName(a, "a value") + "' and '" + getUserName(b, "a value") + "'";
    return false;
  }

  bool equal(Value a, Value b) {
    auto [known, isNew] = pairs.try_emplace({a, b}, false);
    if (!isNew)
      return known->second;
    bool result = compute(a, b);
    pairs[{a, b}] = result;
    return result;
  }

  bool compute(Value a, Value b) {
    if (a.getType() != b.getType())
      return differ(a, b, "types");
    auto argumentA = dyn_cast<BlockArgument>(a), argumentB = dyn_cast<BlockArgument>(b);
    if (argumentA && argumentB) {
      unsigned i = argumentA.getArgNumber(), j = argumentB.getArgNumber();
      return (getRole(first, i) == getRole(second, j) && getName(first, i) == getName(second, j)) ||
             differ(a, b, "arguments");
    }
    Operation *x = a.getDefiningOp(), *y = b.getDefiningOp();
    if (!x || !y || x->getName() != y->getName())
      return differ(a, b, "operations");
    if (isa<ReshapeOp>(x))
      return equal(withoutViews(a), withoutViews(b));
    NamedAttrList left(x->getAttrDictionary()), right(y->getAttrDictionary());
    for (NamedAttrList *list : {&left, &right}) {
      if (x->hasAttr("rate"))
        list->erase("id");
      if (auto equation = dyn_cast_or_null<StringAttr>(list->get("equation")))
        list->set("equation", StringAttr::get(x->getContext(), withoutLetters(equation)));
    }
    if (left.getDictionary(x->getContext()) != right.getDictionary(y->getContext()))
      return differ(a, b, "attributes");
    if (x->getNumOperands() != y->getNumOperands() ||
        cast<OpResult>(a).getResultNumber() != cast<OpResult>(b).getResultNumber())
      return differ(a, b, "operands");
    auto same = [&](ArrayRef<unsigned> order) {
      for (auto [i, j] : llvm::enumerate(order))
        if (!equal(x->getOperand(i), y->getOperand(j)))
          return false;
      return true;
    };
    bool isEqual = same(llvm::to_vector(llvm::seq<unsigned>(0, x->getNumOperands())));
    if (!isEqual && isCommutative(x) && same({1, 0})) {
      difference.clear();
      isEqual = true;
    }
    // One to one.
    if (isEqual && !isa<ConstantOp>(x)) {
      Operation *to = partners.try_emplace(x, y).first->second;
      Operation *from = partners.try_emplace(y, x).first->second;
      if (to != y || from != x)
        return differ(a, b, "one operation corresponds to two");
    }
    return isEqual;
  }

  func::FuncOp first, second;
  std::string difference;
  DenseMap<std::pair<Value, Value>, bool> pairs;
  DenseMap<Operation *, Operation *> partners;
};

/// Runs everything up to the optimizer.
OwningOpRef<ModuleOp> compile(MLIRContext &context, OwningOpRef<ModuleOp> module, int64_t ranks) {
  PipelineOptions options;
  if (ranks > 1) {
    std::string axis = "tp=" + std::to_string(ranks);
    options.axes.push_back(axis);
  }
  PassManager passes(&context, ModuleOp::getOperationName());
  buildShardedPipeline(passes, options);
  if (failed(passes.run(*module)))
    return {};
  return module;
}

std::string difference(const std::string &text, const std::string &exported, int64_t ranks) {
  MLIRContext context(MLIRContext::Threading::DISABLED);
  ImportOptions options;
  options.batch = 8;
  options.sequence = 32;
  DslModel model = DslModel::parse(std::string(COLROW_DSL_MODELS) + "/test.colrow", text);
  OwningOpRef<ModuleOp> written =
      compile(context, importDsl(context, model, options).module, ranks);
  auto onnx = importOnnx(context, std::string(COLROW_TEST_MODELS) + "/" + exported + "/model.onnx",
                         options);
  if (failed(onnx))
    return "the export is not imported";
  OwningOpRef<ModuleOp> read = compile(context, std::move(*onnx), ranks);
  if (!written || !read)
    return "a form is not compiled";
  size_t functions = 0;
  for (auto function : written->getOps<func::FuncOp>()) {
    auto other = read->lookupSymbol<func::FuncOp>(function.getName());
    if (!other)
      return "no function '" + function.getName().str() + "'";
    std::string what = Comparison().compare(function, other);
    if (!what.empty())
      return function.getName().str() + ": " + what;
    ++functions;
  }
  if (functions != static_cast<size_t>(llvm::range_size(read->getOps<func::FuncOp>())))
    return "numbers of functions";
  return functions < 3 ? "too few functions" : "";
}

const char gpt2[] = "extends \"gpt2.colrow\"\n"
                    "dim layers = 2, hidden = 64, heads = 4, vocabulary = 503, positions = 64\n";
const char bert[] = "extends \"bert.colrow\"\n"
                    "dim layers = 2, hidden = 60, heads = 6, inner = 200\n"
                    "dim vocabulary = 389, positions = 48\n"
                    "let sentence_order = false, dropout = 0.0\n";

class SameProgram : public testing::TestWithParam<int64_t> {};

TEST_P(SameProgram, Gpt2) {
  EXPECT_EQ(difference(std::string(gpt2) + "let dropout = 0.0\n", "gpt2-tiny", GetParam()), "");
}
TEST_P(SameProgram, Gpt2OfTheOtherExporter) {
  EXPECT_EQ(difference(std::string(gpt2) + "let dropout = 0.0\n", "gpt2-tiny-dynamo", GetParam()),
            "");
}
TEST_P(SameProgram, Gpt2WithDropout) {
  EXPECT_EQ(difference(gpt2, "gpt2-tiny-train", GetParam()), "");
}
TEST_P(SameProgram, Bert) { EXPECT_EQ(difference(bert, "bert-tiny", GetParam()), ""); }

INSTANTIATE_TEST_SUITE_P(Ranks, SameProgram, testing::Values(1, 2));

// The comparison sees what differs.
TEST(SameProgram, Differences) {
  std::string text = std::string(gpt2) + "let dropout = 0.0\n";
  EXPECT_NE(difference(text + "let eps = 1e-6\n", "gpt2-tiny", 2), "");
  EXPECT_NE(difference(gpt2, "gpt2-tiny", 2), ""); // dropout
}

} // namespace
} // namespace colrow
