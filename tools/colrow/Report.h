//===- Report.h - tables of what inspect and plan say ---------------------===//
//
// Both print from the manifest (passes/emit/Manifest.cpp), the one place that has the numbers.
//
//===----------------------------------------------------------------------===//
#pragma once

#include <nlohmann/json.hpp>

#include <string>
#include <vector>

namespace colrow {

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

  void print() const;

private:
  std::vector<bool> right;
  std::vector<std::vector<std::string>> rows;
};

/// "1,024": every group of three digits.
std::string countText(int64_t number);

/// With a prefix of 1024s: "1.5 MiB".
std::string bytesText(double bytes);

/// "874.9 GFLOP"
std::string flopsText(double flops);

/// "tp = 4", and the axes where the compiler made several of it: "tp = 4, which is tp.0 = 2 by
/// tp.1 = 2".
std::string ranksText(int64_t ranks, const nlohmann::ordered_json &manifest);

/// Bytes of one rank, from a manifest.
struct RankMemory {
  int64_t training = 0;   ///< from the start to the end
  int64_t onFirstUse = 0; ///< when outputs are computed
  int64_t all() const { return training + onFirstUse; }
};
RankMemory rankMemory(const nlohmann::ordered_json &manifest);

/// Every kind of collective with its size; `collectives` is that of a manifest.
void printCollectives(const nlohmann::ordered_json &collectives);

/// The segments of a manifest, and their sums.
void printMemory(const nlohmann::ordered_json &manifest);

/// Throws Error where it cannot be written.
void writeReport(const nlohmann::ordered_json &json, const std::string &path);

} // namespace colrow
