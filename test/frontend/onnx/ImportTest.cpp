//===- ImportTest.cpp - what import does to small graphs, and its messages
//--------------------------===//

#include "ImportTesting.h"
#include "TestModels.h"

#include "llvm/Support/raw_ostream.h"

namespace colrow::testing {
namespace {

onnx::NodeProto &lastNode(Builder &builder) {
  return *builder.graph().mutable_node(builder.graph().node_size() - 1);
}
void setInteger(Builder &builder, const char *name, int64_t value) {
  onnx::AttributeProto &attribute = *lastNode(builder).add_attribute();
  attribute.set_name(name);
  attribute.set_type(onnx::AttributeProto::INT);
  attribute.set_i(value);
}
/// An initializer of int64.
void integers(Builder &builder, const std::string &name, const std::vector<int64_t> &values) {
  onnx::TensorProto &tensor = *builder.graph().add_initializer();
  tensor.set_name(name);
  tensor.set_data_type(onnx::TensorProto::INT64);
  tensor.add_dims(static_cast<int64_t>(values.size()));
  tensor.set_raw_data(values.data(), values.size() * sizeof(int64_t));
}

struct Imported {
  TestContext test;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  std::string text;
};

std::unique_ptr<Imported> import(Builder &builder, const ImportOptions &options = {}) {
  ScratchFolder folder;
  auto result = std::make_unique<Imported>();
  auto module = importOnnx(result->test.context, builder.write(folder), options);
  if (succeeded(module)) {
    result->module = std::move(*module);
    llvm::raw_string_ostream(result->text) << *result->module;
  }
  return result;
}

/// The one message of a graph that cannot be imported.
std::string errorOf(Builder &builder, const ImportOptions &options = {}) {
  auto imported = import(builder, options);
  EXPECT_FALSE(imported->module);
  EXPECT_EQ(imported->test.errors.size(), 1u);
  EXPECT_EQ(imported->test.firstError().find('\n'), std::string::npos);
  return imported->test.firstError();
}

#define EXPECT_CONTAINS(text, part) EXPECT_NE((text).find(part), std::string::npos) << (text)
#define EXPECT_LACKS(text, part) EXPECT_EQ((text).find(part), std::string::npos) << (text)

//===------------------------------------------------------------------------------------------------===//
// Symbols
//===------------------------------------------------------------------------------------------------===//

TEST(ImportSymbols, BatchAndSequenceBindWhatIsThere) {
  Builder builder;
  builder.input("ids", {"rows", "tokens"}, onnx::TensorProto::INT64).output("y");
  builder.node("Neg", "negate", {"ids"}, {"y"});
  ImportOptions options;
  options.batch = 2;
  options.sequence = 5;
  auto imported = import(builder, options);
  EXPECT_CONTAINS(imported->text, "tensor<2x5xi64>");
  EXPECT_CONTAINS(imported->text, "colrow.batch = 2");
  EXPECT_CONTAINS(imported->text, "colrow.sequence = 5");
}

TEST(ImportSymbols, FixedSizesMustAgree) {
  Builder builder;
  builder.input("ids", {"2", "5"}, onnx::TensorProto::INT64).output("y");
  builder.node("Neg", "negate", {"ids"}, {"y"});
  ImportOptions options;
  options.batch = 2;
  options.sequence = 5;
  EXPECT_TRUE(import(builder, options)->module);
  options.batch = 3;
  EXPECT_CONTAINS(errorOf(builder, options),
                  "--batch 3 does not fit the model, which was exported with 2");
}

TEST(ImportSymbols, TwoSizesOfOneDimension) {
  Builder builder;
  builder.input("ids", {"rows", "4"}, onnx::TensorProto::INT64).output("y");
  builder.node("Neg", "negate", {"ids"}, {"y"});
  ImportOptions options;
  options.batch = 2;
  options.bindings["rows"] = 3;
  EXPECT_CONTAINS(errorOf(builder, options), "--batch 2 and --bind rows=3");
}

//===------------------------------------------------------------------------------------------------===//
// Folding
//===------------------------------------------------------------------------------------------------===//

TEST(ImportFolding, ShapeArithmeticLeavesNothing) {
  Builder builder;
  builder.input("x", {"b", "6"}).output("y");
  integers(builder, "zero", {0});
  integers(builder, "rest", {3, -1});
  builder.node("Shape", "shape", {"x"}, {"s"})
      .node("Gather", "rows", {"s", "zero"}, {"rows"})
      .node("Concat", "target", {"rows", "rest"}, {"t"});
  setInteger(builder, "axis", 0);
  builder.node("Reshape", "reshape", {"x", "t"}, {"y"});
  ImportOptions options;
  options.bindings["b"] = 4;
  auto imported = import(builder, options);
  EXPECT_CONTAINS(imported->text, "colrow.reshape %arg0 : (tensor<4x6xf32>) -> tensor<4x3x2xf32>");
  EXPECT_LACKS(imported->text, "colrow.constant");
}

TEST(ImportFolding, RepeatedRowsOfAConstantStayOneRow) {
  Builder builder;
  builder.input("x", {"4", "3"}).output("y");
  builder.floats("f0", {}, {0}).floats("f1", {}, {1}).floats("f3", {}, {3});
  integers(builder, "shape", {4, 3});
  builder.node("Range", "range", {"f0", "f3", "f1"}, {"row"})
      .node("Expand", "expand", {"row", "shape"}, {"wide"})
      .node("Mul", "scale", {"x", "wide"}, {"y"});
  auto imported = import(builder);
  EXPECT_CONTAINS(imported->text, "dense<[[0.000000e+00, 1.000000e+00, 2.000000e+00]]>");
  EXPECT_LACKS(imported->text, "colrow.broadcast");
}

TEST(ImportFolding, EqualConstantsAreOne) {
  Builder builder;
  builder.input("x", {"4"}).output("y");
  builder.floats("half", {}, {0.5f}).floats("other", {1}, {0.5f});
  builder.node("Mul", "first", {"x", "half"}, {"a"}).node("Mul", "second", {"a", "other"}, {"y"});
  auto imported = import(builder);
  size_t first = imported->text.find("colrow.constant");
  ASSERT_NE(first, std::string::npos);
  EXPECT_EQ(imported->text.find("colrow.constant", first + 1), std::string::npos) << imported->text;
}

TEST(ImportFolding, LargeConstantsAreRefused) {
  Builder builder;
  builder.input("x", {"4096", "5120"}).output("y");
  integers(builder, "start", {0});
  builder.floats("f0", {}, {0}).floats("f1", {}, {1}).floats("f2", {}, {4096. * 5120});
  integers(builder, "shape", {4096, 5120});
  builder.node("Range", "range", {"f0", "f2", "f1"}, {"r"})
      .node("Reshape", "square", {"r", "shape"}, {"m"})
      .node("Add", "add", {"x", "m"}, {"y"});
  EXPECT_CONTAINS(errorOf(builder), "would put a constant of 80 MiB into the program");
}

TEST(ImportFolding, AttributesAreTheDecimalsTheyWereWrittenAs) {
  EXPECT_EQ(shortestDecimal(1e-5f), 1e-5);
  EXPECT_EQ(shortestDecimal(-0.1f), -0.1);
  EXPECT_EQ(shortestDecimal(1.0507009f), 1.0507009);
  for (uint32_t bits = 1; bits < 0x7f000000; bits += 999983) {
    float image;
    std::memcpy(&image, &bits, sizeof(image));
    EXPECT_EQ(static_cast<float>(shortestDecimal(image)), image);
  }
}

TEST(ImportFolding, FoldedNumbersStayInDouble) {
  Builder builder;
  builder.input("x", {"4"}).output("y");
  builder.floats("one", {}, {1}).floats("three", {}, {3});
  builder.node("Div", "third", {"one", "three"}, {"t"}).node("Mul", "scale", {"x", "t"}, {"y"});
  auto imported = import(builder);
  EXPECT_CONTAINS(imported->text, "dense<0.33333333333333331> : tensor<f64> as tensor<f32>");
}

//===------------------------------------------------------------------------------------------------===//
// Lookups
//===------------------------------------------------------------------------------------------------===//

TEST(ImportLookup, KnownPositionsAreASlice) {
  Builder builder;
  builder.input("x", {"2", "3", "4"}).output("y");
  builder.floats("table", {8, 4}, std::vector<float>(32, 1));
  for (int i = 0; i < 32; ++i) // not all equal, or it would be many parameters
    reinterpret_cast<float *>(
        builder.graph().mutable_initializer(0)->mutable_raw_data()->data())[i] = i;
  integers(builder, "positions", {2, 3, 4});
  builder.node("Gather", "lookup", {"table", "positions"}, {"p"})
      .node("Add", "add", {"x", "p"}, {"y"});
  auto imported = import(builder);
  EXPECT_CONTAINS(imported->text, "from [2, 0] to [5, 4]");
  EXPECT_LACKS(imported->text, "colrow.take");
}

//===------------------------------------------------------------------------------------------------===//
// Messages
//===------------------------------------------------------------------------------------------------===//

TEST(ImportErrors, UnknownOperator) {
  Builder builder;
  builder.input("x", {"4"}).output("y").node("Det", "determinant", {"x"}, {"y"});
  EXPECT_CONTAINS(errorOf(builder), "node 'determinant' (Det) is an operator that is not imported");
}

TEST(ImportErrors, DynamicOperator) {
  Builder builder;
  builder.input("x", {"4"}).output("y").node("NonZero", "find", {"x"}, {"y"});
  EXPECT_CONTAINS(errorOf(builder), "node 'find' (NonZero) depends on data at run time");
}

TEST(ImportErrors, OperatorOfALaterOpset) {
  Builder builder(17);
  builder.input("x", {"4"}).output("y").node("Gelu", "gelu", {"x"}, {"y"});
  EXPECT_CONTAINS(errorOf(builder),
                  "node 'gelu' (Gelu) is an operator of opset 20 and later, but the "
                  "model has opset 17");
}

TEST(ImportErrors, ShapesThatDoNotFit) {
  Builder builder;
  builder.input("a", {"4", "3"})
      .input("b", {"4", "2"})
      .output("y")
      .node("Add", "sum", {"a", "b"}, {"y"});
  std::string error = errorOf(builder);
  EXPECT_CONTAINS(error, "model.onnx: node 'sum' (Add): shapes do not broadcast");
}

TEST(ImportErrors, ShapeThatDependsOnData) {
  Builder builder;
  builder.input("x", {"4"}).input("s", {"2"}, onnx::TensorProto::INT64).output("y");
  builder.node("Reshape", "reshape", {"x", "s"}, {"y"});
  EXPECT_CONTAINS(errorOf(builder), "needs its shape ('s') to be known at compile time");
}

TEST(ImportErrors, ElementType) {
  Builder builder;
  builder.input("x", {"4"}, onnx::TensorProto::FLOAT16)
      .output("y")
      .node("Neg", "negate", {"x"}, {"y"});
  EXPECT_CONTAINS(errorOf(builder), "input 'x' uses element type float16");
}

TEST(ImportErrors, OperandsThatAreMissing) {
  for (const char *op : {"Add", "MatMul", "Gemm", "Where", "Gather", "Reshape", "Slice",
                         "LayerNormalization", "Concat", "Softmax", "Expand", "Split"})
    for (const std::vector<std::string> &inputs :
         {std::vector<std::string>{}, std::vector<std::string>{""}}) {
      Builder builder;
      builder.input("x", {"4", "4"}).output("y").node(op, "broken", inputs, {"y"});
      EXPECT_CONTAINS(errorOf(builder), "model.onnx: node 'broken' (" + std::string(op) + ")");
    }
  Builder builder;
  builder.input("x", {"4", "4"}).output("y").node("Add", "sum", {"x"}, {"y"});
  EXPECT_CONTAINS(errorOf(builder), "node 'sum' (Add): lacks operand 1");
}

TEST(ImportErrors, AttributesThatAreMissingOrOfAnotherType) {
  for (const auto &[op, attribute] :
       {std::pair("Cast", "to"), std::pair("Concat", "axis"), std::pair("DepthToSpace", "blocksize")}) {
    Builder builder;
    builder.input("x", {"1", "4", "4", "4"}).output("y").node(op, "bare", {"x"}, {"y"});
    EXPECT_CONTAINS(errorOf(builder), "node 'bare' (" + std::string(op) + "): lacks its attribute '" +
                                          attribute + "'");
  }
  Builder builder;
  builder.input("x", {"4", "4"}).output("y").node("Softmax", "soft", {"x"}, {"y"});
  onnx::AttributeProto &axis = *lastNode(builder).add_attribute();
  axis.set_name("axis");
  axis.set_type(onnx::AttributeProto::FLOAT);
  axis.set_f(1);
  EXPECT_CONTAINS(errorOf(builder),
                  "node 'soft' (Softmax): has attribute 'axis' of type FLOAT, expected INT");
}

TEST(ImportErrors, OperandsOfWrongTypes) {
  const std::string floats = "expected float or double; cast it before the node";
  const std::string numbers =
      "expected float, double, int64, int32 or uint8; cast it before the node";
  auto asFirst = [](const std::string &type) {
    return "expected " + type + " as operand 0 'x' is; cast one of them before the node";
  };
  struct Case {
    const char *op;
    std::vector<std::string> inputs;
    std::string message;
  };
  const Case cases[] = {
      {"Gather", {"x", "x"}, "operand 1 'x' is float, expected int64 or int32; cast it"},
      {"Reshape", {"x", "x"}, "operand 1 'x' is float, expected int64; cast it"},
      {"MatMul", {"x", "ids"}, "operand 1 'ids' is int64, " + floats},
      {"MatMul", {"mask", "mask"}, "operand 0 'mask' is bool, " + floats},
      {"MatMul", {"x", "d"}, "operand 1 'd' is double, " + asFirst("float")},
      {"Gemm", {"mask", "x"}, "operand 0 'mask' is bool, " + floats},
      {"Add", {"x", "mask"}, "operand 1 'mask' is bool, " + numbers},
      {"Add", {"x", "ids"}, "operand 1 'ids' is int64, " + asFirst("float")},
      {"Concat", {"x", "ids"}, "operand 1 'ids' is int64, " + asFirst("float")},
      {"Clip", {"x", "", "ids"}, "operand 2 'ids' is int64, " + asFirst("float")},
      {"Pow", {"mask", "x"}, "operand 0 'mask' is bool, expected float, double, int64 or int32;"},
      {"Softmax", {"mask"}, "operand 0 'mask' is bool, " + floats},
      {"Tanh", {"ids"}, "operand 0 'ids' is int64, " + floats},
      {"Sqrt", {"mask"}, "operand 0 'mask' is bool, " + floats},
      {"Relu", {"mask"}, "operand 0 'mask' is bool, expected float, double, int64 or int32;"},
      {"Where", {"x", "x", "x"}, "operand 0 'x' is float, expected bool; cast it"},
      {"Where", {"mask", "x", "ids"}, "operand 2 'ids' is int64, expected float as operand 1 'x'"},
      {"Not", {"x"}, "operand 0 'x' is float, expected bool; cast it"},
      {"And", {"mask", "x"}, "operand 1 'x' is float, expected bool; cast it"},
      {"LayerNormalization", {"x", "ids"}, "operand 1 'ids' is int64, " + floats},
      {"Add", {"x", "x", "x"}, "has 3 operands, expected at most 2"}};
  for (const Case &each : cases) {
    Builder builder;
    builder.input("x", {"4", "4"})
        .input("d", {"4", "4"}, onnx::TensorProto::DOUBLE)
        .input("ids", {"4"}, onnx::TensorProto::INT64)
        .input("mask", {"4", "4"}, onnx::TensorProto::BOOL)
        .output("y");
    builder.node(each.op, "/block/wrong", each.inputs, {"y"});
    EXPECT_CONTAINS(errorOf(builder), "model.onnx: node '/block/wrong' (" + std::string(each.op) +
                                          "): " + each.message);
  }
}

TEST(ImportErrors, ManyNumbersWhereOneBelongs) {
  Builder builder;
  builder.output("y").floats("two", {2}, {0, 1}).floats("one", {}, {1});
  builder.node("Range", "range", {"two", "one", "one"}, {"y"});
  EXPECT_CONTAINS(errorOf(builder),
                  "model.onnx: node 'range' (Range): expects one number as its start, got: ");
}

TEST(ImportErrors, ReshapeOfAnotherBatch) {
  Builder builder;
  builder.input("x", {"b", "6"}).output("y");
  integers(builder, "shape", {3, 8});
  builder.node("Reshape", "reshape", {"x", "shape"}, {"y"});
  ImportOptions options;
  options.bindings["b"] = 5;
  EXPECT_CONTAINS(errorOf(builder, options), "cannot reshape [5, 6] to [3, 8]");
}

TEST(ImportErrors, SequenceBeyondASlicedTable) {
  Builder builder;
  builder.input("x", {"1", "s"}).output("y");
  integers(builder, "zero", {0});
  integers(builder, "one", {1});
  onnx::TensorProto &ids = *builder.graph().add_initializer();
  ids.set_name("position_ids");
  ids.set_data_type(onnx::TensorProto::INT64);
  ids.add_dims(1);
  ids.add_dims(8);
  for (int64_t i = 0; i < 8; ++i)
    ids.add_int64_data(i);
  builder.node("Shape", "shape", {"x"}, {"d"})
      .node("Gather", "length", {"d", "one"}, {"n"})
      .node("Slice", "positions", {"position_ids", "zero", "n", "one"}, {"p"})
      .node("Cast", "cast", {"p"}, {"f"});
  setInteger(builder, "to", onnx::TensorProto::FLOAT);
  builder.node("Add", "add", {"x", "f"}, {"y"});
  ImportOptions options;
  options.sequence = 8;
  EXPECT_TRUE(import(builder, options)->module);
  options.sequence = 9;
  std::string error = errorOf(builder, options);
  EXPECT_CONTAINS(error, "node 'add' (Add): shapes do not broadcast");
  EXPECT_CONTAINS(error, "node 'positions' took 8 of 'position_ids' where 9 were asked for");
}

} // namespace
} // namespace colrow::testing
