//===- ConformanceTest.cpp - ONNX's conformance cases of every imported operator
//--------------------===//
//
// Each case is a folder with a model of one node (or the function that it stands for), operands and
// results. Those up to opset 17 come with Debian's libonnx-testdata, others from
// make_cases.py. A case runs twice: with operands as the graph's inputs, through the interpreter,
// and with all of them known, so that the importer folds everything.
//
//===------------------------------------------------------------------------------------------------===//

#include "ImportTesting.h"
#include "TestModels.h"

#include "frontend/onnx/OpTable.h"
#include "runtime/reference/InterpreterTypes.h"
#include "runtime/reference/Lookup.h"

#include <fnmatch.h>

namespace fs = std::filesystem;

namespace colrow::testing {
namespace {

constexpr const char *debianCases = "/usr/share/libonnx-testdata/data/node";

struct Exclusion {
  const char *pattern; ///< of the folder's name
  const char *reason;
};

/// What is left out, of the operators that are imported.
const Exclusion exclusions[] = {
    {"test_training_dropout*", "random bits of another generator"},
    {"test_*_float16", "element type float16"},
    {"test_cast*FLOAT16*", "element type float16 or bfloat16"},
    {"test_cast*STRING*", "strings"},
    {"test_*_int8*", "element type int8"},
    {"test_*_int16", "element type int16"},
    {"test_*_uint16", "element type uint16"},
    {"test_*_uint32", "element type uint32"},
    {"test_*_uint64", "element type uint64"},
    {"test_batchnorm_*_training_mode", "training mode is refused"},
    {"test_constantofshape_int_shape_zero", "a result without elements"},
    {"test_split_zero_size_splits", "results without elements"},
    {"test_reduce_sum_default_axes_keepdims_*", "an operand without elements"},
    {"test_reduce_sum_empty_axes_input_noop_*", "an operand without elements"},
    {"test_reduce_sum_negative_axes_keepdims_random", "an operand without elements"},
    {"test_reshape_allowzero_reordered", "an operand without elements"},
    {"test_tri[lu]_zero", "an operand without elements"},
    {"test_slice_start_out_of_bounds", "a result without elements"},
    {"test_*window*_expanded",
     "results computed with 3.1415 for pi, unlike the graph's own constant"},
    {"test_identity_opt", "optional values"},
    {"test_identity_sequence", "sequences"},
};

/// Cases of which only the form with known operands runs.
const Exclusion knownOnly[] = {
    {"test_gather_negative_indices", "indices that are inputs count from 0"},
    {"test_gather_elements_negative_indices", "indices that are inputs count from 0"},
    {"test_scatter_elements_with_negative_indices", "indices that are inputs count from 0"},
    {"test_opset20_gathernd_batch", "indices that are inputs count from 0"},
};

const Exclusion *findExclusion(llvm::ArrayRef<Exclusion> list, const std::string &name) {
  for (const Exclusion &exclusion : list)
    if (fnmatch(exclusion.pattern, name.c_str(), 0) == 0)
      return &exclusion;
  return nullptr;
}

onnx::ModelProto readModel(const fs::path &folder) {
  onnx::ModelProto model;
  EXPECT_TRUE(model.ParseFromString(readText(folder / "model.onnx"))) << folder;
  return model;
}

reference::Tensor readTensorFile(const fs::path &path) {
  onnx::TensorProto proto;
  EXPECT_TRUE(proto.ParseFromString(readText(path))) << path;
  return tensorFromProto(proto);
}

bool allImported(const onnx::GraphProto &graph) {
  return llvm::all_of(graph.node(), [](const onnx::NodeProto &node) {
    return (node.domain().empty() || node.domain() == "ai.onnx") && findOnnxOp(node.op_type());
  });
}

std::vector<fs::path> findCases() {
  std::vector<fs::path> cases;
  for (fs::path root : {fs::path(debianCases), fs::path(COLROW_CONFORMANCE_CASES)})
    if (fs::is_directory(root))
      for (const auto &entry : fs::directory_iterator(root))
        if (fs::exists(entry.path() / "model.onnx") && allImported(readModel(entry.path()).graph()))
          cases.push_back(entry.path());
  llvm::sort(cases);
  return cases;
}

class OnnxConformance : public ::testing::TestWithParam<fs::path> {
protected:
  void SetUp() override {
    name = GetParam().filename().string();
    if (const Exclusion *exclusion = findExclusion(exclusions, name))
      GTEST_SKIP() << "left out: " << exclusion->reason;
    onnx::ModelProto proto = readModel(GetParam());
    // An old case shows its operator as it still is: the file has the opset that brought it.
    for (auto &opset : *proto.mutable_opset_import())
      opset.set_version(std::max<int64_t>(opset.version(), minOpset));
    writeText(scratch / "model.onnx", proto.SerializeAsString());
    fs::path data = GetParam() / "test_data_set_0";
    for (int i = 0; i < proto.graph().input_size(); ++i)
      inputs[proto.graph().input(i).name()] =
          readTensorFile(data / ("input_" + std::to_string(i) + ".pb"));
    for (int i = 0; i < proto.graph().output_size(); ++i)
      outputs[proto.graph().output(i).name()] =
          readTensorFile(data / ("output_" + std::to_string(i) + ".pb"));
  }

