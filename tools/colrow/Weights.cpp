//===- Weights.cpp - where the values of a model's parameters come from ---===//

#include "tools/colrow/Weights.h"
#include "colrow/Error.h"
#include "runtime/train/Weights.h"

#include <filesystem>

namespace fs = std::filesystem;

namespace colrow {

bool hasWeights(const Model &model) { return model.file().absentWeights().empty(); }

void requireWeights(const Model &model) {
  std::string absent = model.file().absentWeights();
  if (!absent.empty() && !model.file().startsFromScratch())
    throw Error("'" + model.options().model + "' has no weights: " + absent +
                "; give --weights FILE, or --init to start from scratch");
}

std::string resolveWeights(const std::string &path) {
  return fs::is_directory(path) ? (fs::path(path) / "final.safetensors").string() : path;
}

namespace {
/// The file refers to the description beside it.
struct OpenWeights {
  ProgramInfo info;
  std::optional<WeightsFile> file;
};
} // namespace

ParameterData weightsFromFile(const ParameterList &table, const std::string &path) {
  auto open = std::make_shared<OpenWeights>();
  for (const Parameter &parameter : table.parameters) {
    ParameterInfo info;
    info.name = parameter.name;
    info.aliases = parameter.aliases;
    info.valid = parameter.valueShape();
    info.transposed = parameter.transposed;
    open->info.parameters.push_back(info);
  }
  open->file.emplace(resolveWeights(path), open->info);
  return [open, &table](const Parameter &parameter) {
    return open->file->read(static_cast<size_t>(&parameter - table.parameters.data()));
  };
}

/// A parameter in torch's orientation.
static std::vector<float> turned(const Parameter &parameter, std::vector<float> data) {
  if (!parameter.transposed)
    return data;
  int64_t rows = parameter.shape[0], columns = parameter.shape[1];
  std::vector<float> result(data.size());
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < columns; ++j)
      result[i * columns + j] = data[j * rows + i];
  return result;
}

void writeWeights(const ParameterList &table, const ParameterData &data,
                  const std::string &path) {
  SafetensorsWriter writer(path);
  for (const Parameter &parameter : table.parameters)
    writer.declare(parameter.name, TensorType::F32, parameter.shape);
  for (const Parameter &parameter : table.parameters) {
    std::vector<float> values = turned(parameter, data(parameter));
    writer.write(values.data(), values.size() * sizeof(float));
  }
  writer.commit();
}

ParameterData startingWeights(Model &model, const std::string &path) {
  if (!path.empty())
    return weightsFromFile(model.parameters(), path);
  if (hasWeights(model))
    return [&model](const Parameter &parameter) { return model.file().initialData(parameter); };
  auto info = std::make_shared<ProgramInfo>(model.describe(1));
  return [info](const Parameter &parameter) {
    auto found = llvm::find_if(
        info->parameters, [&](const ParameterInfo &each) { return each.name == parameter.name; });
    if (found == info->parameters.end())
      throw Error("the program has no parameter '" + parameter.name + "'");
    std::vector<float> values(
        static_cast<size_t>(elementCount(parameter.shape, "parameter '" + parameter.name + "'")));
    for (size_t i = 0; i < values.size(); ++i)
      values[i] = initialValue(0, *found, static_cast<int64_t>(i));
    return values;
  };
}

} // namespace colrow
