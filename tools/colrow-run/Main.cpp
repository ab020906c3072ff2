//===- colrow-run: runs IR on thread ranks, the oracle ---------------------===//

#include "dialect/Colrow.h"
#include "passes/localize/Passes.h"
#include "passes/raise/Passes.h"
#include "runtime/reference/Interpreter.h"
#include "runtime/reference/InterpreterTypes.h"
#include "tools/colrow-run/RandomInputs.h"

#include "colrow/Error.h"
#include "colrow/File.h"
#include "colrow/Safetensors.h"

#include "mlir/Parser/Parser.h"
#include "mlir/Support/FileUtilities.h"
#include "llvm/Support/SourceMgr.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

using namespace mlir;
using namespace colrow;
using reference::Tensor;

namespace {

struct Options {
  std::string file, function = "main", inputs, output, json, precision = "f64";
  double deadlockLimit = 60;
  uint64_t seed = 1;
};

constexpr const char *examples = R"(Examples:
  colrow-run model.mlir                       random inputs, a line for each result
  colrow-run model.mlir --precision f32 --seed 7
  colrow-run sharded.mlir --inputs batch.safetensors --output results.safetensors
  colrow-run step.mlir --function forward_backward --deadlock-limit 10

The number of ranks is that of the module's grid: colrow-opt --colrow-set-grid=axes=tp=2 sets it.
Tensors are whole in both files, under the names of the function's arguments and results; a
gradient's name ends in .gradient.
Exit codes: 0 done, 1 bad input or a failed run, 2 wrong usage.)";

Tensor readTensor(const SafetensorsFile &file, const TensorEntry &entry) {
  auto raw = [&](reference::ElementType type) {
    return Tensor::fromBytes(type, entry.shape, entry.data, entry.bytes);
  };
  switch (entry.type) {
  case colrow::TensorType::F32:
    return raw(reference::ElementType::f32);
  case colrow::TensorType::F64:
    return raw(reference::ElementType::f64);
  case colrow::TensorType::I64:
    return raw(reference::ElementType::i64);
  case colrow::TensorType::I32:
    return raw(reference::ElementType::i32);
  case colrow::TensorType::U8:
    return raw(reference::ElementType::u8);
  case colrow::TensorType::BOOL:
    return raw(reference::ElementType::b1);
  case colrow::TensorType::F16:
  case colrow::TensorType::BF16:
    return Tensor::floats(entry.shape, file.readDoubles(entry));
  default:
    return Tensor::integers(entry.shape, file.readIntegers(entry));
  }
}

std::map<std::string, Tensor> readInputs(const std::string &path) {
  SafetensorsFile file(path);
  std::map<std::string, Tensor> inputs;
  for (const TensorEntry &entry : file.tensors())
    inputs[entry.name] = readTensor(file, entry);
  return inputs;
}

/// Floats as the interpreter computed them: doubles under fp64.
void writeOutputs(const std::string &path, const InterpreterResult &result,
                  reference::Precision precision) {
  std::vector<TensorData> tensors;
  for (const NamedTensor &output : result.outputs) {
    const reference::Shape &shape = output.value.shape();
    if (!output.value.isFloat()) {
      tensors.push_back(
          TensorData::integers(output.key, shape, output.value.toIntegers().data()));
      continue;
    }
    std::vector<double> values = output.value.toFloats();
    if (precision == reference::Precision::f64) {
      tensors.push_back(TensorData::doubles(output.key, shape, values.data()));
    } else {
      std::vector<float> floats(values.begin(), values.end());
      tensors.push_back(TensorData::floats(output.key, shape, floats.data()));
    }
  }
  writeSafetensors(path, tensors, {{"precision", reference::toString(precision == reference::Precision::f64
                                                              ? reference::ElementType::f64
                                                              : reference::ElementType::f32)}});
}

double norm(const std::vector<double> &values) {
  double sum = 0;
  for (double value : values)
    sum += value * value;
  return std::sqrt(sum);
}

/// "tp=2" for a grid of one axis, "1 rank" where there is none.
std::string describe(GridAttr grid) {
  std::string text;
  for (const GridAxis &axis : gridAxes(grid))
    text += fmt::format("{}{}={}", text.empty() ? "" : ", ", axis.name, axis.size);
  int64_t ranks = grid ? grid.numRanks() : 1;
  return fmt::format("{} rank{}{}", ranks, ranks == 1 ? "" : "s",
                     text.empty() ? "" : " (" + text + ")");
}

