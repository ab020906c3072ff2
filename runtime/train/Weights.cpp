//===- Weights.cpp - initial weights in, trained weights out ---------------===//

#include "Weights.h"
#include "Format.h"
#include "Slices.h"
#include "colrow/Error.h"
#include "colrow/Philox.h"

#include <algorithm>

namespace colrow {
namespace {

/// The transpose of a matrix with these dimensions, row-major.
std::vector<float> transpose(const std::vector<float> &matrix, int64_t rows, int64_t columns) {
  std::vector<float> result(matrix.size());
  constexpr int64_t tile = 32; // both sides of a tile stay in the first cache
  for (int64_t r0 = 0; r0 < rows; r0 += tile)
    for (int64_t c0 = 0; c0 < columns; c0 += tile)
      for (int64_t r = r0; r < std::min(rows, r0 + tile); ++r)
        for (int64_t c = c0; c < std::min(columns, c0 + tile); ++c)
          result[size_t(c * rows + r)] = matrix[size_t(r * columns + c)];
  return result;
}

std::vector<std::string> allNames(const ParameterInfo &parameter) {
  std::vector<std::string> names = {parameter.name};
  for (const std::string &alias : parameter.aliases)
    if (std::find(names.begin(), names.end(), alias) == names.end())
      names.push_back(alias);
  return names;
}

} // namespace

std::vector<int64_t> torchShape(const ParameterInfo &info) {
  std::vector<int64_t> shape = info.valid;
  if (info.transposed)
    std::reverse(shape.begin(), shape.end());
  return shape;
}

std::vector<float> fromTorch(const ParameterInfo &info, std::vector<float> values) {
  if (!info.transposed)
    return values;
  return transpose(values, info.valid[1], info.valid[0]);
}

const TensorEntry *WeightsFile::findParameter(const ParameterInfo &parameter) const {
  for (const std::string &name : allNames(parameter))
    if (const TensorEntry *entry = file.find(name))
      return entry;
  for (const std::string &name : allNames(parameter)) {
    size_t dot = name.find('.');
    if (dot == std::string::npos)
      continue;
    std::string prefix = name.substr(0, dot + 1);
    bool prefixUsed = std::any_of(file.tensors().begin(), file.tensors().end(),
                                  [&](const TensorEntry &entry) {
                                    return entry.name.compare(0, prefix.size(), prefix) == 0;
                                  });
    if (prefixUsed)
      continue;
    if (const TensorEntry *entry = file.find(name.substr(dot + 1)))
      return entry;
  }
  return nullptr;
}

WeightsFile::WeightsFile(const std::string &path, const ProgramInfo &info)
    : info(info), file(path) {
  for (const ParameterInfo &parameter : info.parameters) {
    const TensorEntry *entry = findParameter(parameter);
    if (!entry)
      throw Error(fmt::format("'{}' has no tensor for the parameter '{}'", path, parameter.name));
    if (entry->shape != torchShape(parameter) && entry->shape != parameter.valid)
      throw Error(fmt::format("'{}': tensor '{}' has shape {}, the parameter needs {}", path,
                              entry->name, shapeText(entry->shape),
                              shapeText(torchShape(parameter))));
    file.readFloats(*entry, 0, 0); // an element type that cannot be read is told before training
    entries.push_back(entry);
  }
}

std::vector<float> WeightsFile::read(size_t index) const {
  const ParameterInfo &parameter = info.parameters[index];
  std::vector<float> values = file.readFloats(*entries[index]);
  if (entries[index]->shape != torchShape(parameter))
    return values;
  return fromTorch(parameter, std::move(values));
}

void loadWeights(const WeightsFile &weights, const ProgramInfo &info, const Rank &rank,
                 Program &program) {
  for (size_t i = 0; i < info.parameters.size(); ++i)
    scatter(info.parameters[i], rank, weights.read(i).data(), program.parameter(i));
}

void writeWhole(const ParameterInfo &info, Rank &rank, const float *slice, Orientation orientation,
                SafetensorsWriter *writer) {
  std::function<void(const float *, int64_t)> take;
  if (writer)
    take = [&](const float *values, int64_t count) {
      writer->write(values, uint64_t(count) * sizeof(float));
    };
  gather(info, rank, slice, orientation, take);
}

float initialValue(uint64_t seed, const ParameterInfo &parameter, int64_t index) {
  switch (parameter.init.kind) {
  case InitRule::zeros:
    return 0;
  case InitRule::ones:
    return 1;
  case InitRule::normal:
    break;
  }
  return float(parameter.init.deviation) *
         philoxNormal(seed, 0, parameter.id, uint64_t(index));
}

void initializeWeights(uint64_t seed, const ProgramInfo &info, const Rank &rank,
                       Program &program) {
  for (size_t p = 0; p < info.parameters.size(); ++p) {
    const ParameterInfo &parameter = info.parameters[p];
    LocalShape shape = LocalShape::of(parameter.dims, rank.grid(), rank.index());
    float *slice = program.parameter(p);
    std::fill(slice, slice + sliceElements(parameter), 0.0f);
    forEachRun(parameter, shape, [&](int64_t local, int64_t valid, int64_t count) {
      for (int64_t i = 0; i < count; ++i)
        slice[local + i] = initialValue(seed, parameter, valid + i);
    });
  }
}

void saveWeights(const std::string &path, int64_t step, const ProgramInfo &info, Rank &rank,
                 Program &program) {
  std::unique_ptr<SafetensorsWriter> writer;
  if (rank.index() == 0) {
    writer = std::make_unique<SafetensorsWriter>(path);
    writer->metadata("format", "pt");
    writer->metadata("step", std::to_string(step));
    for (const ParameterInfo &parameter : info.parameters)
      for (const std::string &name : allNames(parameter))
        writer->declare(name, TensorType::F32, torchShape(parameter));
  }
  for (size_t p = 0; p < info.parameters.size(); ++p) {
    const ParameterInfo &parameter = info.parameters[p];
    for (size_t copy = 0; copy < allNames(parameter).size(); ++copy)
      writeWhole(parameter, rank, program.parameter(p), Orientation::torch, writer.get());
  }
  if (writer)
    writer->commit();
}

} // namespace colrow
