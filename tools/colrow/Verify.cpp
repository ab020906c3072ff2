//===- Verify.cpp - colrow verify -----------------------------------------===//

#include "tools/colrow/Verify.h"
#include "colrow/Error.h"
#include "colrow/File.h"
#include "dialect/Colrow.h"
#include "tools/Checks.h"
#include "tools/colrow/Compare.h"
#include "tools/colrow/InterpretedRun.h"
#include "tools/colrow/Noise.h"
#include "tools/colrow/Trainer.h"
#include "tools/colrow/Weights.h"

#include <CLI/CLI.hpp>
#include <filesystem>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <optional>
#include <random>

namespace colrow {

/// Of the interpreter in fp64: against PyTorch's float64, and of one grid against one rank.
static constexpr double referenceLimit64 = 1e-10, gridLimit64 = 1e-11;
/// Of the emitted program in fp32, against either (test/models/README.md, Tolerances).
static constexpr double limit32 = 1e-5;

void addVerify(CLI::App &app, VerifyOptions &options) {
  addModelOptions(app, options.model);
  app.add_option("--tp", options.ranks, "tensor parallel sizes to try")
      ->delimiter(',')
      ->check(atLeastOne)
      ->capture_default_str();
  app.add_option(
         "--reference", options.reference,
         "what PyTorch computed; reference64.safetensors beside it is used by --interpret; "
         "without one, grids are held against each other on random batches, with --interpret "
         "also against the interpreter")
      ->type_name("FILE.safetensors");
  app.add_option("--weights", options.weights,
                 "start from these weights: a safetensors file under torch's names, or a run's "
                 "folder (default: the model's; without any, those of --init)")
      ->type_name("FILE|RUN");
  app.add_flag("--interpret", options.interpret, "run the fp64 interpreter as well");
  app.add_option("--steps", options.steps, "training steps")
      ->check(atLeastOne)
      ->capture_default_str();
  app.add_option("--json", options.json, "write the table to a file")->type_name("FILE");
  app.footer(
      "examples:\n"
      "  colrow verify model.onnx --reference reference.safetensors\n"
      "  colrow verify model.onnx --reference reference.safetensors --interpret --tp 1,2\n"
      "  colrow verify model.onnx --batch 2 --sequence 64 --tp 1,2,4\n"
      "  colrow verify graph.onnx --weights model.safetensors --batch 2 --sequence 64\n"
      "\nDistances are relative. The emitted program's limit is 1e-5, or, where a change of every "
      "weight in\nits last bit takes the model further, four times as far: AdamW makes much of "
      "small gradients.");
}

/// `batch.<input>` tensors of the reference.
static Batches readBatches(const SafetensorsFile &file) {
  Batches batches;
  for (const TensorEntry &tensor : file.tensors()) {
    if (tensor.name.rfind("batch.", 0) != 0)
      continue;
    std::string name = tensor.name.substr(6);
    bool isFloat = tensor.type == TensorType::F32 || tensor.type == TensorType::F64;
    batches[name] = isFloat ? reference::Tensor::floats(tensor.shape, file.readDoubles(tensor))
                            : reference::Tensor::integers(tensor.shape, file.readIntegers(tensor));
  }
  if (batches.empty())
    throw Error("'" + file.path() + "' has no tensors batch.<input>");
  return batches;
}

/// The sizes of the reference's batches, for what the command line does not bind.
static void bindLike(ModelOptions &options, const Batches &batches) {
  for (const auto &[name, values] : batches)
    if (values.rank() > 0)
      options.inputShapes[name] = {values.shape().begin() + 1, values.shape().end()};
}

/// Throws where the reference lacks what the model reads.
static void requireInputs(const ProgramInfo &info, const Batches &batches,
                          const std::string &path) {
  std::string found;
  for (const auto &[name, values] : batches)
    found += (found.empty() ? "batch." : ", batch.") + name;
  for (const InputInfo &input : info.inputs)
    if (!batches.count(input.name))
      throw Error(fmt::format(
          "'{}' has no tensor 'batch.{}' for the {} of '{}'; it has {}", path, input.name,
          input.name == info.labelsInput ? "labels" : "input '" + input.name + "'", info.model,
          found));
}

/// Random batches for the inputs of a program: ids below the size of the smallest table they are
/// looked up in, masks of zeros and ones; labels are the ids where they have their shape.
static Batches randomBatches(const ProgramInfo &info) {
  constexpr int64_t count = 4;
  Batches batches;
  std::mt19937_64 random(1);
  const InputInfo *ids = nullptr;
  for (const InputInfo &input : info.inputs) {
    std::vector<int64_t> shape{count};
    shape.insert(shape.end(), input.shape.begin(), input.shape.end());
    int64_t size = reference::elementCount(shape);
    if (input.dtype == DType::f32) {
      std::vector<double> values(size);
      for (double &value : values)
        value = std::normal_distribution<double>()(random);
      batches[input.name] = reference::Tensor::floats(shape, values);
      continue;
    }
    if (ids && input.name == info.labelsInput && input.shape == ids->shape) {
      batches[input.name] = batches[ids->name];
      continue;
    }
    if (!ids && input.limit > 0)
      ids = &input;
    uint64_t limit = input.limit > 0 ? static_cast<uint64_t>(input.limit) : 2;
    std::vector<int64_t> values(size);
    for (int64_t &value : values)
      value = static_cast<int64_t>(random() % limit);
    batches[input.name] = reference::Tensor::integers(shape, values);
  }
  return batches;
}

using Tables = std::vector<std::pair<std::string, std::vector<Distance>>>;

namespace {
/// Collects and prints the tables.
class Report {
public:
  void add(const std::string &program, int64_t ranks, const Tables &tables) {
    for (const auto &[against, table] : tables) {
      size_t width = 0;
      for (const Distance &row : table)
        width = std::max(width, row.name.size());
      fmt::print("\ntp={}, {}, against {}\n", ranks, program, against);
      fmt::print("  {:<10} {:<{}} {:>9} {:>9}\n", "quantity", "name", width, "distance", "limit");
      for (const Distance &row : table) {
        if (!row.compared)
          fmt::print("  {:<10} {:<{}} not compared\n", row.quantity, row.name, width);
        else
          fmt::print("  {:<10} {:<{}} {:>9.1e} {:>9.2g} {}\n", row.quantity, row.name, width,
                     row.value, row.limit, row.passes() ? "ok" : "FAILS");
        passes &= row.passes();
        missing += !row.compared;
        json.push_back({{"tp", ranks},
                        {"against", against},
                        {"quantity", row.quantity},
                        {"name", row.name},
                        {"distance", row.value},
                        {"limit", row.limit},
                        {"compared", row.compared},
                        {"passes", row.passes()},
                        {"program", program}});
      }
    }
  }

