//===- Model.cpp - what every subcommand does with its model --------------===//

#include "tools/colrow/Model.h"
#include "colrow/Error.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Pass/PassManager.h"
#include "tools/Checks.h"

#include <CLI/CLI.hpp>
#include <cstdio>

using namespace mlir;

namespace colrow {

void addParameterOptions(CLI::App &app, ParameterOptions &options) {
  app.add_option("--tie", options.tie, "A=B: B is the same parameter as A");
  app.add_option("--untie", options.untie, "parameters that are not to be tied");
  app.add_option("--restore-bias", options.restoreBias, "products that get a bias of zeros");
}

void addModelOptions(CLI::App &app, ModelOptions &options) {
  app.add_option("model", options.model, "the exported model, or one in Colrow's language (*.colrow)")
      ->required()
      ->type_name("MODEL");
  app.add_option("--batch", options.batch, "rows of a microbatch")->check(atLeastOne);
  app.add_option("--sequence", options.sequence, "tokens of a row")->check(atLeastOne);
  app.add_option("--bind", options.bindings, "sizes of other symbols of the model")
      ->type_name("NAME=SIZE,...")
      ->delimiter(',');
  app.add_option("--objective", options.objective, "the training loss")
      ->check(CLI::IsMember({"auto", "causal_lm", "next_token", "masked_lm", "seq2seq", "classification"}))
      ->capture_default_str();
  app.add_option("--loss", options.loss,
                 "the output that is the loss, where the graph has several scalars")
      ->type_name("OUTPUT");
  app.add_option("--logits", options.logits,
                 "the output that an added loss takes as logits, where several could be")
      ->type_name("OUTPUT");
  app.add_option("--label-smoothing", options.labelSmoothing,
                 "share of the loss that is the mean over all classes, as in PyTorch's cross_entropy")
      ->check(CLI::Range(0.0, 1.0))
      ->capture_default_str();
  app.add_option("--z-loss", options.zLoss,
                 "this times the square of logsumexp of the logits is added to the loss, as in PaLM")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  app.add_option("--raise", options.raise,
                 "bigger operations to recognise: all, none (primitive operations only), or some, "
                 "such as attention,gelu")
      ->check([](const std::string &choice) { return checkRaise(choice); })
      ->capture_default_str();
  app.add_option("--layout", options.layout,
                 "cuts to choose, PARAMETER=shard<DIMENSION>, or never, PARAMETER=whole; * stands for "
                 "any part of a name");
  app.add_flag("--require-sharded", options.requireSharded,
               "an error where every rank would hold the whole weight of a product");
  addParameterOptions(app, options.parameters);
  app.add_flag("--remarks", options.remarks, "say what was decided about parameters");
}

/// Collects what MLIR reports while it lives: errors for an exception, warnings and, where they are
/// wanted, remarks to stderr.
class Diagnostics {
public:
  Diagnostics(MLIRContext &context, bool remarks)
      : handler(&context, [this, remarks](Diagnostic &diagnostic) {
          if (diagnostic.getSeverity() == DiagnosticSeverity::Error) {
            if (first.empty())
              first = diagnostic.str();
          } else if (diagnostic.getSeverity() == DiagnosticSeverity::Warning) {
            std::fprintf(stderr, "warning: %s\n", diagnostic.str().c_str());
          } else if (remarks) {
            std::fprintf(stderr, "remark: %s\n", diagnostic.str().c_str());
          }
          return success();
        }) {}
  [[noreturn]] void raise(const std::string &fallback) {
    throw Error(first.empty() ? fallback : first);
  }

private:
  std::string first;
  ScopedDiagnosticHandler handler;
};

static std::map<std::string, int64_t> parseBindings(const std::vector<std::string> &texts) {
  std::map<std::string, int64_t> bindings;
  for (const std::string &text : texts) {
    auto [name, size] = StringRef(text).split('=');
    int64_t value = 0;
    if (name.empty() || size.getAsInteger(10, value) || value < 1)
      throw Error("--bind expects NAME=SIZE with a size of at least 1, got '" + text + "'");
    bindings[name.str()] = value;
  }
  return bindings;
}

Model::Model(const ModelOptions &options)
    : chosen(options), context(MLIRContext::Threading::DISABLED),
      source(ModelFile::open(options.model, options.parameters)) {
  std::vector<GraphInput> inputs = source->inputs();
  ImportOptions import;
  import.bindings = parseBindings(options.bindings);
  for (const GraphInput &input : inputs) {
    auto shape = options.inputShapes.find(input.name);
    if (shape == options.inputShapes.end() || shape->second.size() != input.dims.size())
      continue;
    for (auto [dim, size] : llvm::zip(input.dims, shape->second)) {
      bool isGiven = (chosen.batch && dim.symbol == symbolOfBatch(inputs)) ||
                     (chosen.sequence && dim.symbol == symbolOfSequence(inputs));
      if (!dim.symbol.empty() && !isGiven && size > 0)
        import.bindings.try_emplace(dim.symbol, size);
    }
  }
  auto assume = [&](const char *option, std::optional<int64_t> &size,
                    std::optional<int64_t> defaultSize, const std::string &symbol) {
    if (size || !defaultSize || symbol.empty() || import.bindings.count(symbol))
      return;
    size = defaultSize;
    assumedSizes.push_back(option);
  };
  assume("--batch", chosen.batch, options.defaultBatch, symbolOfBatch(inputs));
  assume("--sequence", chosen.sequence, options.defaultSequence, symbolOfSequence(inputs));
  import.batch = chosen.batch;
  import.sequence = chosen.sequence;
  import.parameters = options.parameters;
  Diagnostics diagnostics(context, options.remarks);
  auto result = source->import(context, import);
  if (failed(result))
    diagnostics.raise("'" + options.model + "' could not be imported");
  module = std::move(*result);
}

int64_t Model::boundSize(StringRef attribute) {
  auto size = (*module)->getAttrOfType<IntegerAttr>(attribute);
  return size ? size.getInt() : 1;
}

OwningOpRef<ModuleOp>
Model::compile(int64_t ranks,
               const std::function<void(OpPassManager &, const PipelineOptions &)> &pipeline) {
  OwningOpRef<ModuleOp> program(module->clone());
  PipelineOptions options;
  options.objective = chosen.objective;
  options.loss = chosen.loss;
  options.logits = chosen.logits;
  options.labelSmoothing = chosen.labelSmoothing;
  options.zLoss = chosen.zLoss;
  options.raise = chosen.raise;
  if (ranks > 1) {
    std::string axis = "tp=" + std::to_string(ranks);
    options.axes.push_back(axis);
    for (const std::string &wish : chosen.layout)
      options.layout.push_back(wish);
    options.requireSharded = chosen.requireSharded;
  }
  PassManager passes(&context, ModuleOp::getOperationName());
  pipeline(passes, options);
  Diagnostics diagnostics(context, chosen.remarks);
  if (failed(passes.run(*program)))
    diagnostics.raise("'" + chosen.model + "' could not be compiled for tp=" +
                      std::to_string(ranks));
  return program;
}

ProgramInfo Model::describeInputs() { return describe(1, buildObjectivePipeline); }

ProgramInfo Model::describe(int64_t ranks) { return describe(ranks, buildTrainerPipeline); }

ProgramInfo Model::describe(
    int64_t ranks, const std::function<void(OpPassManager &, const PipelineOptions &)> &pipeline) {
  OwningOpRef<ModuleOp> program = compile(ranks, pipeline);
  Diagnostics diagnostics(context, chosen.remarks);
  FailureOr<ProgramInfo> info = describeProgram(*program);
  if (failed(info))
    diagnostics.raise("'" + chosen.model + "' could not be compiled");
  return *info;
}

ProgramFiles Model::emit(int64_t ranks) {
  OwningOpRef<ModuleOp> program = compile(ranks, buildTrainerPipeline);
  Diagnostics diagnostics(context, chosen.remarks);
  FailureOr<ProgramFiles> files = emitProgram(*program);
  if (failed(files))
    diagnostics.raise("'" + chosen.model + "' could not be emitted");
  return *files;
}

} // namespace colrow
