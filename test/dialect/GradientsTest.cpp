//===- GradientsTest.cpp - every gradient against difference quotients ----===//
//
// Each operation by itself, in fp64 in the interpreter: the loss is the sum of the result times
// random weights, so that no error hides in a symmetry. Big operations run fused (their gradient is
// one operation) and decomposed before differentiation (their gradient is that of primitives).
//
//===----------------------------------------------------------------------===//

#include "test/dialect/GradientProgram.h"
#include <gtest/gtest.h>

using namespace colrow;

namespace {

/// A difference quotient of fp64 with a step of 1e-5 is this good.
constexpr double tolerance = 1e-7;

struct Argument {
  std::string name, type; ///< "x", "4x3xf32"; floats are parameters
  double low = -1, high = 1;
};

struct Case {
  std::string name;
  std::vector<Argument> arguments;
  std::string body;   ///< ends in %y
  std::string result; ///< type of %y, "4x3xf32"
};

void PrintTo(const Case &test, std::ostream *out) { *out << test.name; }

std::string programOf(const Case &test) {
  std::string text = "func.func @main(";
  for (const Argument &argument : test.arguments) {
    bool isFloat = argument.type.find('f') != std::string::npos;
    text += "%" + argument.name + ": tensor<" + argument.type + "> {colrow.role = \"" +
            (isFloat ? "parameter" : "input") + "\", colrow.name = \"" + argument.name + "\"}, ";
  }
  std::string y = "tensor<" + test.result + ">";
  std::string axes;
  for (char c : test.result)
    if (c == 'x')
      axes += (axes.empty() ? "" : ", ") +
              std::to_string(std::count(axes.begin(), axes.end(), ',') + !axes.empty());
  return text + "%weights: " + y +
         " {colrow.role = \"input\", colrow.name = \"weights\"})"
         " -> (tensor<f32> {colrow.role = \"loss\", colrow.name = \"loss\"}) {\n" +
         test.body + "\n%weighted = colrow.mul %y, %weights : (" + y + ", " + y + ") -> " + y +
         "\n%loss = colrow.reduce_sum %weighted over [" + axes + "] : (" + y +
         ") -> tensor<f32>\nreturn %loss : tensor<f32>\n}\n";
}

class Gradients : public testing::TestWithParam<Case> {
protected:
  double error(const std::string &passes) {
    const Case &test = GetParam();
    std::map<std::string, std::pair<double, double>> ranges;
    for (const Argument &argument : test.arguments)
      ranges[argument.name] = {argument.low, argument.high};
    GradientProgram program(programOf(test), passes);
    return program.gradientError(program.randomInputs(ranges));
  }
};

TEST_P(Gradients, EqualDifferenceQuotients) {
  EXPECT_LT(error("colrow-differentiate"), tolerance);
}
TEST_P(Gradients, OfPrimitivesEqualDifferenceQuotients) {
  EXPECT_LT(error("colrow-decompose,colrow-differentiate"), tolerance);
}

std::vector<Case> unaryCases() {
  std::vector<Case> cases;
  auto add = [&](const std::string &op, double low, double high) {
    cases.push_back({op,
                     {{"x", "3x4xf32", low, high}},
                     "%y = colrow." + op + " %x : (tensor<3x4xf32>) -> tensor<3x4xf32>",
                     "3x4xf32"});
  };
  for (const char *op : {"neg", "abs", "exp", "tanh", "erf", "sin", "cos", "sigmoid", "silu",
                         "gelu tanh", "gelu erf"})
    add(op, -2, 2);
  for (const char *op : {"log", "sqrt", "reciprocal"})
    add(op, 0.5, 2);
  return cases;
}

std::vector<Case> binaryCases() {
  std::vector<Case> cases;
  const std::string types = " : (tensor<2x3x4xf32>, tensor<3x1xf32>) -> tensor<2x3x4xf32>";
  auto add = [&](const std::string &op, double low, double high) {
    cases.push_back({op,
                     {{"x", "2x3x4xf32", low, high}, {"z", "3x1xf32", low, high}},
                     "%y = colrow." + op + " %x, %z" + types,
                     "2x3x4xf32"});
    cases.push_back({op + " swapped",
                     {{"x", "2x3x4xf32", low, high}, {"z", "3x1xf32", low, high}},
                     "%y = colrow." + op +
                         " %z, %x : (tensor<3x1xf32>, tensor<2x3x4xf32>) -> tensor<2x3x4xf32>",
                     "2x3x4xf32"});
  };
  for (const char *op : {"add", "sub", "mul", "max", "min"})
    add(op, -1, 1);
  for (const char *op : {"div", "pow"})
    add(op, 0.5, 2);
  cases.push_back({"mod",
                   {{"x", "5xf32", 2.1, 2.9}, {"z", "5xf32", 0.71, 0.95}},
                   "%y = colrow.mod %x, %z : (tensor<5xf32>, tensor<5xf32>) -> tensor<5xf32>",
                   "5xf32"});
  cases.push_back({"pow of integers",
                   {{"x", "5xf32", -2, 2}, {"z", "5xi64", 0, 4}},
                   "%y = colrow.pow %x, %z : (tensor<5xf32>, tensor<5xi64>) -> tensor<5xf32>",
                   "5xf32"});
  cases.push_back(
      {"select",
       {{"c", "3x4xi1", 0, 2}, {"x", "3x4xf32"}, {"z", "4xf32"}},
       "%y = colrow.select %c, %x, %z : (tensor<3x4xi1>, tensor<3x4xf32>, tensor<4xf32>)"
       " -> tensor<3x4xf32>",
       "3x4xf32"});
  return cases;
}

std::vector<Case> shapeCases() {
  return {
      {"reshape and transpose",
       {{"x", "2x6xf32"}},
       "%0 = colrow.reshape %x : (tensor<2x6xf32>) -> tensor<2x3x2xf32>\n"
       "%y = colrow.transpose %0 [2, 0, 1] : (tensor<2x3x2xf32>) -> tensor<2x2x3xf32>",
       "2x2x3xf32"},
      {"broadcast",
       {{"x", "3x1xf32"}},
       "%y = colrow.broadcast %x : (tensor<3x1xf32>) -> tensor<2x3x4xf32>",
       "2x3x4xf32"},
      {"slice",
       {{"x", "5x9xf32"}},
       "%y = colrow.slice %x from [1, 0] to [4, 9] step [1, 2] : (tensor<5x9xf32>)"
       " -> tensor<3x5xf32>",
       "3x5xf32"},
      {"pad",
       {{"x", "2x3xf32"}},
       "%y = colrow.pad %x low [1, 0] high [0, 2] step [1, 2] value 3.0 : (tensor<2x3xf32>)"
       " -> tensor<3x7xf32>",
       "3x7xf32"},
      {"concat",
       {{"x", "2x3xf32"}, {"z", "2x1xf32"}},
       "%y = colrow.concat %x, %z, %x along 1 : (tensor<2x3xf32>, tensor<2x1xf32>,"
       " tensor<2x3xf32>) -> tensor<2x7xf32>",
       "2x7xf32"},
      {"take",
       {{"x", "2x5x3xf32"}, {"ids", "2x4xi64", 0, 5}},
       "%y = colrow.take %x at %ids along 1 : (tensor<2x5x3xf32>, tensor<2x4xi64>)"
       " -> tensor<2x2x4x3xf32>",
       "2x2x4x3xf32"},
      {"take_along",
       {{"x", "2x5xf32"}, {"ids", "2x3xi64", 0, 5}},
       "%y = colrow.take_along %x at %ids along 1 : (tensor<2x5xf32>, tensor<2x3xi64>)"
       " -> tensor<2x3xf32>",
       "2x3xf32"},
      {"mask_padding",
       {{"x", "2x5xf32"}},
       "%y = colrow.mask_padding %x along 1 valid 3 value 7.0 : (tensor<2x5xf32>)"
       " -> tensor<2x5xf32>",
       "2x5xf32"},
      // Seed, step, microbatch, and whether dropout is active: 1 in each.
      {"dropout",
       {{"x", "4x5xf32"}, {"random", "4xi64", 1, 2}},
       "%y = colrow.dropout %x random %random rate 0.4 id 7 : (tensor<4x5xf32>, tensor<4xi64>)"
       " -> tensor<4x5xf32>",
       "4x5xf32"},
      {"floor",
       {{"x", "2x5xf32"}},
       "%0 = colrow.floor %x : (tensor<2x5xf32>) -> tensor<2x5xf32>\n"
       "%y = colrow.add %0, %x : (tensor<2x5xf32>, tensor<2x5xf32>) -> tensor<2x5xf32>",
       "2x5xf32"},
      {"cast",
       {{"x", "2x5xf32"}},
       "%0 = colrow.cast %x : (tensor<2x5xf32>) -> tensor<2x5xf64>\n"
       "%y = colrow.cast %0 : (tensor<2x5xf64>) -> tensor<2x5xf32>",
       "2x5xf32"},
  };
}

std::vector<Case> reduceCases() {
  std::vector<Case> cases;
  for (const char *op : {"reduce_sum", "reduce_max", "reduce_min"}) {
    cases.push_back({op,
                     {{"x", "2x3x4xf32"}},
                     std::string("%y = colrow.") + op +
                         " %x over [0, 2] : (tensor<2x3x4xf32>) -> tensor<3xf32>",
                     "3xf32"});
    cases.push_back({std::string(op) + " keepdims",
                     {{"x", "2x3x4xf32"}},
                     std::string("%y = colrow.") + op +
                         " %x over [1] keepdims : (tensor<2x3x4xf32>) -> tensor<2x1x4xf32>",
                     "2x1x4xf32"});
  }
  for (const char *form : {"", " exclusive", " reverse", " exclusive reverse"})
    cases.push_back({std::string("cumsum") + form,
                     {{"x", "3x4xf32"}},
                     std::string("%y = colrow.cumsum %x along 1") + form +
                         " : (tensor<3x4xf32>) -> tensor<3x4xf32>",
                     "3x4xf32"});
  cases.push_back({"einsum of batches",
                   {{"x", "2x3x4xf32"}, {"z", "2x4x5xf32"}},
                   "%y = colrow.einsum \"bij,bjk->kbi\" %x, %z : (tensor<2x3x4xf32>,"
                   " tensor<2x4x5xf32>) -> tensor<5x2x3xf32>",
                   "5x2x3xf32"});
  cases.push_back({"einsum outer",
                   {{"x", "3xf32"}, {"z", "4xf32"}},
                   "%y = colrow.einsum \"i,j->ij\" %x, %z : (tensor<3xf32>, tensor<4xf32>)"
                   " -> tensor<3x4xf32>",
                   "3x4xf32"});
  return cases;
}

std::vector<Case> bigCases() {
  return {
      {"softmax",
       {{"x", "2x3x4xf32", -3, 3}},
       "%y = colrow.softmax %x along 1 : (tensor<2x3x4xf32>) -> tensor<2x3x4xf32>",
       "2x3x4xf32"},
      {"layer_norm",
       {{"x", "2x3x4xf32"}, {"w", "3x4xf32"}, {"c", "3x4xf32"}},
       "%y = colrow.layer_norm %x scale %w bias %c from 1 epsilon 1.0e-3 :"
       " (tensor<2x3x4xf32>, tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<2x3x4xf32>",
       "2x3x4xf32"},
      {"layer_norm with bias alone",
       {{"x", "5x4xf32"}, {"c", "4xf32"}},
       "%y = colrow.layer_norm %x bias %c from 1 epsilon 1.0e-3 :"
       " (tensor<5x4xf32>, tensor<4xf32>) -> tensor<5x4xf32>",
       "5x4xf32"},
      {"layer_norm alone",
       {{"x", "5x4xf32"}},
       "%y = colrow.layer_norm %x from 1 epsilon 1.0e-3 : (tensor<5x4xf32>) -> tensor<5x4xf32>",
       "5x4xf32"},
      {"rms_norm",
       {{"x", "2x3x4xf32"}, {"w", "3x4xf32"}},
       "%y = colrow.rms_norm %x scale %w from 1 epsilon 1.0e-3 :"
       " (tensor<2x3x4xf32>, tensor<3x4xf32>) -> tensor<2x3x4xf32>",
       "2x3x4xf32"},
      {"rms_norm alone",
       {{"x", "5x4xf32"}},
       "%y = colrow.rms_norm %x from 1 epsilon 1.0e-3 : (tensor<5x4xf32>) -> tensor<5x4xf32>",
       "5x4xf32"},
      {"attention",
       {{"q", "2x3x4x2xf32"}, {"k", "2x3x5x2xf32"}, {"v", "2x3x5x3xf32"}},
       "%y = colrow.attention %q, %k, %v scale 1.7 : (tensor<2x3x4x2xf32>, tensor<2x3x5x2xf32>,"
       " tensor<2x3x5x3xf32>) -> tensor<2x3x4x3xf32>",
       "2x3x4x3xf32"},
      // Two heads to a group; a mask that hides two keys, of which one is seen by nobody anyway.
      {"masked attention of groups",
       {{"q", "1x4x3x2xf32"}, {"k", "1x2x5x2xf32"}, {"v", "1x2x5x2xf32"}},
       "%m = colrow.constant dense<[0.5, 0xFF800000, -1.0, 0.0, 0xFF800000]> : tensor<5xf32>\n"
       "%y = colrow.attention %q, %k, %v mask %m scale 0.7 causal 1 : (tensor<1x4x3x2xf32>,"
       " tensor<1x2x5x2xf32>, tensor<1x2x5x2xf32>, tensor<5xf32>) -> tensor<1x4x3x2xf32>",
       "1x4x3x2xf32"},
      // Trained biases: of heads, of keys, and the same for all heads of the groups.
      {"attention with a bias of heads",
       {{"q", "2x3x4x2xf32"}, {"k", "2x3x5x2xf32"}, {"v", "2x3x5x3xf32"}, {"m", "1x3x4x5xf32"}},
       "%y = colrow.attention %q, %k, %v mask %m scale 1.7 causal 1 : (tensor<2x3x4x2xf32>,"
       " tensor<2x3x5x2xf32>, tensor<2x3x5x3xf32>, tensor<1x3x4x5xf32>) -> tensor<2x3x4x3xf32>",
       "2x3x4x3xf32"},
      {"attention with a bias of keys",
       {{"q", "2x3x4x2xf32"}, {"k", "2x3x5x2xf32"}, {"v", "2x3x5x3xf32"}, {"m", "5xf32"}},
       "%y = colrow.attention %q, %k, %v mask %m scale 1.7 : (tensor<2x3x4x2xf32>,"
       " tensor<2x3x5x2xf32>, tensor<2x3x5x3xf32>, tensor<5xf32>) -> tensor<2x3x4x3xf32>",
       "2x3x4x3xf32"},
      {"attention of groups with a bias",
       {{"q", "2x4x3x2xf32"}, {"k", "2x2x5x2xf32"}, {"v", "2x2x5x2xf32"}, {"m", "2x1x3x5xf32"}},
       "%y = colrow.attention %q, %k, %v mask %m scale 0.7 : (tensor<2x4x3x2xf32>,"
       " tensor<2x2x5x2xf32>, tensor<2x2x5x2xf32>, tensor<2x1x3x5xf32>) -> tensor<2x4x3x2xf32>",
       "2x4x3x2xf32"},
      {"capped attention",
       {{"q", "2x3x4x2xf32"}, {"k", "2x3x5x2xf32"}, {"v", "2x3x5x3xf32"}},
       "%y = colrow.attention %q, %k, %v scale 1.7 cap 0.8 causal 0 : (tensor<2x3x4x2xf32>,"
       " tensor<2x3x5x2xf32>, tensor<2x3x5x3xf32>) -> tensor<2x3x4x3xf32>",
       "2x3x4x3xf32"},
      {"capped attention of groups with a bias",
       {{"q", "1x4x3x2xf32"}, {"k", "1x2x5x2xf32"}, {"v", "1x2x5x2xf32"}, {"m", "4x1x5xf32"}},
       "%y = colrow.attention %q, %k, %v mask %m scale 2.0 cap 1.5 : (tensor<1x4x3x2xf32>,"
       " tensor<1x2x5x2xf32>, tensor<1x2x5x2xf32>, tensor<4x1x5xf32>) -> tensor<1x4x3x2xf32>",
       "1x4x3x2xf32"},
      // All keys behind one large finite number, in which scores would be lost.
      {"attention behind a finite mask",
       {{"q", "1x1x2x2xf32"}, {"k", "1x1x3x2xf32"}, {"v", "1x1x3x2xf32"}},
       "%m = colrow.constant dense<-1.0e38> : tensor<1xf32>\n"
       "%y = colrow.attention %q, %k, %v mask %m scale 0.0 : (tensor<1x1x2x2xf32>,"
       " tensor<1x1x3x2xf32>, tensor<1x1x3x2xf32>, tensor<1xf32>) -> tensor<1x1x2x2xf32>",
       "1x1x2x2xf32"},
      {"attention with dropout",
       {{"q", "2x2x4x2xf32"},
        {"k", "2x2x4x2xf32"},
        {"v", "2x2x4x3xf32"},
        {"random", "4xi64", 1, 2}},
       "%y = colrow.attention %q, %k, %v random %random rate 0.4 id 7 scale 0.7 causal 0 :"
       " (tensor<2x2x4x2xf32>, tensor<2x2x4x2xf32>, tensor<2x2x4x3xf32>, tensor<4xi64>)"
       " -> tensor<2x2x4x3xf32>",
       "2x2x4x3xf32"},
      // Labels reach from 0 to 7; 5 is ignored, and 8 and 9 are padding.
      {"cross_entropy",
       {{"x", "2x3x10xf32", -3, 3}, {"labels", "2x3xi64", 0, 8}},
       "%n = colrow.constant dense<5.0> : tensor<f32>\n"
       "%0 = colrow.cross_entropy %x, %labels, %n ignore 5 valid 8 :"
       " (tensor<2x3x10xf32>, tensor<2x3xi64>, tensor<f32>) -> tensor<f32>\n"
       "%y = colrow.reshape %0 : (tensor<f32>) -> tensor<1xf32>",
       "1xf32"},
      {"linear_cross_entropy",
       {{"x", "2x3x4xf32"}, {"w", "10x4xf32"}, {"labels", "2x3xi64", 0, 8}},
       "%n = colrow.constant dense<5.0> : tensor<f32>\n"
       "%0 = colrow.linear_cross_entropy %x, %w, %labels, %n ignore 5 valid 8 :"
       " (tensor<2x3x4xf32>, tensor<10x4xf32>, tensor<2x3xi64>, tensor<f32>) -> tensor<f32>\n"
       "%y = colrow.reshape %0 : (tensor<f32>) -> tensor<1xf32>",
       "1xf32"},
      {"cross_entropy with label smoothing and z loss",
       {{"x", "2x3x10xf32", -3, 3}, {"labels", "2x3xi64", 0, 8}},
       "%n = colrow.constant dense<5.0> : tensor<f32>\n"
       "%0 = colrow.cross_entropy %x, %labels, %n ignore 5 valid 8"
       " {label_smoothing = 0.2 : f64, z_loss = 0.1 : f64} :"
       " (tensor<2x3x10xf32>, tensor<2x3xi64>, tensor<f32>) -> tensor<f32>\n"
       "%y = colrow.reshape %0 : (tensor<f32>) -> tensor<1xf32>",
       "1xf32"},
      {"linear_cross_entropy with label smoothing and z loss",
       {{"x", "2x3x4xf32"}, {"w", "10x4xf32"}, {"labels", "2x3xi64", 0, 8}},
       "%n = colrow.constant dense<5.0> : tensor<f32>\n"
       "%0 = colrow.linear_cross_entropy %x, %w, %labels, %n ignore 5 valid 8"
       " {label_smoothing = 0.2 : f64, z_loss = 0.1 : f64} :"
       " (tensor<2x3x4xf32>, tensor<10x4xf32>, tensor<2x3xi64>, tensor<f32>) -> tensor<f32>\n"
       "%y = colrow.reshape %0 : (tensor<f32>) -> tensor<1xf32>",
       "1xf32"},
  };
}

std::string testName(const testing::TestParamInfo<Case> &info) {
  std::string name = info.param.name;
  std::replace(name.begin(), name.end(), ' ', '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(Unary, Gradients, testing::ValuesIn(unaryCases()), testName);
INSTANTIATE_TEST_SUITE_P(Binary, Gradients, testing::ValuesIn(binaryCases()), testName);
INSTANTIATE_TEST_SUITE_P(Shape, Gradients, testing::ValuesIn(shapeCases()), testName);
INSTANTIATE_TEST_SUITE_P(Reduce, Gradients, testing::ValuesIn(reduceCases()), testName);
INSTANTIATE_TEST_SUITE_P(Big, Gradients, testing::ValuesIn(bigCases()), testName);

} // namespace

TEST(Evaluate, LeavesDropoutOut) {
  GradientProgram program(
      "func.func @main(%x: tensor<64xf32> {colrow.role = \"parameter\", colrow.name = \"x\"},"
      " %random: tensor<4xi64> {colrow.role = \"input\", colrow.name = \"colrow.random\"})"
      " -> (tensor<f32> {colrow.role = \"loss\", colrow.name = \"loss\"}) {\n"
      "%0 = colrow.dropout %x random %random rate 0.5 id 7 : (tensor<64xf32>, tensor<4xi64>)"
      " -> tensor<64xf32>\n"
      "%1 = colrow.reduce_sum %0 over [0] : (tensor<64xf32>) -> tensor<f32>\n"
      "return %1 : tensor<f32>\n}\n",
      "colrow-evaluate,colrow-differentiate");
  GradientProgram::Tensors inputs =
      program.randomInputs({{"x", {1, 1}}, {"colrow.random", {1, 2}}});
  EXPECT_EQ(program.evaluate(inputs), 64);
  // Dropped or doubled: 64 exactly would need as many of one as of the other.
  EXPECT_NE(program.loss(inputs), 64);
  EXPECT_NEAR(program.loss(inputs), 64, 32);
}
