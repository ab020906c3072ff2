//===- Weights.h - initial weights in, trained weights out -----------------===//
//
// Files hold whole parameters under torch's names and in torch's orientation, so that they go
// into load_state_dict as they are. In memory a parameter may be the transpose
// (ParameterInfo::transposed), padded, and cut into slices.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "Slices.h"
#include "colrow/Program.h"
#include "colrow/Rank.h"
#include "colrow/Safetensors.h"

#include <string>

namespace colrow {

/// The shape of a parameter in torch's orientation.
std::vector<int64_t> torchShape(const ParameterInfo &info);

/// A whole parameter from torch's orientation to that of the storage.
std::vector<float> fromTorch(const ParameterInfo &info, std::vector<float> values);

/// Where in a file the parameters of a program are.
class WeightsFile {
public:
  /// Finds every parameter under its name or an alias, or throws Error naming file and parameter.
  /// Where the file lacks a leading part of the names altogether (the "transformer." that a
  /// headless model's file does not have), names match without it. A tensor must have torch's
  /// shape; the shape of the storage will do too, where the two differ.
  WeightsFile(const std::string &path, const ProgramInfo &info);

  const SafetensorsFile &contents() const { return file; }
  /// The whole of parameter `index` in storage orientation.
  std::vector<float> read(size_t index) const;

private:
  const TensorEntry *findParameter(const ParameterInfo &parameter) const;

  const ProgramInfo &info;
  SafetensorsFile file;
  std::vector<const TensorEntry *> entries; ///< by parameter
};

/// Fills this rank's slices from the file.
void loadWeights(const WeightsFile &weights, const ProgramInfo &info, const Rank &rank,
                 Program &program);

/// Writes a whole parameter as the next tensor, or the next part of one. A collective of all ranks;
/// those without a writer only give their slices.
void writeWhole(const ParameterInfo &info, Rank &rank, const float *slice, Orientation orientation,
                SafetensorsWriter *writer);

/// Element `index` of a whole parameter (storage orientation, valid shape) by its rule: for `normal`
/// it is deviation * philoxNormal(seed, 0, id, index).
float initialValue(uint64_t seed, const ParameterInfo &parameter, int64_t index);

/// Fills this rank's slices with the initial values.
void initializeWeights(uint64_t seed, const ProgramInfo &info, const Rank &rank,
                       Program &program);

/// Writes all parameters, tied ones under each name. A collective of all ranks; rank 0 writes.
/// `step` goes into the metadata.
void saveWeights(const std::string &path, int64_t step, const ProgramInfo &info, Rank &rank,
                 Program &program);

} // namespace colrow
