//===- Plan.cpp - what a step on N ranks takes, before anything starts ----===//
//
// All numbers are the manifest's: what the trainer allocates and sends, and how many operations its
// products have.
//
//===----------------------------------------------------------------------===//

#include "tools/colrow/Plan.h"
#include "colrow/Error.h"
#include "tools/Checks.h"
#include "tools/colrow/Fit.h"
#include "tools/colrow/Machine.h"
#include "tools/colrow/Report.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

using namespace mlir;
using Json = nlohmann::ordered_json;

namespace colrow {

void addPlan(CLI::App &app, PlanOptions &options) {
  options.model.defaultBatch = 1;
  options.model.defaultSequence = 32;
  addModelOptions(app, options.model);
  app.add_option("--tp", options.ranks,
                 "ranks of tensor parallelism (default: the fewest that fit)")
      ->check(atLeastOne);
  app.add_option("--accumulate", options.accumulate, "microbatches of a step")
      ->check(atLeastOne)
      ->capture_default_str();
  app.add_option("--memory", options.memory,
                 "memory of each rank (default: what this machine has available, for all of them)")
      ->type_name("SIZE")
      ->transform(CLI::AsSizeValue(/*kb_is_1000=*/true));
  app.add_option("--json", options.json, "write all of it to a file")->type_name("FILE");
  app.footer("examples:\n"
             "  colrow plan model.onnx --tp 2 --batch 1 --sequence 1024\n"
             "  colrow plan model.onnx --sequence 1024 --memory 80GiB --json plan.json\n"
             "\nNeeds no weights and builds nothing. Exit code 1 where the memory does not suffice.\n"
             "Not counted are the program itself and its libraries, some 100 MB.");
}

//===----------------------------------------------------------------------===//
// As data
//===----------------------------------------------------------------------===//

/// By phase, of a whole step: how many collectives, and the bytes that a rank sends for them.
static Json traffic(const Json &manifest, int64_t accumulate) {
  Json phases = Json::object();
  for (const Json &collective : manifest["collectives"]) {
    std::string phase = collective["phase"];
    int64_t times = phase == "forward" || phase == "backward" ? accumulate : 1;
    Json &sum = phases[phase];
    if (sum.is_null())
      sum = {{"count", 0}, {"sent_bytes_per_rank", 0}};
    sum["count"] = sum["count"].get<int64_t>() + times;
    sum["sent_bytes_per_rank"] = sum["sent_bytes_per_rank"].get<int64_t>() +
                                 times * collective["wire_bytes_per_rank"].get<int64_t>();
  }
  return phases;
}

/// Of a step, which has no evaluation.
static double stepFlops(const Json &manifest, int64_t accumulate) {
  return manifest["flops"]["forward_backward"].get<double>() * static_cast<double>(accumulate);
}

static std::string trafficText(const Json &phases) {
  std::vector<std::string> texts;
  for (const char *phase : {"forward", "backward", "update"})
    if (phases.contains(phase))
      texts.push_back(fmt::format("{} {} ({})", phase, countText(phases[phase]["count"]),
                                  bytesText(phases[phase]["sent_bytes_per_rank"])));
  return texts.empty() ? "no collectives"
                       : fmt::format("collectives (sent by a rank): {}", fmt::join(texts, ", "));
}

//===----------------------------------------------------------------------===//
// What fits
//===----------------------------------------------------------------------===//

/// Throws where `ranks` need more than there is.
static void requireFit(const std::string &model, RankPlans &plans, int64_t ranks,
                       const Budget &budget) {
  int64_t bytes = plans.bytes(ranks);
  if (bytes <= budget.perRank(ranks))
    return;
  auto text = [](int64_t number) { return bytesText(static_cast<double>(number)); };
  std::optional<int64_t> smallest = plans.smallest(budget);
  if (!budget.isShared)
    throw Error(fmt::format("'{}' at tp={} needs {} of memory for a rank, but a rank has {}; {}",
                            model, ranks, text(bytes), text(budget.bytes),
                            smallest ? fmt::format("the smallest tp that fits is {}", *smallest)
                                     : "no tp up to 64 fits; try a smaller --batch or --sequence"));
  std::string need =
      ranks == 1 ? fmt::format("'{}' at tp=1 needs {} of memory", model, text(bytes))
                 : fmt::format("'{}' at tp={} needs {} of memory, {} for each rank", model, ranks,
                               text(ranks * bytes), text(bytes));
  std::string have = fmt::format(", but this machine has {} available; ", text(budget.bytes));
  if (smallest)
    throw Error(need + have + fmt::format("the smallest tp that fits is {}", *smallest));
  std::optional<int64_t> spread = plans.smallest({budget.bytes, /*isShared=*/false});
  if (spread)
    throw Error(need + have +
                fmt::format("no tp fits, since all ranks share it; one rank on each of {} such "
                            "machines would (tp={})",
                            *spread, *spread));
  throw Error(need + have + "no tp up to 64 fits, even with one rank on each such machine; try a "
                            "smaller --batch or --sequence");
}

static Json machineJson(const std::optional<MachineMemory> &machine) {
  if (!machine)
    return nullptr;
  return {{"total", machine->total},
          {"available", machine->available},
          {"limited_by", machine->limit.empty() ? Json(nullptr) : Json(machine->limit)}};
}

/// What is there for the ranks; nothing where the machine does not say.
static std::optional<Budget> budgetOf(const std::optional<uint64_t> &given,
                                      const std::optional<MachineMemory> &machine) {
  if (given)
    return Budget{static_cast<int64_t>(*given), /*isShared=*/false};
  if (machine)
    return Budget{machine->available, /*isShared=*/true};
  return {};
}

/// The tp to plan for where none is given.
static int64_t fewestRanks(RankPlans &plans, const std::optional<Budget> &budget) {
  plans.manifest(1);
  if (!budget || budget->isShared)
    return 1;
  return plans.smallest(*budget).value_or(plans.choices().back());
}

//===----------------------------------------------------------------------===//
// colrow plan
//===----------------------------------------------------------------------===//

static void printPlan(const Json &json, const Json &manifest, int64_t ranks) {
  auto line = [](const char *name, const std::string &text) {
    fmt::print("{:<14}{}\n", name, text);
  };
  auto text = [](const Json &bytes) { return bytesText(bytes.get<double>()); };
  std::vector<std::string> assumed = json["assumed"];
  line("model", json["model"]);
  line("microbatch", fmt::format("{} x {} tokens{}", json["batch"].get<int64_t>(),
                                 json["sequence"].get<int64_t>(),
                                 assumed.empty() ? ""
                                                 : fmt::format(" (assumed: give {})",
                                                               fmt::join(assumed, " and "))));
  line("ranks", ranksText(ranks, manifest));
  line("step", fmt::format("{} in products of all ranks, {}",
                           flopsText(json["flops"]),
                           json["accumulate"] == 1
                               ? "one microbatch"
                               : countText(json["accumulate"]) + " microbatches"));
  line("", trafficText(json["traffic"]));
  line("memory", fmt::format("{} for a rank, {} for all", text(json["memory"]["per_rank"]),
                             text(json["memory"]["all_ranks"])));
  const Json &machine = json["machine"];
  if (!machine.is_null())
    line("this machine",
         fmt::format("{} available of {}{}", text(machine["available"]), text(machine["total"]),
                     machine["limited_by"].is_null()
                         ? ""
                         : " (" + machine["limited_by"].get<std::string>() + ")"));
  if (!json["memory"]["given_per_rank"].is_null())
    line("given", text(json["memory"]["given_per_rank"]) + " for a rank");
  line("smallest tp", json["smallest_tp"].is_null()
                          ? "none fits"
                          : std::to_string(json["smallest_tp"].get<int64_t>()));
  printCollectives(manifest["collectives"]);
  printMemory(manifest);
}

void plan(PlanOptions &options) {
  Model model(options.model);
  RankPlans plans(model, /*evaluates=*/false);
  std::optional<MachineMemory> machine = machineMemory();
  std::optional<Budget> budget = budgetOf(options.memory, machine);
  int64_t ranks = options.ranks ? *options.ranks : fewestRanks(plans, budget);
  const Json &manifest = plans.manifest(ranks);
  RankMemory memory = rankMemory(manifest);

  Json json;
  json["model"] = options.model.model;
  json["batch"] = model.batch();
  json["sequence"] = model.sequence();
  json["assumed"] = model.assumed();
  json["tp"] = ranks;
  json["accumulate"] = options.accumulate;
  json["flops"] = stepFlops(manifest, options.accumulate);
  json["traffic"] = traffic(manifest, options.accumulate);
  json["memory"] = {{"segments", manifest["segments"]},
                    {"on_first_use", manifest["on_first_use"]},
                    {"per_rank", memory.training},
                    {"all_ranks", memory.training * ranks},
                    {"given_per_rank", options.memory ? Json(*options.memory) : Json(nullptr)}};
  json["machine"] = machineJson(machine);
  json["fits"] = !budget || memory.training <= budget->perRank(ranks);
  std::optional<int64_t> smallest = budget ? plans.smallest(*budget) : std::nullopt;
  json["smallest_tp"] = smallest ? Json(*smallest) : Json(nullptr);
  json["collectives"] = manifest["collectives"];

  printPlan(json, manifest, ranks);
  if (!options.json.empty())
    writeReport(json, options.json);
  std::fflush(stdout);
  if (budget)
    requireFit(options.model.model, plans, ranks, *budget);
}

//===----------------------------------------------------------------------===//
// The head of colrow train
//===----------------------------------------------------------------------===//

void checkTraining(Model &model, const TrainingPlan &training, const std::string &manifest) {
  RankPlans plans(model, training.evaluates);
  plans.add(training.ranks, Json::parse(manifest));
  const Json &known = plans.manifest(training.ranks);
  int64_t bytes = plans.bytes(training.ranks);
  std::optional<MachineMemory> machine = machineMemory();
  auto text = [](int64_t number) { return bytesText(static_cast<double>(number)); };
  fmt::print("memory: {} for a rank, {} for all{}\n", text(bytes),
             text(bytes * training.ranks),
             machine ? fmt::format("; {} available", text(machine->available)) : "");
  fmt::print("step: {}; {}\n", flopsText(stepFlops(known, training.accumulate)),
             trafficText(traffic(known, training.accumulate)));
  std::fflush(stdout); // the trainer takes over this process
  std::optional<Budget> budget = budgetOf({}, machine);
  if (budget && training.ranksHere < training.ranks)
    budget = Budget{budget->perRank(training.ranksHere), /*isShared=*/false};
  if (budget && training.checksMemory)
    requireFit(model.options().model, plans, training.ranks, *budget);
}

} // namespace colrow
