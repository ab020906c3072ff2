//===- ErrorsTest.cpp - every kind of error: words, line, column, caret ---===//

#include "frontend/dsl/Import.h"

#include <gtest/gtest.h>

using namespace mlir;

namespace colrow {
namespace {

/// What is said against a text; empty if nothing is.
std::string errorOf(const std::string &text) {
  MLIRContext context(MLIRContext::Threading::DISABLED);
  ImportOptions options;
  options.batch = 2;
  options.sequence = 8;
  try {
    importDsl(context, DslModel::parse("m", text), options);
    return "";
  } catch (const Error &error) {
    return error.what();
  }
}

struct Case {
  std::string text;    ///< wrong where it has «...»
  std::string message; ///< what is said there
  bool isWhole = false; ///< otherwise it gets dims, an input and an output
};

void check(const Case &each) {
  const std::string before = "dim batch, sequence, hidden = 4\n"
                             "input ids: int64[batch, sequence]\n"
                             "param w: [9, hidden] ~ normal(0.02)\n"
                             "e = embedding(ids, w)\n";
  const std::string open = "«", close = "»";
  std::string text = each.text;
  size_t at = text.find(open), end = text.find(close) - open.size();
  ASSERT_NE(at, std::string::npos) << each.text;
  text.erase(text.find(close), close.size());
  text.erase(at, open.size());
  if (!each.isWhole) {
    text = before + text + "\noutput logits = e\n";
    at += before.size();
    end += before.size();
  }
  size_t line = std::count(text.begin(), text.begin() + static_cast<long>(at), '\n') + 1;
  size_t start = at == 0 ? 0 : text.rfind('\n', at - 1) + 1;
  if (at > 0 && text.rfind('\n', at - 1) == std::string::npos)
    start = 0;
  std::string shown = text.substr(start, text.find('\n', start) - start);
  std::string caret(at - start, ' ');
  caret += '^';
  if (end > at + 1)
    caret += std::string(end - at - 1, '~');
  std::string expected = "m:" + std::to_string(line) + ":" + std::to_string(at - start + 1) +
                         ": error: " + each.message + "\n" + shown + "\n" + caret;
  std::string found = errorOf(text);
  EXPECT_EQ(found.substr(0, expected.size()), expected) << "whole: " << found;
}

TEST(Errors, Words) {
  check({"x = e «$» 2", "no use is known for '$'"});
  check({"x = «2x»", "is neither a number nor a name; names begin with a letter or '_'"});
  check({"x = gelu(e, «\"tanh)»", "a text ends on its line, with '\"'"});
  check({"x = «99999999999999999999»", "is larger than any size"});
  check({"x = «1e999»", "is not in the range of a number"});
}

TEST(Errors, Grammar) {
  check({"«repaet» n { }", "'repaet' begins no statement; did you mean 'repeat'?"});
  check({"«e» (ids)", "what is computed here has no reader; give it a name: 'x = ...'"});
  check({"x = «*» 2", "expected a value, got '*'"});
  check({"x = gelu(e «y» )", "expected ',' or ')', got 'y'"});
  check({"x = (e + 1 «y» )", "expected ')', got 'y'"});
  check({"x = e[0 «y» ]", "expected ',' or ']', got 'y'"});
  check({"x = «if»", "'if' is a word of the language, no value"});
  check({"dim «repeat» = 2", "'repeat' is a word of the language and cannot be the name of a dim"});
  check({"let a «b» = 2", "expected '=' behind 'a', got 'b'"});
  check({"x = e «y»", "expected the end of the line, got 'y'"});
  check({"«return» e", "'return' belongs into a block"});
  check({"«extends» \"a.colrow\"", "'extends' is the first statement of a file"});
  check({"if true {\n  «dim» a = 2\n}",
         "'dim' belongs to the top of a file, outside of all braces"});
  check({"x = 1 < 2 «<» 3", "comparisons do not follow each other: 'a < b and b < c'"});
  check({"x = «a.b»(e)", "blocks and operations have names without '.'; their parameters are named "
                         "before ':': 'attn.c_attn: linear(x)'"});
  check({"param p: [2] «=» zeros",
         "expected '~' before what a parameter starts with: normal(0.02), zeros or ones, got '='"});
  check({"param p «[»2] ~ zeros", "expected ':' before the shape of a parameter, got '['"});
  check({"param p.«[»2] ~ zeros", "expected a name behind '.', got '['"});
}

TEST(Errors, Names) {
  check({"x = «hiden»", "'hiden' is not defined; did you mean 'hidden'?"});
  check({"x = «layer_nom»(e, w)",
         "there is no block or operation 'layer_nom'; did you mean 'layer_norm'?"});
  check({"dim «hidden» = 3", "'hidden' is a dim already"});
  check({"«ids» = e", "'ids' is an input and keeps its value"});
  check({"«w» = e", "'w' is a parameter and keeps its value"});
  check({"param «w»: [2] ~ zeros", "there is a parameter 'w' already"});
  check({"param «e»: [2] ~ zeros", "'e' is the name of a value already"});
  check({"repeat 2 {\n  param «p»: [2] ~ zeros\n  e = e + sum(p, 0)\n}",
         "there is a parameter 'p' already; name what is repeated ('repeat n as h') or called twice "
         "('a: f(x)')"});
  check({"tie v = «u»", "there is no parameter 'u'"});
  check({"tie «w» = w", "there is a parameter 'w' already"});
  check({"param «p»: [2] ~ zeros", "parameter 'p' is never read"});
  check({"block f(x) {\n  return x + «e»\n}\ny = f(e)",
         "a block sees dims, lets and its arguments; give it 'e' as an argument"});
  check({"x = «a»: gelu(e)",
         "'a' would name the parameters of 'gelu', which is an operation and has none; blocks have"});
}

TEST(Errors, Calls) {
  check({"x = «softmax()»", "'softmax(x, dim = -1)' lacks its argument 'x'"});
  check({"x = softmax(e, 1, «2»)", "'softmax(x, dim = -1)' takes at most 2 arguments"});
  check({"x = softmax(e, «axis» = 1)", "'softmax(x, dim = -1)' has no argument 'axis'"});
  check({"x = softmax(e, «x» = e)", "'x' is given twice"});
  check({"x = gelu(approximate = \"tanh\", «e»)", "arguments without a name come before those with one"});
  check({"x = softmax(«\"a\"»)", "'softmax' expects a tensor as 'x', got: the text \"a\""});
  check({"x = softmax(e, «0.5»)", "'softmax' expects a whole number as 'dim', got: 0.5"});
  check({"x = softmax(e, «3»)", "there is no dimension 3 in a tensor of 3"});
  check({"block f(x) {\n  return x\n}\ny = «f()»", "'f(x)' lacks its argument 'x'"});
  check({"block «f»(x) {\n}\ny = f(e)", "block 'f' ends without 'return'"});
  check({"block f(x) {\n  return «f(x)»\n}\ny = f(e)", "block 'f' calls itself"});
  check({"block f(x, «x») {\n  return x\n}\ny = f(e, e)", "block 'f' has two arguments 'x'"});
}

TEST(Errors, Values) {
  check({"let a = «1 / 0»", "is divided by 0"});
  check({"let a = «9223372036854775807 + 1»", "is larger than any size"});
  check({"let a = «e»", "'let' names what is known at compile time, got: a tensor [2, 8, 4] of f32; "
                        "leave 'let' out for a value of the model"});
  check({"dim a = «hidden / 3»", "a dim is a whole number, got: 1.33333"});
  check({"dim a = «hidden - 4»", "a dim is at least 1, got: 0"});
  check({"repeat «0.5» {\n}", "the count of a repeat is a whole number, got: 0.5"});
  check({"repeat «100000» {\n}", "a repeat goes from 0 to 10000 times, got: 100000"});
  check({"if «hidden» {\n}", "a condition is true or false at compile time, got: 4"});
  check({"a, b = «e»", "2 names need a list of 2 values, got: a tensor [2, 8, 4] of f32"});
  check({"x = e «+» \"a\"", "there is no '+' of a tensor [2, 8, 4] of f32 and the text \"a\""});
  check({"x = «ids + e»", "'+' expects one element type, got: a tensor [2, 8] of i64 and a tensor "
                          "[2, 8, 4] of f32"});
  check({"x = ids * «0.5»",
         "a tensor of integers meets 0.5; make it one of floating type: 'float(x)'"});
  check({"x = e[«9»]", "goes beyond dimension 0 of [2, 8, 4], or takes nothing of it"});
  check({"x = e[0, 0, 0, «0»]", "a tensor [2, 8, 4] has no dimension 3"});
  check({"x = [1, 2][«2»]", "there is no element 2 in a list of 2"});
}

TEST(Errors, Parameters) {
  check({"param p: [2] ~ «normall»(1)",
         "a parameter starts with normal(0.02), zeros or ones; did you mean 'normal'?"});
  check({"param p: [2] ~ «normal»", "'normal' expects its standard deviation: normal(0.02)"});
  check({"param p: [2] ~ «zeros»(1)", "'zeros' takes no number"});
  check({"param p: [2] ~ normal(«-1»)", "a standard deviation is a number of at least 0, got: -1"});
  check({"param p: [«0»] ~ zeros", "a size is at least 1, got: 0"});
  check({"input x: «int8»[2]", "an input is of bool, float32, int32 or int64"});
}

TEST(Errors, Shapes) {
  check({"x = linear(e, «e»)",
         "'linear' expects a weight [out, in] for x [..., in], got: [2, 8, 4] for [2, 8, 4]"});
  check({"x = «e @ w»", "'@' multiplies matrices of 4 columns and 9 rows"});
  check({"x = reshape(e, «[3, -1]»)",
         "a tensor [2, 8, 4] has 64 elements, which do not fill [3, -1]"});
  check({"x = split(e, «3»)",
         "dimension 2 of [2, 8, 4] does not come apart into 3 equal parts"});
  check({"x = attention(«e», e, e)",
         "'attention' expects query [batch, heads, sequence, size], got: [2, 8, 4]"});
  check({"x = «embedding(arange(20), w)»",
         "'embedding' looks up index 9 of 'w', which has 9; where these are positions, the sequence "
         "is longer than the position table: bind a sequence of at most 9"});
  check({"x = layer_norm(e, «w»)",
         "'layer_norm' expects weight [4], as long as the last dimension of x, got: [9, 4]"});
  check({"x = gelu(e, «\"sigmoid\"»)", "known are \"none\" and \"tanh\""});
  check({"x = dropout(e, «1.5»)", "a rate of dropout is in [0, 1), got: 1.5"});
}

TEST(Errors, Files) {
  check({"dim batch, sequence, «size»\ninput x: int64[batch, sequence]\nlet a = size\noutput y = x",
         "this dim has no size; give --bind size=N", true});
  check({"extends «\"missing.colrow\"»", "cannot read 'missing.colrow': No such file or directory",
         true});
  EXPECT_EQ(errorOf("dim batch, sequence\ninput x: int64[batch, sequence]"), "'m' has no output; end it with 'output logits = ...'");
}

// Errors in a block say where it was called.
TEST(Errors, CallsAround) {
  std::string text = errorOf("dim batch, sequence\n"
                             "block f(x) {\n"
                             "  return x + y\n"
                             "}\n"
                             "input ids: int64[batch, sequence]\n"
                             "output logits = f(ids)\n");
  EXPECT_EQ(text, "m:3:14: error: 'y' is not defined\n"
                  "  return x + y\n"
                  "             ^\n"
                  "m:6:17: note: in block 'f', called here\n"
                  "output logits = f(ids)\n"
                  "                ^~~~~~");
}

} // namespace
} // namespace colrow
