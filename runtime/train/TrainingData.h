//===- TrainingData.h - rows of data into a program's inputs ---------------===//
#pragma once

#include "DataSource.h"
#include "colrow/Program.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace colrow {

/// What the command line says about data files.
struct DataOptions {
  DataFormat format = DataFormat::automatic;
  std::optional<int64_t> ignoreToken; ///< labels equal to it do not count
  std::optional<int64_t> maskToken;   ///< what hides a token from a masked language model
  uint64_t seed = 0;
};

/// Rows that the program takes at once.
struct Microbatch {
  std::vector<int64_t> rows; ///< ProgramInfo::batch of them
  int64_t step = 0;          ///< of training; 0 in an evaluation
  int64_t number = 0;        ///< within the step or the evaluation
};

/// A data file that was checked against a program's inputs. What it puts into them is a function of
/// the microbatch alone, the same on every grid.
class TrainingData {
public:
  virtual ~TrainingData() = default;

  virtual const std::string &path() const = 0;
  /// "text", "uint16", "uint32" or "safetensors".
  virtual std::string_view formatName() const = 0;
  /// Tokens in the file; nothing where it has tensors.
  virtual std::optional<int64_t> tokens() const { return std::nullopt; }
  virtual int64_t rows() const = 0;
  /// For people: "5000 tokens (text) in 'a.txt': 156 rows of 32".
  virtual std::string summary() const = 0;
  /// What must be the same when a run goes on: "5000 tokens (text, checksum 0123456789abcdef)".
  virtual std::string identity() const = 0;
  /// Of the bytes that training reads.
  virtual uint64_t checksum() const = 0;
  /// What is in the file and not used, a sentence each.
  virtual std::vector<std::string> warnings() const { return {}; }

  /// What the loss is a mean over: labels that count, or 1 where the graph takes its own mean.
  virtual int64_t countLabels(const Microbatch &microbatch) const = 0;
  /// How labels are told not to count: "the ignored token".
  virtual std::string ignoredLabels() const = 0;
  virtual void fill(const Microbatch &microbatch, Program &program) const = 0;
};

/// Opens a file for a program, tokens or tensors by its format. Throws Error that names both sides
/// where it does not fit. `evaluates`: not for training.
std::unique_ptr<TrainingData> openTrainingData(const std::string &path, const ProgramInfo &info,
                                               const DataOptions &options, bool evaluates);

/// "input_ids [rows, 32] int64, labels [rows] int64": the tensors of a file that has all inputs.
std::string neededTensors(const ProgramInfo &info);

} // namespace colrow
