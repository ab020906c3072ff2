//===- Pipelines.cpp - the passes in order --------------------------------===//

#include "passes/Pipelines.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"
#include "passes/differentiate/Passes.h"
#include "passes/localize/Passes.h"
#include "passes/lower/Passes.h"
#include "passes/objective/Passes.h"
#include "passes/optimizer/Passes.h"
#include "passes/raise/Passes.h"
#include "passes/raise/Recognisers.h"
#include "passes/shard/Passes.h"

using namespace mlir;

namespace colrow {

static std::vector<std::string> namesOf(StringRef choice) {
  std::vector<std::string> names;
  for (StringRef name : llvm::split(choice, ','))
    names.push_back(name.str());
  return names;
}

std::string checkRaise(StringRef choice) {
  if (choice == "all" || choice == "none")
    return "";
  std::string wrong = checkRecognisers(namesOf(choice));
  return wrong.empty() ? "" : wrong + "; or all, or none";
}

bool RaiseParser::parse(llvm::cl::Option &option, StringRef, StringRef value,
                        std::string &result) {
  if (std::string wrong = checkRaise(value); !wrong.empty())
    return option.error(wrong);
  result = value.str();
  return false;
}

void buildObjectivePipeline(OpPassManager &passes, const PipelineOptions &options) {
  passes.addPass(createWidenConstants());
  if (options.raise != "none") {
    RaiseOptions raise;
    if (options.raise != "all")
      raise.only = llvm::to_vector(namesOf(options.raise));
    passes.addPass(createRaise(raise));
  }
  ObjectiveOptions objective;
  objective.objective = options.objective;
  objective.lossName = options.loss;
  objective.logitsName = options.logits;
  objective.labelSmoothing = options.labelSmoothing;
  objective.zLoss = options.zLoss;
  passes.addPass(createObjective(objective));
}

void buildForwardPipeline(OpPassManager &passes, const PipelineOptions &options) {
  buildObjectivePipeline(passes, options);
  if (options.raise == "none")
    passes.addPass(createDecompose());
  if (!options.axes.empty()) {
    SetGridOptions grid;
    grid.axes = llvm::to_vector(options.axes);
    passes.addPass(createSetGrid(grid));
    ShardOptions shard;
    shard.layout = llvm::to_vector(options.layout);
    shard.isRequired = options.requireSharded;
    passes.addPass(createShard(shard));
  }
}

void buildShardedPipeline(OpPassManager &passes, const PipelineOptions &options) {
  buildForwardPipeline(passes, options);
  passes.addPass(createEvaluate());
  if (options.raise != "none")
    passes.addPass(createFuseLoss());
  passes.addPass(createDifferentiate());
  passes.addPass(createOptimizer());
  // One f for each value, one constant for each splat.
  passes.addPass(createCSEPass());
}

void buildReferencePipeline(OpPassManager &passes, const PipelineOptions &options) {
  buildShardedPipeline(passes, options);
  passes.addPass(createDecompose());
  passes.addPass(createLocalize());
}

void buildTrainerPipeline(OpPassManager &passes, const PipelineOptions &options) {
  buildShardedPipeline(passes, options);
  passes.addPass(createRoundConstants());
  passes.addPass(createLocalize());
  passes.addPass(createJoinPads());
  passes.addPass(createAccumulate());
  // Where f was, two values are now one.
  passes.addPass(createCSEPass());
  passes.addPass(createRecompute());
  passes.addPass(createRepeatViews());
  passes.addPass(createOutline());
}

void registerColrowPipelines() {
  PassPipelineRegistration<PipelineOptions>("colrow-to-forward",
                                            "an imported model to its sharded forward program",
                                            buildForwardPipeline);
  PassPipelineRegistration<PipelineOptions>(
      "colrow-to-sharded", "an imported model to its sharded, differentiated program",
      buildShardedPipeline);
  PassPipelineRegistration<PipelineOptions>(
      "colrow-to-reference", "an imported model to one rank's program for the interpreter",
      buildReferencePipeline);
  PassPipelineRegistration<PipelineOptions>(
      "colrow-to-trainer", "an imported model to one rank's program for emission",
      buildTrainerPipeline);
}

} // namespace colrow
