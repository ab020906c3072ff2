//===- Verify.cpp - colrow verify -----------------------------------------===//

#include "tools/colrow/Verify.h"
#include "colrow/Error.h"
#include "tools/colrow/Compare.h"
#include "tools/colrow/InterpretedRun.h"

#include <CLI/CLI.hpp>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <nlohmann/json.hpp>

namespace colrow {

/// Of the interpreter in fp64: against PyTorch's float64, and of one grid against one rank.
static constexpr double referenceLimit64 = 1e-10, gridLimit64 = 1e-11;

void addVerify(CLI::App &app, VerifyOptions &options) {
  addModelOptions(app, options.model);
  app.add_option("--tp", options.ranks, "tensor parallel sizes to try")
      ->delimiter(',')
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_option("--reference", options.reference,
                 "what PyTorch computed; reference64.safetensors beside it is used by --interpret")
      ->required()
      ->type_name("FILE.safetensors");
  app.add_flag("--interpret", options.interpret,
               "run the program in the fp64 interpreter (the only way so far)");
  app.add_option("--steps", options.steps, "training steps")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_option("--json", options.json, "write the table to a file")->type_name("FILE");
  app.footer("examples:\n"
             "  colrow verify model.onnx --reference reference.safetensors --interpret\n"
             "  colrow verify model.onnx --reference reference.safetensors --interpret --tp 1,2 "
             "--raise none");
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

/// Batch and sequence of the reference, where the command line does not say.
static void bindLike(ModelOptions &options, const Batches &batches) {
  const reference::Shape &shape = batches.begin()->second.shape();
  if (!options.batch && shape.size() > 1)
    options.batch = shape[1];
  if (!options.sequence && shape.size() > 2)
    options.sequence = shape[2];
}

static void print(const std::vector<Distance> &table, int64_t ranks, const std::string &against) {
  fmt::print("\ntp={}, interpreted in fp64, against {}\n", ranks, against);
  fmt::print("  {:<10} {:<44} {:>9} {:>9}\n", "quantity", "name", "distance", "limit");
  for (const Distance &row : table) {
    if (!row.compared)
      fmt::print("  {:<10} {:<44} {:>9}\n", row.quantity, row.name, "not compared");
    else
      fmt::print("  {:<10} {:<44} {:>9.1e} {:>9.0e} {}\n", row.quantity, row.name, row.value,
                 row.limit, row.passes() ? "ok" : "FAILS");
  }
}

bool verify(VerifyOptions &options) {
  if (!options.interpret)
    throw Error("verify runs the interpreter only: add --interpret");
  SafetensorsFile file(options.reference);
  std::filesystem::path beside =
      std::filesystem::path(options.reference).replace_filename("reference64.safetensors");
  Batches batches = readBatches(file);
  bindLike(options.model, batches);
  Model model(options.model);

  bool passes = true;
  nlohmann::json report;
  TrainingRun first;
  for (size_t i = 0; i < options.ranks.size(); ++i) {
    int64_t ranks = options.ranks[i];
    TrainingRun run = interpretTraining(model, ranks, batches, options.steps, {});
    std::vector<std::pair<std::string, std::vector<Distance>>> tables;
    if (std::filesystem::exists(beside)) {
      SafetensorsFile exact(beside.string());
      tables.push_back({beside.string(), compareWithReference(run, exact, model.parameters(),
                                                              referenceLimit64)});
    }
    if (i == 0)
      first = run;
    else
      tables.push_back({fmt::format("tp={}", options.ranks[0]),
                        compareRuns(run, first, gridLimit64)});
    for (const auto &[against, table] : tables) {
      print(table, ranks, against);
      for (const Distance &row : table) {
        passes &= row.passes();
        report.push_back({{"tp", ranks}, {"against", against}, {"quantity", row.quantity},
                          {"name", row.name}, {"distance", row.value}, {"limit", row.limit},
                          {"compared", row.compared}, {"passes", row.passes()},
                          {"program", "interpreted fp64"}});
      }
    }
  }
  if (!options.json.empty()) {
    std::ofstream out(options.json);
    out << report.dump(2) << "\n";
    if (!out)
      throw Error("cannot write '" + options.json + "'");
  }
  fmt::print("\n{}\n", passes ? "verified" : "NOT verified: see FAILS above");
  return passes;
}

} // namespace colrow
