//===- Model.h - what every subcommand does with its model ----------------===//
#pragma once

#include "mlir/IR/MLIRContext.h"
#include "passes/Pipelines.h"
#include "passes/emit/Emit.h"
#include "tools/colrow/ModelFile.h"

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace colrow {

/// The options that say which program a model becomes.
struct ModelOptions {
  std::string model;
  std::optional<int64_t> batch, sequence;
  /// Where neither command line nor file say a size; without them that is an error.
  std::optional<int64_t> defaultBatch, defaultSequence;
  std::vector<std::string> bindings; ///< NAME=SIZE
  /// Shapes of the graph's inputs where they are known, by name: symbols that the options above do
  /// not bind have the sizes that are there; 0 is not known.
  std::map<std::string, std::vector<int64_t>> inputShapes;
  ParameterOptions parameters;
  std::string objective = "auto", loss, logits, raise = "all";
  std::vector<std::string> layout; ///< PATTERN=shard<DIMENSION> or PATTERN=whole
  bool requireSharded = false;
  double labelSmoothing = 0, zLoss = 0;
  bool remarks = false;
};

/// Adds those about ties and lost biases to a subcommand.
void addParameterOptions(CLI::App &app, ParameterOptions &options);

/// Adds them all.
void addModelOptions(CLI::App &app, ModelOptions &options);

/// A model file, read and imported once; programs for several grids are made of it.
class Model {
public:
  /// Throws Error with everything the frontend had to say.
  explicit Model(const ModelOptions &options);

  const ModelFile &file() const { return *source; }
  const ParameterList &parameters() const { return source->parameters(); }
  const ModelOptions &options() const { return chosen; }
  /// Which of --batch and --sequence have their default.
  const std::vector<std::string> &assumed() const { return assumedSizes; }

  /// Rows of a microbatch and tokens of a row; 1 where the model has no such symbol.
  int64_t batch() { return boundSize("colrow.batch"); }
  int64_t sequence() { return boundSize("colrow.sequence"); }

  /// The module as imported.
  mlir::ModuleOp imported() { return *module; }

  /// A copy run through a pipeline. `ranks` is tp. Throws Error with the first diagnostic.
  mlir::OwningOpRef<mlir::ModuleOp>
  compile(int64_t ranks,
          const std::function<void(mlir::OpPassManager &, const PipelineOptions &)> &pipeline);

  /// Parameters and inputs as they will be in every trainer, after what is quick of compiling it; the
  /// parameters are those of one rank. Throws Error, also where the objective does not fit the graph.
  ProgramInfo describeInputs();

  /// Parameters and inputs of a trainer for tp = `ranks`. Throws Error.
  ProgramInfo describe(int64_t ranks);

  /// The source of a trainer for tp = `ranks`. Throws Error.
  ProgramFiles emit(int64_t ranks);

private:
  ProgramInfo
  describe(int64_t ranks,
           const std::function<void(mlir::OpPassManager &, const PipelineOptions &)> &pipeline);
  int64_t boundSize(llvm::StringRef attribute);

  ModelOptions chosen;
  std::vector<std::string> assumedSizes;
  mlir::MLIRContext context;
  std::unique_ptr<ModelFile> source;
  mlir::OwningOpRef<mlir::ModuleOp> module;
};

} // namespace colrow
