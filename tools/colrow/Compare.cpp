//===- Compare.cpp - how far one training run is from another -------------===//
//
// Distances are relative, of L2 norms where there is more than one number. A gradient is relative
// to its norm, but at least to 1e-3 of the whole gradient's: that of an attention key's bias is
// zero in exact arithmetic. Final values leave out the elements whose first gradient is below 1e-5
// of the parameter's largest, or 1000 times its measured noise: AdamW divides by the gradient's
// size, which turns noise into updates.
//
//===----------------------------------------------------------------------===//

#include "tools/colrow/Compare.h"
#include "colrow/Error.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <set>

namespace colrow {

using Values = std::vector<double>;

static constexpr double gradientFloor = 1e-3, elementFloor = 1e-5, noiseFactor = 1000;

static double norm(const Values &values) {
  double sum = 0;
  for (double value : values)
    sum += value * value;
  return std::sqrt(sum);
}

/// ‖a - b‖ / max(‖b‖, floor). What is not finite is infinitely far.
static double relative(const Values &a, const Values &b, double floor = 0) {
  if (a.size() != b.size())
    return INFINITY;
  Values difference(a.size());
  for (size_t i = 0; i < a.size(); ++i)
    difference[i] = a[i] - b[i];
  double distance = norm(difference) / std::max({norm(b), floor, 1e-300});
  return std::isfinite(distance) ? distance : INFINITY;
}

/// The largest relative distance of any two numbers.
static double worst(const Values &a, const Values &b) {
  if (a.size() != b.size())
    return INFINITY;
  double result = 0;
  for (size_t i = 0; i < a.size(); ++i)
    result = std::max(result, relative({a[i]}, {b[i]}));
  return result;
}

/// Of final values, over the elements kept; `noise` is that of an element of the gradient.
static double finalDistance(const Values &a, const Values &b, const Values &gradient,
                            double gradNorm, double noise) {
  if (a.size() != b.size() || a.size() != gradient.size())
    return INFINITY;
  double largest = gradientFloor * gradNorm;
  for (double value : gradient)
    largest = std::max(largest, std::abs(value));
  Values keptA, keptB;
  for (size_t i = 0; i < a.size(); ++i)
    if (std::abs(gradient[i]) >= std::max(elementFloor * largest, noiseFactor * noise)) {
      keptA.push_back(a[i]);
      keptB.push_back(b[i]);
    }
  return relative(keptA, keptB);
}

namespace {

/// A tensor of the file, in the orientation of the program's argument.
class ReferenceFile {
public:
  explicit ReferenceFile(const SafetensorsFile &file) : file(file) {}

  bool has(const std::string &name) const { return file.find(name) != nullptr; }
  Values read(const std::string &name) const { return file.readDoubles(file.get(name)); }

  /// Whether a tensor was found as a parameter's, under any of its names.
  bool wasRead(const std::string &name) const { return known.count(name); }

  /// `prefix` + any name of the parameter; empty if there is none.
  Values readParameter(const std::string &prefix, const Parameter &parameter) {
    known.insert(prefix + parameter.name);
    for (const ParameterValue &value : parameter.values)
      known.insert(prefix + value.name);
    for (const std::string &alias : parameter.aliases)
      known.insert(prefix + alias);
    for (const ParameterValue &value : parameter.values)
      if (has(prefix + value.name))
        return oriented(prefix + value.name, parameter, value.transposed);
    if (has(prefix + parameter.name))
      return oriented(prefix + parameter.name, parameter, false);
    for (const std::string &alias : parameter.aliases)
      if (has(prefix + alias))
        return oriented(prefix + alias, parameter, false);
    return {};
  }

private:
  Values oriented(const std::string &name, const Parameter &parameter, bool transposed) const {
    Values values = read(name);
    if (transposed == parameter.transposed || parameter.shape.size() != 2)
      return values;
    std::vector<int64_t> to = parameter.valueShape();
    if (static_cast<int64_t>(values.size()) != to[0] * to[1])
      return values;
    Values result(values.size());
    for (int64_t i = 0; i < to[0]; ++i)
      for (int64_t j = 0; j < to[1]; ++j)
        result[i * to[1] + j] = values[j * to[0] + i];
    return result;
  }

