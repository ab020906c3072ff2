//===- ModelMutationTest.cpp - mutants of a real model ---------------------===//

#include "frontend/onnx/Import.h"
#include "passes/Pipelines.h"
#include "test/Execute/Programs.h"
#include "test/Execute/SingleOp.h"

#include "mlir/Pass/PassManager.h"

#include <gtest/gtest.h>

using namespace mlir;

namespace colrow::test {
namespace {

class ModelMutation : public testing::TestWithParam<const char *> {};

TEST_P(ModelMutation, EveryMutantOfGpt2IsRejectedByANumberedRule) {
  ImportOptions import;
  import.batch = 2;
  import.sequence = 8;
  FailureOr<OwningOpRef<ModuleOp>> module =
      importOnnx(testContext(), COLROW_TEST_MODELS "/gpt2-tiny/model.onnx", import);
  ASSERT_TRUE(succeeded(module));
  PipelineOptions options;
  options.axes = SmallVector<std::string>{"tp=2"};
  options.raise = std::string(GetParam());
  PassManager passes(&testContext());
  buildShardedPipeline(passes, options);
  ASSERT_TRUE(succeeded(passes.run(**module)));
  expectAllMutantsRejected(**module, std::string("gpt2-tiny, raise=") + GetParam(), 400);
}

INSTANTIATE_TEST_SUITE_P(Raise, ModelMutation, testing::Values("all", "none"),
                         [](const auto &info) { return std::string(info.param); });

} // namespace
} // namespace colrow::test