  bool passes = true;
  size_t missing = 0; ///< rows not compared
  nlohmann::json json = nlohmann::json::array();
};
} // namespace

bool verify(VerifyOptions &options) {
  Batches batches;
  std::optional<SafetensorsFile> file, exact;
  if (!options.reference.empty()) {
    file.emplace(options.reference);
    batches = readBatches(*file);
    bindLike(options.model, batches);
    std::filesystem::path beside =
        std::filesystem::path(options.reference).replace_filename("reference64.safetensors");
    if (std::filesystem::exists(beside))
      exact.emplace(beside.string());
  }
  Model model(options.model);
  ProgramInfo info = model.describeInputs();
  if (file)
    requireInputs(info, batches, file->path());
  else
    batches = randomBatches(info);

  Report report;
  // Without a reference the interpreter is what the emitted program is held against.
  bool holdAgainstInterpreter = options.interpret && !file;
  std::vector<TrainingRun> emitted;
  auto compare = [&](const std::string &program, const SafetensorsFile *reference,
                     double referenceLimit, double gridLimit, const Noise &allowed,
                     const std::function<TrainingRun(int64_t)> &train) {
    TrainingRun first;
    for (size_t i = 0; i < options.ranks.size(); ++i) {
      TrainingRun run = train(options.ranks[i]);
      Tables tables;
      auto add = [&](const std::string &against, std::vector<Distance> table) {
        tables.push_back({against, allowNoise(std::move(table), allowed)});
      };
      if (reference)
        add(reference->path(),
            compareWithReference(run, *reference, model.parameters(), referenceLimit));
      if (i > 0)
        add(fmt::format("tp={}", options.ranks[0]),
            compareRuns(run, first, gridLimit, allowed.gradients));
      report.add(program, options.ranks[i], tables);
      std::fflush(stdout); // in step with what is said about compiling, in a pipe too
      if (i == 0)
        first = std::move(run);
    }
  };
  Noise noise = measureNoise(model, options.ranks[0], batches, options.steps, options.weights);
  compare("emitted and compiled, fp32", file ? &*file : nullptr, limit32, limit32, noise,
          [&](int64_t ranks) {
            TrainingRun run = replayTraining(model, ranks, batches, options.steps, options.weights);
            if (holdAgainstInterpreter)
              emitted.push_back(run);
            return run;
          });
  if (options.interpret) {
    ParameterData weights = startingWeights(model, options.weights);
    compare("interpreted in fp64", exact ? &*exact : nullptr, referenceLimit64, gridLimit64, {},
            [&](int64_t ranks) {
              return interpretTraining(model, ranks, batches, options.steps, weights);
            });
    if (holdAgainstInterpreter) {
      TrainingRun interpreted = interpretTraining(model, 1, batches, options.steps, weights);
      for (auto [ranks, run] : llvm::zip(options.ranks, emitted))
        report.add("emitted and compiled, fp32", ranks,
                   {{"the interpreter in fp64, tp=1",
                     allowNoise(compareRuns(run, interpreted, limit32, noise.gradients), noise)}});
    }
  }
  if (!options.json.empty())
    writeTextFile(options.json, report.json.dump(2) + "\n");
  fmt::print("\n{}{}\n", report.passes ? "verified" : "NOT verified: see FAILS above",
             report.missing
                 ? fmt::format(" ({} rows not compared: the reference lacks them)", report.missing)
                 : "");
  return report.passes;
}

} // namespace colrow
