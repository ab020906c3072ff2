//===- OperandTypesTest.cpp - which operands operators take is what ONNX says ---===//

#include "frontend/onnx/Import.h"
#include "frontend/onnx/OnnxNode.h"
#include "frontend/onnx/OpTable.h"
#include "frontend/onnx/Weights.h"

#include <gtest/gtest.h>
#include <onnx/defs/schema.h>

#include <map>
#include <set>

namespace colrow::testing {
namespace {

using Types = std::set<std::string>;

/// What an operand may be, of what is imported.
Types taken(const OnnxOp &op, size_t i) {
  Types types;
  for (int dtype : {onnx::TensorProto::FLOAT, onnx::TensorProto::DOUBLE, onnx::TensorProto::INT64,
                    onnx::TensorProto::INT32, onnx::TensorProto::UINT8, onnx::TensorProto::BOOL})
    if (takesOperandOf(op, i, onnxElementType(dtype)))
      types.insert(dtypeName(dtype));
  return types;
}

Types inDefinition(const onnx::OpSchema::FormalParameter &operand) {
  Types types;
  for (const char *name : {"float", "double", "int64", "int32", "uint8", "bool"})
    for (const std::string *type : operand.GetTypes())
      if (*type == "tensor(" + std::string(name) + ")")
        types.insert(name);
  return types;
}

/// Operators whose first operands are taken as floats only, where ONNX has integers too.
const std::set<std::string> floatsOnly{"Einsum",   "Erf",          "Gemm",           "MatMul",
                                       "ReduceL2", "ReduceLogSum", "ReduceLogSumExp", "TopK"};
/// Operators that compute with what ONNX only moves.
const std::set<std::string> numbersOnly{"ScatterElements"};
/// Operators that ONNX has of float alone.
const std::set<std::string> doublesToo{"Celu"};
/// Operators that may be of booleans since opset 20.
const std::set<std::string> booleansToo{"ReduceMax", "ReduceMin"};

/// Debian's ONNX library knows operators up to opset 17; later ones are looked at by the cases of
/// test/frontend/onnx/conformance only.
TEST(OperandTypes, AreThoseOfTheDefinitions) {
  size_t compared = 0;
  for (const OnnxOp *op : allOnnxOps()) {
    std::string name = op->name.str();
    const onnx::OpSchema *schema = onnx::OpSchemaRegistry::Schema(name, maxOpset, "");
    if (!schema) {
      EXPECT_GT(op->since, 17) << name;
      continue;
    }
    EXPECT_LE(schema->inputs().size(), op->operandLimit()) << name;
    EXPECT_EQ(schema->max_input() == std::numeric_limits<int>::max(),
              op->operandLimit() == std::numeric_limits<size_t>::max())
        << name;
    std::map<std::string, std::string> letters; // by the variable of the type, those of operands
    for (auto [i, operand] : llvm::enumerate(schema->inputs())) {
      Types expected = inDefinition(operand);
      if (floatsOnly.count(name) && i < 3 && expected.count("float"))
        expected = {"float", "double"};
      if (numbersOnly.count(name))
        for (const char *type : {"bool", "uint8"})
          expected.erase(type);
      if (doublesToo.count(name))
        expected.insert("double");
      if (booleansToo.count(name) && i == 0)
        expected.insert("bool");
      EXPECT_EQ(taken(*op, i), expected) << name << ", operand " << i;
      letters[operand.GetTypeStr()] += op->operandClass(i);
      ++compared;
    }
    // Operands of one variable, if they can differ, have to be of one type.
    for (const auto &[variable, list] : letters)
      if (list.size() > 1 && list[0] != 'b' && list[0] != 'l')
        EXPECT_TRUE(llvm::all_of(list, llvm::isUpper)) << name << ": " << variable << " " << list;
  }
  EXPECT_GT(compared, 150u);
}

} // namespace
} // namespace colrow::testing
