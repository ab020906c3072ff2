//===- ImportModelsTest.cpp - real exports compute what PyTorch computes
//----------------------------===//

#include "ImportTesting.h"
#include "TestModels.h"

namespace colrow::testing {
namespace {

class ImportModels : public ::testing::TestWithParam<const char *> {};

TEST_P(ImportModels, LogitsEqualPyTorch) {
  std::filesystem::path path = realModel(GetParam());
  OnnxModel model = OnnxModel::load(path);
  ParameterTable table = sortParameters(model);
  TestContext test;
  ImportOptions options;
  options.batch = 4;
  options.sequence = 32;
  auto module = importOnnx(test.context, model, table, options);
  ASSERT_TRUE(succeeded(module)) << test.firstError();
  decompose(**module);

  SafetensorsFile batches(path.parent_path() / "reference.safetensors");
  SafetensorsFile exact(path.parent_path() / "reference64.safetensors");
  NamedTensors inputs = parameterValues(model, table);
  inputs["input_ids"] = integersOf(batches, "batch.input_ids", 0);
  if (batches.find("batch.labels"))
    inputs["labels"] = integersOf(batches, "batch.labels", 0);
  inputs["colrow.random"] = reference::Tensor::integers({4}, {1, 1, 0, 0}); // dropout off
  InterpreterResult result = interpret(**module, "main", inputs);
  reference::Tensor expected = doublesOf(exact, "logits");
  ASSERT_EQ(result.get("logits").shape(), expected.shape());
  double difference = reference::maxDifference(result.get("logits"), expected);
  EXPECT_LT(difference, 1e-10);
  if (model.graph().output_size() > 1) {
    difference = reference::maxDifference(result.get("loss"), doublesOf(exact, "loss"));
    EXPECT_LT(difference, 1e-10);
  }
}

INSTANTIATE_TEST_SUITE_P(Gpt2, ImportModels,
                         ::testing::Values("gpt2-tiny", "gpt2-tiny-dynamo", "gpt2-fresh",
                                           "gpt2-fresh-dynamo", "gpt2-tiny-train",
                                           "gpt2-tiny-train-dynamo", "gpt2-tiny-loss",
                                           "gpt2-tiny-loss-dynamo"),
                         [](const auto &info) {
                           std::string name = info.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

} // namespace
} // namespace colrow::testing
