//===- ModelMutationTest.cpp - mutants of real models ----------------------===//

#include "frontend/onnx/Import.h"
#include "passes/Pipelines.h"
#include "test/Execute/Programs.h"
#include "test/Execute/SingleOp.h"

#include "mlir/Pass/PassManager.h"

#include <gtest/gtest.h>

using namespace mlir;

namespace colrow::test {
namespace {

struct Model {
  const char *name, *folder, *axes, *raise;
  int fewest; ///< mutants there are at least
  std::map<std::string, int64_t> symbols = {};
};

void PrintTo(const Model &model, std::ostream *os) { *os << model.name; }

class ModelMutation : public testing::TestWithParam<Model> {};

TEST_P(ModelMutation, EveryMutantIsRejectedByANumberedRule) {
  const Model &model = GetParam();
  ImportOptions import;
  import.batch = 2;
  import.sequence = 8;
  import.bindings = model.symbols;
  FailureOr<OwningOpRef<ModuleOp>> module = importOnnx(
      testContext(), std::string(COLROW_TEST_MODELS "/") + model.folder + "/model.onnx", import);
  ASSERT_TRUE(succeeded(module));
  PipelineOptions options;
  options.axes = SmallVector<std::string>{model.axes};
  options.raise = std::string(model.raise);
  PassManager passes(&testContext());
  buildShardedPipeline(passes, options);
  ASSERT_TRUE(succeeded(passes.run(**module)));
  expectAllMutantsRejected(**module, model.name, model.fewest);
}

// Four ranks of Llama's two heads of keys and values are a grid of two axes.
INSTANTIATE_TEST_SUITE_P(Models, ModelMutation,
                         testing::Values(Model{"gpt2", "gpt2-tiny", "tp=2", "all", 400},
                                         Model{"gpt2Primitive", "gpt2-tiny", "tp=2", "none", 400},
                                         Model{"llamaFactored", "llama-tiny", "tp=4", "all", 400},
                                         Model{"t5", "t5-tiny", "tp=2", "all", 400,
                                               {{"target", 6}}}),
                         [](const auto &info) { return std::string(info.param.name); });

} // namespace
} // namespace colrow::test
