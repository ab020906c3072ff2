//===- Weights.h - where the values of a model's parameters come from -----===//
#pragma once

#include "frontend/onnx/WriteBack.h"
#include "tools/colrow/Model.h"

namespace colrow {

/// Whether the bytes of every parameter are at hand.
bool hasWeights(const Model &model);

/// Throws Error naming the first parameter whose bytes are missing, and what to do. A model that says
/// what its parameters start with needs none.
void requireWeights(const Model &model);

/// Those of a safetensors file under torch's names, or of a run's folder (its final.safetensors),
/// found as a trainer's --weights finds them. `table` must outlive the result. Throws Error naming
/// the file and what it lacks.
ParameterData weightsFromFile(const ParameterList &table, const std::string &path);

/// What training starts from: the file `path` if it is not empty, else the model's own weights,
/// else those of a trainer's --init (seed 0). `model` must outlive the result. Throws Error.
ParameterData startingWeights(Model &model, const std::string &path);

/// Writes a safetensors file under torch's names and in torch's orientation. Throws Error.
void writeWeights(const ParameterList &table, const ParameterData &data, const std::string &path);

/// `path`, or the final weights in it where it is a run's folder.
std::string resolveWeights(const std::string &path);

} // namespace colrow
