//===- Inspect.cpp - what is in a model, and what tp would do to it -------===//
//
// Everything about ranks is the manifest of the trainer that `colrow compile` would write, so that
// the two cannot differ; blocks are the operations of the forward program.
//
//===----------------------------------------------------------------------===//

#include "tools/colrow/Inspect.h"
#include "colrow/Error.h"
#include "dialect/Colrow.h"
#include "passes/lower/Repeats.h"
#include "tools/Checks.h"
#include "llvm/Support/raw_ostream.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <fstream>
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

static int64_t sizeOf(ModuleOp module, StringRef name) {
  auto size = module->getAttrOfType<IntegerAttr>(name);
  return size ? size.getInt() : 1;
}

static Json describe(Model &model, ModuleOp forward, int64_t ranks) {
  const onnx::ModelProto &proto = model.file().proto();
  Json json;
  json["model"] = model.options().model;
  json["exporter"] = proto.producer_name() +
                     (proto.producer_version().empty() ? "" : " " + proto.producer_version());
  json["opset"] = model.file().opset();
  json["batch"] = sizeOf(model.imported(), "colrow.batch");
  json["sequence"] = sizeOf(model.imported(), "colrow.sequence");
  json["assumed"] = model.assumed();
  json["ranks"] = ranks;
  Json manifest = Json::parse(model.emit(ranks).manifest);
  int64_t count = 0;
  for (const Json &parameter : manifest["parameters"]) {
    int64_t elements = 1;
    for (int64_t size : parameter["shape"])
      elements *= size;
    count += elements;
  }
  json["parameter_count"] = count;
  describeBlocks(forward, json);
  for (const char *key : {"grid", "flops", "parameters", "collectives", "segments"})
    json[key] = manifest[key];
  return json;
}

//===----------------------------------------------------------------------===//
// As tables
//===----------------------------------------------------------------------===//

namespace {
/// Columns as wide as what is in them; the last one runs on.
class Table {
public:
  /// `right`: columns of numbers.
  Table(std::vector<std::string> head, std::vector<bool> right) : right(std::move(right)) {
    rows.push_back(std::move(head));
  }
  void add(std::vector<std::string> row) { rows.push_back(std::move(row)); }
  /// A line of its own under the last row.
  void note(const std::string &text) { rows.push_back({text}); }

  void print() const {
    std::vector<size_t> widths(rows[0].size());
    for (const std::vector<std::string> &row : rows)
      for (size_t i = 0; row.size() > 1 && i < row.size(); ++i)
        widths[i] = std::max(widths[i], row[i].size());
    for (const std::vector<std::string> &row : rows) {
      std::string line = row.size() == 1 ? "      " + row[0] : "";
      for (size_t i = 0; row.size() > 1 && i < row.size(); ++i)
        line += "  " + (right[i] ? fmt::format("{:>{}}", row[i], widths[i])
                                 : fmt::format("{:<{}}", row[i], widths[i]));
      line.erase(line.find_last_not_of(' ') + 1);
      fmt::print("{}\n", line);
    }
  }

private:
  std::vector<bool> right;
  std::vector<std::vector<std::string>> rows;
};
} // namespace

/// "1,024": every group of three digits.
static std::string countText(int64_t number) {
  std::string text = std::to_string(number);
  for (int64_t at = static_cast<int64_t>(text.size()) - 3; at > 0; at -= 3)
    text.insert(static_cast<size_t>(at), ",");
  return text;
}

/// With a prefix of 1024s: "1.5 MiB".
static std::string bytesText(double bytes) {
  static constexpr const char *units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  size_t unit = 0;
  for (; bytes >= 1024 && unit + 1 < std::size(units); ++unit)
    bytes /= 1024;
  return unit == 0 ? fmt::format("{:.0f} B", bytes) : fmt::format("{:.1f} {}", bytes, units[unit]);
}

static std::string flopsText(double flops) {
  static constexpr const char *units[] = {"FLOP", "kFLOP", "MFLOP", "GFLOP", "TFLOP", "PFLOP"};
  size_t unit = 0;
  for (; flops >= 1000 && unit + 1 < std::size(units); ++unit)
    flops /= 1000;
  return fmt::format("{:.1f} {}", flops, units[unit]);
}

static std::string shapeOf(const Json &shape) {
  std::vector<int64_t> sizes = shape;
  return fmt::format("[{}]", fmt::join(sizes, ", "));
}