void report(const InterpreterResult &result) {
  size_t width = 6;
  for (const NamedTensor &output : result.outputs)
    width = std::max(width, output.key.size());
  fmt::print("{:<{}}  {:<10}{:<16}{:<24}{}\n", "result", width, "role", "shape", "norm",
             "first values");
  for (const NamedTensor &output : result.outputs) {
    std::vector<double> values = output.value.toFloats();
    std::string first;
    for (size_t i = 0; i < std::min<size_t>(values.size(), 4); ++i)
      first += fmt::format("{}{:.6g}", i ? " " : "", values[i]);
    fmt::print("{:<{}}  {:<10}{:<16}{:<24.16g}{}{}\n", output.key, width, output.role,
               "[" + reference::toString(output.value.shape()) + "]", norm(values), first,
               values.size() > 4 ? " ..." : "");
  }
}

void writeJson(const std::string &path, const Options &options, GridAttr grid,
               const InterpreterResult &result) {
  nlohmann::json json = {{"file", options.file},
                         {"function", options.function},
                         {"precision", options.precision},
                         {"grid", nlohmann::json::object()},
                         {"results", nlohmann::json::array()}};
  for (const GridAxis &axis : gridAxes(grid))
    json["grid"][axis.name] = axis.size;
  for (const NamedTensor &output : result.outputs)
    json["results"].push_back({{"name", output.key},
                               {"role", output.role},
                               {"shape", output.value.shape()},
                               {"norm", norm(output.value.toFloats())}});
  writeTextFile(path, json.dump(2) + "\n");
}

OwningOpRef<ModuleOp> parse(const std::string &path, MLIRContext &context,
                            llvm::SourceMgr &sources) {
  std::string message;
  std::unique_ptr<llvm::MemoryBuffer> buffer = openInputFile(path, &message);
  if (!buffer)
    throw Error(message);
  sources.AddNewSourceBuffer(std::move(buffer), llvm::SMLoc());
  return parseSourceFile<ModuleOp>(sources, &context);
}

int run(const Options &options) {
  DialectRegistry registry;
  registry.insert<ColrowDialect, func::FuncDialect>();
  MLIRContext context(registry);
  llvm::SourceMgr sources;
  SourceMgrDiagnosticHandler handler(sources, &context);
  OwningOpRef<ModuleOp> module = parse(options.file, context, sources);
  if (!module)
    return 1; // said by the handler, with the line
  auto function = module->lookupSymbol<func::FuncOp>(options.function);
  std::map<std::string, Tensor> inputs;
  if (!options.inputs.empty())
    inputs = readInputs(options.inputs);
  else if (function)
    inputs = randomInputs(function, options.seed);

  PassManager passes(&context);
  passes.addPass(createDecompose());
  passes.addPass(createLocalize());
  if (failed(passes.run(*module)))
    return 1;
  InterpreterOptions how;
  how.precision =
      options.precision == "f32" ? reference::Precision::f32 : reference::Precision::f64;
  how.deadlockLimit = options.deadlockLimit;
  how.seed = options.seed;
  InterpreterResult result = interpret(*module, options.function, inputs, how);
  GridAttr grid = getGrid(*module);
  fmt::print("@{} on {}, {}{}\n", options.function, describe(grid), options.precision,
             options.inputs.empty() ? fmt::format(", random inputs (seed {})", options.seed) : "");
  report(result);
  if (!options.output.empty())
    writeOutputs(options.output, result, how.precision);
  if (!options.json.empty())
    writeJson(options.json, options, grid, result);
  return 0;
}

} // namespace

int main(int argc, char **argv) {
  Options options;
  CLI::App app("Runs colrow IR with the reference interpreter: one thread for each rank of the "
               "module's grid, whole tensors in and out.",
               "colrow-run");
  app.footer(examples);
  app.set_version_flag("--version", "colrow-run " COLROW_VERSION);
  app.add_option("file", options.file, "IR as text or bytecode; - reads standard input")
      ->required();
  app.add_option("--function", options.function, "what to run")->capture_default_str();
  app.add_option("--inputs", options.inputs, "safetensors file with the arguments; random without");
  app.add_option("--output", options.output, "safetensors file for the results");
  app.add_option("--json", options.json, "file for the summary as JSON");
  app.add_option("--precision", options.precision, "f64: every float a double; f32: rounded")
      ->check(CLI::IsMember({"f64", "f32"}))
      ->capture_default_str();
  app.add_option("--seed", options.seed, "of random inputs and of summands of partial arguments")
      ->capture_default_str();
  app.add_option("--deadlock-limit", options.deadlockLimit,
                 "seconds a rank may wait in one collective")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError &error) {
    return app.exit(error) ? 2 : 0;
  }
  try {
    return run(options);
  } catch (const std::exception &error) {
    fmt::print(stderr, "error: {}\n", error.what());
    return 1;
  }
}