  const SafetensorsFile &file;
  std::set<std::string> known;
};

} // namespace

std::vector<Distance> compareWithReference(const TrainingRun &run, const SafetensorsFile &file,
                                           const ParameterList &parameters, double limit) {
  ReferenceFile reference(file);
  std::vector<Distance> table;
  auto add = [&](const std::string &quantity, const std::string &name,
                 const std::string &tensor, const std::function<double(const Values &)> &distance) {
    bool known = reference.has(tensor);
    table.push_back({quantity, name, known ? distance(reference.read(tensor)) : 0, limit, known});
  };
  for (const auto &output : run.outputs)
    add("output", output.first, output.first,
        [&](const Values &r) { return relative(output.second.toFloats(), r); });
  add("loss", "", "loss", [&](const Values &r) { return worst({run.losses.at(0)}, r); });
  // A run of fewer steps is held against the first of the reference's; its final values are not.
  size_t steps = run.losses.size();
  auto firstOf = [steps](Values values) {
    values.resize(std::min(values.size(), steps));
    return values;
  };
  bool isWhole = reference.has("losses") && reference.read("losses").size() == steps;
  add("losses", "", "losses", [&](const Values &r) { return worst(run.losses, firstOf(r)); });
  add("grad_norms", "", "grad_norms", [&](const Values &r) { return worst(run.norms, firstOf(r)); });
  double gradNorm = run.norms.at(0);
  for (const Parameter &parameter : parameters.parameters) {
    auto gradient = run.gradients.find(parameter.name);
    if (gradient == run.gradients.end())
      throw Error("the program has no gradient of '" + parameter.name + "'");
    Values expected = reference.readParameter("grad.", parameter);
    Values expectedFinal = reference.readParameter("final.", parameter);
    table.push_back({"gradient", parameter.name,
                     expected.empty() ? 0
                                      : relative(gradient->second.toFloats(), expected,
                                                 gradientFloor * gradNorm),
                     limit, !expected.empty()});
    bool known = isWhole && !expected.empty() && !expectedFinal.empty();
    table.push_back({"final", parameter.name,
                     known ? finalDistance(run.final.at(parameter.name).toFloats(), expectedFinal,
                                           expected, gradNorm, 0)
                           : 0,
                     limit, known});
  }
  for (const TensorEntry &tensor : file.tensors())
    if (tensor.name.rfind("grad.", 0) == 0 && !reference.wasRead(tensor.name))
      table.push_back({"gradient", tensor.name.substr(5) + " (no parameter of the program)", INFINITY,
                       limit});
  if (std::none_of(table.begin(), table.end(), [](const Distance &row) { return row.compared; }))
    throw Error("'" + file.path() + "' has nothing to compare with: expects loss, losses, "
                "grad_norms, grad.<parameter> or the model's outputs");
  return table;
}

std::vector<Distance> compareRuns(const TrainingRun &run, const TrainingRun &other, double limit,
                                  const std::map<std::string, double> &noise) {
  std::vector<Distance> table;
  for (const auto &[name, value] : other.outputs)
    table.push_back({"output", name, relative(run.outputs.at(name).toFloats(), value.toFloats()),
                     limit});
  table.push_back({"loss", "", worst({run.losses.at(0)}, {other.losses.at(0)}), limit});
  table.push_back({"losses", "", worst(run.losses, other.losses), limit});
  table.push_back({"grad_norms", "", worst(run.norms, other.norms), limit});
  double gradNorm = other.norms.at(0);
  for (const auto &[name, gradient] : other.gradients) {
    Values expected = gradient.toFloats();
    table.push_back({"gradient", name,
                     relative(run.gradients.at(name).toFloats(), expected,
                              gradientFloor * gradNorm),
                     limit});
    auto known = noise.find(name);
    table.push_back({"final", name,
                     finalDistance(run.final.at(name).toFloats(), other.final.at(name).toFloats(),
                                   expected, gradNorm, known == noise.end() ? 0 : known->second),
                     limit});
  }
  return table;
}

std::map<std::string, double> gradientNoise(const TrainingRun &run, const TrainingRun &other) {
  std::map<std::string, double> noise;
  for (const auto &[name, gradient] : other.gradients) {
    Values a = run.gradients.at(name).toFloats(), b = gradient.toFloats();
    for (size_t i = 0; i < a.size(); ++i)
      a[i] -= b[i];
    noise[name] = norm(a) / std::sqrt(std::max<double>(a.size(), 1));
  }
  return noise;
}

} // namespace colrow
