//===- TensorRows.h - rows of a safetensors file of named inputs -----------===//
#pragma once

#include "TrainingData.h"
#include "colrow/Safetensors.h"

namespace colrow {

/// Whether a file is read as tensors: by its format, or where that is automatic by its name.
bool isTensorFile(const std::string &path, DataFormat format);

/// A file with a tensor for each of the program's inputs, labels among them, under the inputs'
/// names. The first dimension is rows; an input without a dimension of rows has a tensor of its own
/// shape, the same for every batch. Labels are as PyTorch has them: not shifted, -100 is ignored.
class TensorRows : public TrainingData {
public:
  /// Throws Error naming what does not fit: a name, type, shape or value, a mask that hides a whole
  /// row, labels of which none counts.
  TensorRows(const std::string &path, const ProgramInfo &info, const DataOptions &options);

  const std::string &path() const override { return file.path(); }
  std::string_view formatName() const override { return "safetensors"; }
  int64_t rows() const override { return count; }
  std::string summary() const override;
  std::string identity() const override;
  uint64_t checksum() const override;
  std::vector<std::string> warnings() const override;
  int64_t countLabels(const Microbatch &microbatch) const override;
  std::string ignoredLabels() const override;
  void fill(const Microbatch &microbatch, Program &program) const override;

private:
  void bind(const InputInfo &input);
  void checkValues(size_t i) const;
  bool isLabels(size_t i) const;
  /// Elements of a row, or of all where the input has no rows.
  int64_t rowElements(size_t i) const;
  /// Of one row, labels as the program takes them; row 0 where the input has no rows.
  std::vector<int64_t> integers(size_t i, int64_t row) const;
  std::vector<float> floats(size_t i, int64_t row) const;

  const ProgramInfo &info;
  SafetensorsFile file;
  std::vector<const TensorEntry *> entries; ///< of the inputs
  int64_t count = 0;
};

} // namespace colrow
