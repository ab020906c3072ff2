//===- Checkpoint.cpp - what a run needs to go on --------------------------===//

#include "Checkpoint.h"
#include "Format.h"
#include "Slices.h"
#include "Weights.h"
#include "colrow/Error.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>
#include <string_view>

namespace colrow {
namespace {

/// The parts of a parameter in a checkpoint: how their names begin, and where a program has them.
struct Part {
  const char *prefix;
  float *(Program::*slice)(size_t);
};
constexpr Part parts[] = {{"", &Program::parameter},
                          {"exp_avg.", &Program::firstMoment},
                          {"exp_avg_sq.", &Program::secondMoment}};

// Metadata of a checkpoint beside "format", which says that tensors are as torch has them.
constexpr const char *modelKey = "model", *graphKey = "graph", *stepKey = "step",
                     *stepsKey = "steps", *samplesKey = "samples", *settingsKey = "settings";

constexpr std::string_view namePrefix = "checkpoint-", nameSuffix = ".safetensors";

} // namespace

std::string checkpointName(int64_t step) {
  return fmt::format("{}{:06}{}", namePrefix, step, nameSuffix);
}

std::map<int64_t, std::string> findCheckpoints(const std::string &folder) {
  std::map<int64_t, std::string> found;
  std::error_code ignored;
  for (const auto &entry : std::filesystem::directory_iterator(folder, ignored)) {
    std::string name = entry.path().filename().string();
    if (name.size() <= namePrefix.size() + nameSuffix.size())
      continue;
    int64_t step = 0;
    std::from_chars(name.data() + namePrefix.size(), name.data() + name.size(), step);
    if (step > 0 && name == checkpointName(step))
      found[step] = entry.path().string();
  }
  return found;
}

CheckpointFile::CheckpointFile(const std::string &path) : file(path) {
  if (!file.find(sealName) && !file.metadata().count(settingsKey))
    throw Error(fmt::format("'{}' is no checkpoint; a run starts from weights by --weights", path));
  file.checkSeal();
  auto number = [&](const char *key) {
    auto found = file.metadata().find(key);
    int64_t value = 0;
    if (found == file.metadata().end() || !file.metadata().count(settingsKey))
      throw Error(fmt::format("'{}' is no checkpoint of a run", path));
    std::from_chars(found->second.data(), found->second.data() + found->second.size(), value);
    return value;
  };
  at = {number(stepKey), number(stepsKey), number(samplesKey)};
}

void CheckpointFile::requireSame(const ProgramInfo &info, const RunSettings &settings) const {
  auto otherModel = [&](const std::string &what) {
    auto model = file.metadata().find(modelKey);
    throw Error(fmt::format("'{}' is a checkpoint of another model{}: {}", path(),
                            model == file.metadata().end() || model->second == info.model
                                ? ""
                                : ", '" + model->second + "'",
                            what));
  };
  std::set<std::string> known = {sealName};
  for (const ParameterInfo &parameter : info.parameters)
    for (const Part &part : parts) {
      std::string name = part.prefix + parameter.name;
      const TensorEntry *entry = file.find(name);
      if (!entry)
        otherModel(fmt::format("it has no '{}'", name));
      if (entry->shape != torchShape(parameter) || entry->type != TensorType::F32)
        otherModel(fmt::format("'{}' is {} {} there and F32 {} here", name,
                               tensorTypeName(entry->type), shapeText(entry->shape),
                               shapeText(torchShape(parameter))));
      known.insert(name);
    }
  for (const TensorEntry &entry : file.tensors())
    if (!known.count(entry.name))
      otherModel(fmt::format("'{}' has no parameter '{}'", info.model, entry.name));

  auto graph = file.metadata().find(graphKey);
  if (graph == file.metadata().end() || graph->second != info.graph)
    otherModel(fmt::format("its graph has other operations than '{}', though all parameters are "
                           "called alike; weights without the run go into it by --weights",
                           info.model));

  nlohmann::json saved = nlohmann::json::parse(file.metadata().at(settingsKey));
  std::string differences;
  auto compare = [&](const std::string &name, const std::string &there, const std::string &here) {
    if (there != here)
      differences += fmt::format("{}{} is {} there and {} here", differences.empty() ? "" : "; ",
                                 name, there, here);
  };
  for (const auto &[name, value] : settings) {
    compare(name, saved.value(name, "not given"), value);
    saved.erase(name);
  }
  for (const auto &[name, value] : saved.items())
    compare(name, value.get<std::string>(), "not given");
  if (!differences.empty())
    throw Error(fmt::format("'{}' is of a run with other settings: {}", path(), differences));
}

void CheckpointFile::load(const ProgramInfo &info, const Rank &rank, Program &program) const {
  for (size_t p = 0; p < info.parameters.size(); ++p)
    for (const Part &part : parts) {
      const ParameterInfo &parameter = info.parameters[p];
      std::vector<float> values = file.readFloats(file.get(part.prefix + parameter.name));
      scatter(parameter, rank, fromTorch(parameter, std::move(values)).data(),
              (program.*part.slice)(p));
    }
}

void saveCheckpoint(const std::string &path, const RunPosition &position,
                    const RunSettings &settings, const ProgramInfo &info, Rank &rank,
                    Program &program) {
  std::unique_ptr<SafetensorsWriter> writer;
  if (rank.index() == 0) {
    nlohmann::ordered_json texts = nlohmann::ordered_json::object();
    for (const auto &[name, value] : settings)
      texts[name] = value;
    writer = std::make_unique<SafetensorsWriter>(path);
    writer->metadata("format", "pt");
    writer->metadata(modelKey, info.model);
    writer->metadata(graphKey, info.graph);
    writer->metadata(stepKey, std::to_string(position.step));
    writer->metadata(stepsKey, std::to_string(position.steps));
    writer->metadata(samplesKey, std::to_string(position.samples));
    writer->metadata(settingsKey, texts.dump());
    for (const Part &part : parts)
      for (const ParameterInfo &parameter : info.parameters)
        writer->declare(part.prefix + parameter.name, TensorType::F32, torchShape(parameter));
    writer->seal();
  }
  for (const Part &part : parts)
    for (size_t p = 0; p < info.parameters.size(); ++p)
      writeWhole(info.parameters[p], rank, (program.*part.slice)(p), Orientation::torch,
                 writer.get());
  if (writer)
    writer->commit();
  rank.world().barrier();
}

} // namespace colrow
