//===- Pipelines.h - the passes in order ----------------------------------===//
#pragma once

#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassOptions.h"

#include <string>

namespace colrow {

/// What is wrong with a choice of recognisers, "all", "none" or names with commas between them; empty
/// if nothing is.
std::string checkRaise(llvm::StringRef choice);

/// Refuses a choice with what checkRaise says.
struct RaiseParser : llvm::cl::parser<std::string> {
  using parser::parser;
  bool parse(llvm::cl::Option &option, llvm::StringRef name, llvm::StringRef value,
             std::string &result);
};

/// What the pipelines of colrow-opt and the drivers take.
struct PipelineOptions : mlir::PassPipelineOptions<PipelineOptions> {
  ListOption<std::string> axes{*this, "axes",
                               llvm::cl::desc("axes of the grid and their sizes, such as tp=4; "
                                              "none: one rank")};
  Option<std::string> objective{*this, "objective", llvm::cl::desc("see colrow-objective"),
                                llvm::cl::init("auto")};
  ListOption<std::string> layout{*this, "layout", llvm::cl::desc("see colrow-shard")};
  Option<bool> requireSharded{*this, "require-sharded", llvm::cl::desc("see colrow-shard"),
                              llvm::cl::init(false)};
  Option<std::string> loss{*this, "loss", llvm::cl::desc("the output that is the loss")};
  Option<std::string> logits{*this, "logits",
                             llvm::cl::desc("the output that an added loss takes as logits")};
  Option<double> labelSmoothing{*this, "label-smoothing", llvm::cl::desc("see colrow.cross_entropy")};
  Option<double> zLoss{*this, "z-loss", llvm::cl::desc("see colrow.cross_entropy")};
  Option<std::string, RaiseParser> raise{
      *this, "raise",
      llvm::cl::desc("recognisers that run, such as gelu,layer_norm; all; or none: only primitive "
                     "operations"),
      llvm::cl::init("all")};
};

/// As imported to one rank's forward program with its loss: raise, objective.
void buildObjectivePipeline(mlir::OpPassManager &passes, const PipelineOptions &options);

/// As imported to the forward program, global IR with layouts: raise, objective, shard.
void buildForwardPipeline(mlir::OpPassManager &passes, const PipelineOptions &options);

/// The same with the four functions: differentiate, optimizer.
void buildShardedPipeline(mlir::OpPassManager &passes, const PipelineOptions &options);

/// All of that to one rank's program, ready for the interpreter: big operations decomposed.
void buildReferencePipeline(mlir::OpPassManager &passes, const PipelineOptions &options);

/// All of that to one rank's program, ready for emission: big operations stay, gradients are added
/// in place, every repeated layer is one function.
void buildTrainerPipeline(mlir::OpPassManager &passes, const PipelineOptions &options);

/// Names them for colrow-opt: --colrow-to-forward, --colrow-to-sharded, --colrow-to-reference,
/// --colrow-to-trainer.
void registerColrowPipelines();

} // namespace colrow
