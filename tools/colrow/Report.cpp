//===- Report.cpp - tables of what inspect and plan say -------------------===//

#include "tools/colrow/Report.h"
#include "colrow/Error.h"
#include "colrow/File.h"
#include "llvm/ADT/STLExtras.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

using Json = nlohmann::ordered_json;

namespace colrow {

void Table::print() const {
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

std::string countText(int64_t number) {
  std::string text = std::to_string(number);
  for (int64_t at = static_cast<int64_t>(text.size()) - 3; at > 0; at -= 3)
    text.insert(static_cast<size_t>(at), ",");
  return text;
}

std::string bytesText(double bytes) {
  static constexpr const char *units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  size_t unit = 0;
  for (; bytes >= 1024 && unit + 1 < std::size(units); ++unit)
    bytes /= 1024;
  return unit == 0 ? fmt::format("{:.0f} B", bytes) : fmt::format("{:.1f} {}", bytes, units[unit]);
}

std::string flopsText(double flops) {
  static constexpr const char *units[] = {"FLOP", "kFLOP", "MFLOP", "GFLOP", "TFLOP", "PFLOP"};
  size_t unit = 0;
  for (; flops >= 1000 && unit + 1 < std::size(units); ++unit)
    flops /= 1000;
  return fmt::format("{:.1f} {}", flops, units[unit]);
}

std::string ranksText(int64_t ranks, const Json &manifest) {
  std::vector<std::string> axes;
  for (const auto &[name, size] : manifest["grid"].items())
    axes.push_back(fmt::format("{} = {}", name, size.get<int64_t>()));
  return fmt::format("tp = {}{}", ranks,
                     axes.size() > 1 ? fmt::format(", which is {}", fmt::join(axes, " by ")) : "");
}

/// Collectives that are alike but for their layer, with their number.
static std::vector<std::pair<Json, int64_t>> groupedCollectives(const Json &collectives) {
  std::vector<std::pair<Json, int64_t>> groups;
  for (Json collective : collectives) {
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

void printCollectives(const Json &collectives) {
  fmt::print("\ncollectives of a microbatch and its update, and of an evaluation\n");
  Table table({"phase", "count", "kind", "axes", "payload", "sent/rank", "because"},
              {false, true, false, false, true, true, false});
  std::vector<std::pair<std::string, double>> sums;
  for (const auto &[each, count] : groupedCollectives(collectives)) {
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

static bool isOnFirstUse(const Json &manifest, const std::string &segment) {
  return llvm::any_of(manifest["on_first_use"],
                      [&](const Json &name) { return name == segment; });
}

RankMemory rankMemory(const Json &manifest) {
  RankMemory memory;
  for (const auto &[name, bytes] : manifest["segments"].items())
    (isOnFirstUse(manifest, name) ? memory.onFirstUse : memory.training) += bytes.get<int64_t>();
  return memory;
}

void printMemory(const Json &manifest) {
  fmt::print("\nmemory of a rank\n");
  Table table({"segment", "bytes", ""}, {false, true, false});
  auto add = [&](const std::string &name, int64_t bytes) {
    table.add({name, countText(bytes), bytes < 1024 ? "" : bytesText(static_cast<double>(bytes))});
  };
  for (bool onFirstUse : {false, true})
    for (const auto &[name, bytes] : manifest["segments"].items())
      if (isOnFirstUse(manifest, name) == onFirstUse)
        add(name, bytes);
  RankMemory memory = rankMemory(manifest);
  add("training", memory.training);
  add("all", memory.all());
  table.note(fmt::format("{}: only while training evaluates or outputs are asked for",
                         fmt::join(std::vector<std::string>(manifest["on_first_use"]), ", ")));
  table.print();
}

void writeReport(const Json &json, const std::string &path) {
  writeTextFile(path, json.dump(2) + "\n");
}

} // namespace colrow