static void printHeader(const Json &json) {
  auto line = [](const char *name, const std::string &text) {
    fmt::print("{:<14}{}\n", name, text);
  };
  line("model", json["model"]);
  line("exporter", fmt::format("{}, opset {}", json["exporter"].get<std::string>(),
                               json["opset"].get<int64_t>()));
  line("parameters", fmt::format("{} in {} tensors", countText(json["parameter_count"]),
                                 json["parameters"].size()));
  std::vector<std::string> assumed = json["assumed"];
  line("microbatch",
       fmt::format(
           "{} x {} tokens{}", json["batch"].get<int64_t>(), json["sequence"].get<int64_t>(),
           assumed.empty() ? "" : fmt::format(" (assumed: give {})", fmt::join(assumed, " and "))));
  line("ranks", fmt::format("tp = {}", json["ranks"].get<int64_t>()));
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
    if (onnx.empty())
      table.note("not in the file: it was dropped or merged, and is created again");
    else if (onnx != std::vector<std::string>{name})
      table.note(fmt::format("in the file: {}", fmt::join(onnx, ", ")));
    if (parameter["transposed"])
      table.note("the transpose of torch's");
    if (!tied.empty())
      table.note(fmt::format("tied: {}", fmt::join(tied, ", ")));
  }
  table.print();
}

/// Collectives that are alike but for their layer, with their number.
static std::vector<std::pair<Json, int64_t>> groupedCollectives(const Json &json) {
  std::vector<std::pair<Json, int64_t>> groups;
  for (Json collective : json["collectives"]) {
    collective.erase("layer");
    auto found =
        llvm::find_if(groups, [&](const auto &group) { return group.first == collective; });
    if (found == groups.end())
      groups.push_back({collective, 1});
    else
      ++found->second;
  }
  return groups;
}

static void printCollectives(const Json &json) {
  fmt::print("\ncollectives of a microbatch and its update, and of an evaluation\n");
  Table table({"phase", "count", "kind", "axes", "payload", "sent/rank", "because"},
              {false, true, false, false, true, true, false});
  std::vector<std::pair<std::string, double>> sums;
  for (const auto &[each, count] : groupedCollectives(json)) {
    std::vector<std::string> axes = each["axes"];
    std::string phase = each["phase"];
    double wire = each["wire_bytes_per_rank"].get<double>();
    table.add({phase, countText(count), each["kind"], fmt::format("{}", fmt::join(axes, ", ")),
               bytesText(each["payload_bytes"]), bytesText(wire), each["because"]});
    auto found = llvm::find_if(sums, [&](const auto &sum) { return sum.first == phase; });
    if (found == sums.end())
      sums.push_back({phase, wire * static_cast<double>(count)});
    else
      found->second += wire * static_cast<double>(count);
  }
  if (sums.empty()) {
    fmt::print("  none\n");
    return;
  }
  table.print();
  std::vector<std::string> texts;
  for (const auto &[phase, wire] : sums)
    texts.push_back(fmt::format("{} {}", phase, bytesText(wire)));
  fmt::print("  sent by a rank: {}\n", fmt::join(texts, ", "));
}

static void printMemory(const Json &json) {
  fmt::print("\nmemory of a rank\n");
  Table table({"segment", "bytes", ""}, {false, true, false});
  int64_t sum = 0;
  auto add = [&](const std::string &name, int64_t bytes) {
    table.add({name, countText(bytes), bytes < 1024 ? "" : bytesText(static_cast<double>(bytes))});
  };
  for (const auto &[name, bytes] : json["segments"].items()) {
    add(name, bytes);
    sum += bytes.get<int64_t>();
  }
  add("all", sum);
  table.print();
}

void inspect(InspectOptions &options) {
  Model model(options.model);
  OwningOpRef<ModuleOp> forward = model.compile(options.ranks, buildForwardPipeline);
  if (options.ir) {
    (*forward)->print(llvm::outs(), OpPrintingFlags().elideLargeElementsAttrs(16));
    llvm::outs().flush();
    if (options.json.empty())
      return;
  }
  Json json = describe(model, *forward, options.ranks);
  if (!options.ir) {
    printHeader(json);
    printBlocks(json);
    printWeights(json);
    printCollectives(json);
    printMemory(json);
  }
  if (options.json.empty())
    return;
  std::ofstream out(options.json);
  out << json.dump(2) << "\n";
  if (!out.flush())
    throw Error("cannot write '" + options.json + "'");
}

} // namespace colrow
