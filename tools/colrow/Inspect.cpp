//===- Inspect.cpp - what is in a model, and what tp would do to it -------===//
//
// Everything about ranks is the manifest of the trainer that `colrow compile` would write, so that
// the two cannot differ; blocks are the operations of the forward program.
//
//===----------------------------------------------------------------------===//

#include "tools/colrow/Inspect.h"
#include "dialect/Colrow.h"
#include "passes/lower/Repeats.h"
#include "tools/Checks.h"
#include "tools/colrow/Report.h"
#include "llvm/Support/raw_ostream.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

using namespace mlir;
using Json = nlohmann::ordered_json;

namespace colrow {

void addInspect(CLI::App &app, InspectOptions &options) {
  options.model.defaultBatch = 1;
  options.model.defaultSequence = 32;
  addModelOptions(app, options.model);
  app.add_option("--tp", options.ranks, "ranks of tensor parallelism")
      ->check(atLeastOne)
      ->capture_default_str();
  app.add_flag("--ir", options.ir,
               "print the sharded forward program instead, large constants elided");
  app.add_option("--json", options.json, "write all of it to a file")->type_name("FILE");
  app.footer("examples:\n"
             "  colrow inspect model.onnx\n"
             "  colrow inspect model.onnx --tp 4 --batch 8 --sequence 1024 --json model.json\n"
             "  colrow inspect model.onnx --tp 2 --ir > model.mlir\n"
             "\nNeeds no weights. Without --batch and --sequence, tables are for one row of 32 "
             "tokens.");
}

//===----------------------------------------------------------------------===//
// As data
//===----------------------------------------------------------------------===//

/// What an operation of the forward program is to people who know transformers.
static StringRef blockKind(Operation &op) {
  if (auto take = dyn_cast<TakeOp>(op); take && isa<BlockArgument>(take.getTable()))
    return "embedding";
  if (isa<EinsumOp>(op))
    return "matrix product";
  if (isa<DecomposableOpInterface, MatrixProductOpInterface, EvaluationFormOpInterface>(op))
    return op.getName().stripDialect();
  return "primitive operation";
}

/// The operations of the forward program by kind, and how many of them each repeated layer has.
static void describeBlocks(ModuleOp program, Json &json) {
  std::vector<Operation *> operations;
  for (Operation &op : program.lookupSymbol<func::FuncOp>("main").getBody().front())
    if (!isa<ConstantOp, func::ReturnOp>(op))
      operations.push_back(&op);
  RepeatFinder finder(operations);
  constexpr size_t fewest = 6; // shorter repeats are no layers
  std::optional<Repeat> layers = finder.find(0, operations.size(), fewest);
  json["layers"] = nullptr;
  if (layers)
    json["layers"] = {{"count", layers->count},
                      {"first", finder.label(layers->start, layers->start + layers->period)}};

  struct Count {
    int64_t all = 0, inLayer = 0;
  };
  llvm::MapVector<StringRef, Count> counts;
  for (auto [i, op] : llvm::enumerate(operations)) {
    if (isa<ConversionOpInterface>(op))
      continue;
    Count &count = counts[blockKind(*op)];
    ++count.all;
    count.inLayer += layers && i >= layers->start && i < layers->start + layers->period;
  }
  json["blocks"] = Json::array();
  for (const auto &[kind, count] : counts)
    json["blocks"].push_back(
        {{"kind", kind.str()}, {"count", count.all}, {"in_layer", count.inLayer}});
}

static Json describe(Model &model, ModuleOp forward, int64_t ranks) {
  Json json;
  json["model"] = model.options().model;
  json["exporter"] = json["opset"] = nullptr;
  if (const OnnxModel *onnx = model.file().onnx()) {
    const onnx::ModelProto &proto = onnx->proto();
    json["exporter"] = proto.producer_name() +
                       (proto.producer_version().empty() ? "" : " " + proto.producer_version());
    json["opset"] = onnx->opset();
  }
  json["batch"] = model.batch();
  json["sequence"] = model.sequence();
  json["assumed"] = model.assumed();
  json["ranks"] = ranks;
  json["objective"] = forward->getAttrOfType<StringAttr>("colrow.objective").str();
  Json manifest = Json::parse(model.emit(ranks).manifest);
  json["grid"] = manifest["grid"];
  int64_t count = 0;
  for (const Json &parameter : manifest["parameters"]) {
    int64_t elements = 1;
    for (int64_t size : parameter["shape"])
      elements *= size;
    count += elements;
  }
  json["parameter_count"] = count;
  describeBlocks(forward, json);
  for (const char *key :
       {"grid", "flops", "parameters", "collectives", "segments", "on_first_use"})
    json[key] = manifest[key];
  return json;
}

//===----------------------------------------------------------------------===//
// As tables
//===----------------------------------------------------------------------===//

static std::string shapeOf(const Json &shape) {
  std::vector<int64_t> sizes = shape;
  return fmt::format("[{}]", fmt::join(sizes, ", "));
}

static void printHeader(const Json &json) {
  auto line = [](const char *name, const std::string &text) {
    fmt::print("{:<14}{}\n", name, text);
  };
  line("model", json["model"]);
  if (!json["exporter"].is_null())
    line("exporter", fmt::format("{}, opset {}", json["exporter"].get<std::string>(),
                                 json["opset"].get<int64_t>()));
  line("parameters", fmt::format("{} in {} tensors", countText(json["parameter_count"]),
                                 json["parameters"].size()));
  std::vector<std::string> assumed = json["assumed"];
  line("microbatch",
       fmt::format(
           "{} x {} tokens{}", json["batch"].get<int64_t>(), json["sequence"].get<int64_t>(),
           assumed.empty() ? "" : fmt::format(" (assumed: give {})", fmt::join(assumed, " and "))));
  std::string objective = json["objective"];
  line("objective", objective == "in_graph" ? "what the graph makes of its inputs" : objective);
  line("ranks", ranksText(json["ranks"], json));
  line("products", fmt::format("{} in forward and backward pass of a microbatch, {} in evaluation; "
                               "all ranks",
                               flopsText(json["flops"]["forward_backward"]),
                               flopsText(json["flops"]["evaluate"])));
  if (!json["layers"].is_null())
    line("layers", fmt::format("{} like '{}'", json["layers"]["count"].get<int64_t>(),
                               json["layers"]["first"].get<std::string>()));
}

static void printBlocks(const Json &json) {
  fmt::print("\nblocks of the forward program\n");
  bool layers = !json["layers"].is_null();
  Table table({"count", layers ? "a layer" : "", "kind"}, {true, true, false});
  for (const Json &block : json["blocks"])
    table.add(
        {countText(block["count"]), layers ? countText(block["in_layer"]) : "", block["kind"]});
  table.print();
}

static void printWeights(const Json &json) {
  fmt::print("\nweights\n");
  Table table({"name", "shape", "layout", "rule", "bytes/rank", "because"},
              {false, false, false, false, true, false});
  for (const Json &parameter : json["parameters"]) {
    std::string name = parameter["name"];
    table.add({name, shapeOf(parameter["shape"]), parameter["layout"], parameter["rule"],
               countText(parameter["bytes_per_rank"]), parameter["because"]});
    std::vector<std::string> onnx = parameter["onnx"], tied = parameter["tied_to"];
    bool isExported = !json["exporter"].is_null();
    if (onnx.empty() && isExported)
      table.note("not in the file: it was dropped or merged, and is created again");
    else if (isExported && onnx != std::vector<std::string>{name})
      table.note(fmt::format("in the file: {}", fmt::join(onnx, ", ")));
    if (parameter["transposed"])
      table.note("the transpose of torch's");
    if (!tied.empty())
      table.note(fmt::format("tied: {}", fmt::join(tied, ", ")));
  }
  table.print();
}

void inspect(InspectOptions &options) {
  Model model(options.model);
  OwningOpRef<ModuleOp> forward = model.compile(options.ranks, buildForwardPipeline);
  if (options.ir) {
    std::string text;
    llvm::raw_string_ostream stream(text);
    (*forward)->print(stream, OpPrintingFlags().elideLargeElementsAttrs(16));
    fmt::print("{}", text);
    if (options.json.empty())
      return;
  }
  Json json = describe(model, *forward, options.ranks);
  if (!options.ir) {
    printHeader(json);
    printBlocks(json);
    printWeights(json);
    printCollectives(json["collectives"]);
    printMemory(json);
  }
  if (options.json.empty())
    return;
  writeReport(json, options.json);
}

} // namespace colrow