  /// Imports with some inputs fixed and runs the rest. The error, or "".
  std::string run(const NamedTensors &fixed) {
    TestContext test;
    ImportOptions options;
    options.fixedInputs = fixed;
    auto module = importOnnx(test.context, scratch / "model.onnx", options);
    if (failed(module))
      return test.firstError();
    decompose(**module);
    NamedTensors arguments = inputs;
    arguments["colrow.random"] = reference::Tensor::integers({4}, {1, 1, 0, 0});
    InterpreterResult result = interpret(**module, "main", arguments);
    for (const auto &[output, expected] : outputs)
      compare(output, result.get(output), expected);
    return "";
  }

  void compare(const std::string &output, const reference::Tensor &actual,
               const reference::Tensor &expected) {
    ASSERT_EQ(actual.type(), expected.type()) << output;
    ASSERT_EQ(actual.shape(), expected.shape()) << output;
    std::vector<double> a = actual.toFloats(), e = expected.toFloats();
    for (size_t i = 0; i < a.size(); ++i) {
      bool close = a[i] == e[i] || (std::isnan(a[i]) && std::isnan(e[i]));
      if (expected.isFloat()) // what was expected was computed in float32
        close = close || std::abs(a[i] - e[i]) <= 1e-6 + 1e-5 * std::abs(e[i]);
      ASSERT_TRUE(close) << output << " element " << i << ": " << a[i] << ", expected " << e[i];
    }
  }

  std::string name;
  ScratchFolder scratch;
  NamedTensors inputs, outputs;
};

bool mustBeKnown(const std::string &error) {
  return error.find("to be known at compile time") != std::string::npos;
}

TEST_P(OnnxConformance, Runs) {
  if (const Exclusion *exclusion = findExclusion(knownOnly, name))
    GTEST_SKIP() << "with known operands only: " << exclusion->reason;
  std::string error = run({});
  if (mustBeKnown(error)) {
    // Shapes, axes, ratios: integers and single numbers.
    NamedTensors fixed;
    for (const auto &[input, value] : inputs)
      if (!value.isFloat() || value.size() <= 1)
        fixed[input] = value;
    error = run(fixed);
  }
  EXPECT_EQ(error, "");
}

TEST_P(OnnxConformance, Folds) { EXPECT_EQ(run(inputs), ""); }

std::string caseName(const ::testing::TestParamInfo<fs::path> &info) {
  return info.param.filename().string().substr(strlen("test_"));
}

INSTANTIATE_TEST_SUITE_P(Node, OnnxConformance, ::testing::ValuesIn(findCases()), caseName);

/// Nothing is left out by a pattern that no case has.
TEST(OnnxConformanceList, ExclusionsAreUsed) {
  if (!fs::is_directory(debianCases))
    GTEST_SKIP() << "libonnx-testdata is not installed";
  std::vector<fs::path> cases = findCases();
  for (llvm::ArrayRef<Exclusion> list : {llvm::ArrayRef(exclusions), llvm::ArrayRef(knownOnly)})
    for (const Exclusion &exclusion : list)
      EXPECT_TRUE(llvm::any_of(cases, [&](const fs::path &path) {
        return fnmatch(exclusion.pattern, path.filename().c_str(), 0) == 0;
      })) << exclusion.pattern;
}

/// Each operator of the table has a case.
TEST(OnnxConformanceList, EveryOperatorHasACase) {
  if (!fs::is_directory(debianCases))
    GTEST_SKIP() << "libonnx-testdata is not installed";
  std::set<std::string> tested;
  for (const fs::path &path : findCases()) {
    onnx::ModelProto model = readModel(path);
    if (!findExclusion(exclusions, path.filename().string()))
      for (const onnx::NodeProto &node : model.graph().node())
        tested.insert(node.op_type());
  }
  for (const OnnxOp *op : allOnnxOps())
    EXPECT_TRUE(tested.count(op->name.str())) << op->name.str() << " has no conformance case";
}

} // namespace
} // namespace colrow::testing
