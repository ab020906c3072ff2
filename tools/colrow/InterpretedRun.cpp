//===- InterpretedRun.cpp - trains a program in the interpreter -----------===//

#include "tools/colrow/InterpretedRun.h"
#include "colrow/Error.h"
#include "dialect/Colrow.h"
#include "runtime/reference/Interpreter.h"
#include "runtime/reference/Shape.h"
#include "runtime/train/Schedule.h"

#include <cmath>

using namespace mlir;

namespace colrow {

using reference::Tensor;
using Tensors = std::map<std::string, Tensor>;

namespace {

constexpr int64_t ignoreLabel = -100; // PyTorch's

std::vector<int64_t> shapeOf(Type type) {
  auto shape = cast<RankedTensorType>(type).getShape();
  return {shape.begin(), shape.end()};
}

/// The global type of an argument, which localize has kept where there was a layout.
RankedTensorType globalType(func::FuncOp function, unsigned argument) {
  if (auto global = function.getArgAttrOfType<TypeAttr>(argument, "colrow.global"))
    return cast<RankedTensorType>(global.getValue());
  return cast<RankedTensorType>(function.getArgumentTypes()[argument]);
}

/// For every dimension of a parameter, where in its storage its elements are.
std::vector<std::vector<int64_t>> storedIndices(const std::vector<DimSlice> &storage,
                                                const std::vector<int64_t> &valid) {
  std::vector<std::vector<int64_t>> indices(valid.size());
  for (auto [d, dim] : llvm::enumerate(storage))
    for (int64_t i = 0; i < dim.size; ++i)
      if (dim.validIndex(i, valid[d]) >= 0)
        indices[d].push_back(i);
  return indices;
}

/// Calls visit(number without padding, number in the storage) for every element.
template <typename Visit>
void forEachStored(const std::vector<std::vector<int64_t>> &indices,
                   const std::vector<int64_t> &shape, const Visit &visit) {
  std::vector<size_t> at(indices.size(), 0);
  for (int64_t number = 0;; ++number) {
    int64_t stored = 0;
    for (size_t d = 0; d < indices.size(); ++d)
      stored = stored * shape[d] + indices[d][at[d]];
    visit(number, stored);
    size_t d = indices.size();
    while (d > 0 && ++at[d - 1] == indices[d - 1].size())
      at[--d] = 0;
    if (d == 0)
      return;
  }
}

/// How a parameter is stored: padded with zeros.
struct Storage {
  std::vector<int64_t> valid, shape;
  std::vector<std::vector<int64_t>> indices;

  Tensor stored(const std::vector<double> &values) const {
    std::vector<double> padded(reference::elementCount(shape), 0);
    forEachStored(indices, shape, [&](int64_t i, int64_t at) { padded[at] = values[i]; });
    return Tensor::floats(shape, padded);
  }
  Tensor without(const Tensor &value) const {
    std::vector<double> padded = value.toFloats(), values(reference::elementCount(valid));
    forEachStored(indices, shape, [&](int64_t i, int64_t at) { values[i] = padded[at]; });
    return Tensor::floats(valid, values);
  }
  /// Whether all that is padding is 0.
  bool isZeroAround(const Tensor &value) const {
    std::vector<double> padded = value.toFloats();
    forEachStored(indices, shape, [&](int64_t, int64_t at) { padded[at] = 0; });
    return llvm::all_of(padded, [](double x) { return x == 0; });
  }
};

/// Without padding behind the elements.
Tensor cutTo(const Tensor &value, const std::vector<int64_t> &shape) {
  return reference::slice(value, std::vector<int64_t>(shape.size(), 0), shape,
                          std::vector<int64_t>(shape.size(), 1))
      .materialize();
}

/// Batch `index` of [count, ...].
Tensor batchOf(const Tensor &batches, int64_t index) {
  std::vector<int64_t> starts(batches.rank(), 0), limits = batches.shape(),
                                                  steps(batches.rank(), 1);
  starts[0] = index;
  limits[0] = index + 1;
  std::vector<int64_t> shape(batches.shape().begin() + 1, batches.shape().end());
  return reference::reshape(reference::slice(batches, starts, limits, steps), shape);
}

/// Position t takes the label at t + 1; the last one is ignored.
Tensor shiftLeft(const Tensor &labels) {
  std::vector<int64_t> values = labels.toIntegers();
  int64_t row = labels.shape().back();
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = static_cast<int64_t>(i) % row == row - 1 ? ignoreLabel : values[i + 1];
  return Tensor::integers(labels.shape(), values);
}

class Interpretation {
public:
  Interpretation(Model &model, int64_t ranks, const ParameterData &weights) {
    program = model.compile(ranks, buildReferencePipeline);
    auto step = program->lookupSymbol<func::FuncOp>("forward_backward");
    for (unsigned i = 0; i < step.getNumArguments(); ++i) {
      if (getRole(step, i) != "parameter")
        continue;
      std::string name = getName(step, i).str();
      const Parameter *parameter = model.parameters().find(name);
      if (!parameter)
        throw Error("the program has a parameter '" + name + "' that the model lacks");
      std::vector<int64_t> shape = parameter->valueShape();
      std::vector<float> data = weights(*parameter);
      RankedTensorType type = globalType(step, i);
      std::vector<DimSlice> storage =
          getStorage(type, step.getArgAttrDict(i), getGrid(*program));
      valid[name] = {shape, shapeOf(type), storedIndices(storage, shape)};
      state[name] = valid[name].stored(std::vector<double>(data.begin(), data.end()));
      Tensor zeros = Tensor::full(reference::ElementType::f32, shapeOf(type), 0);
      state[name + ".gradient"] = state[name + ".first"] = state[name + ".second"] = zeros;
    }
    ProgramInfo info = model.describeInputs();
    rule = info.labels;
    labelsInput = info.labelsInput;
  }

  TrainingRun train(const Batches &batches, int64_t steps) {
    const Hyperparameters h;
    TrainingRun run;
    int64_t count = batches.begin()->second.shape()[0];
    for (int64_t step = 0; step < steps; ++step) {
      setBatch(batches, step % count, step);
      if (step == 0)
        for (const NamedTensor &output : interpret(*program, "evaluate", state).outputs)
          if (output.role == "output")
            run.outputs[output.name] = withoutPadding(output);
      InterpreterResult result = interpret(*program, "forward_backward", state);
      Tensors inputs = state;
      for (const NamedTensor &output : result.outputs) {
        if (output.role == "loss")
          run.losses.push_back(output.value.item());
        if (output.role != "gradient")
          continue;
        inputs[output.key] = output.value;
        if (step == 0)
          run.gradients[output.name] = valid[output.name].without(output.value);
      }
      double t = static_cast<double>(step + 1);
      inputs["colrow.scalars"] =
          Tensor::floats({8}, {h.learningRate, h.beta1, h.beta2, h.epsilon, h.weightDecay,
                               1 - std::pow(h.beta1, t), 1 - std::pow(h.beta2, t), h.clipNorm});
      for (const NamedTensor &output : interpret(*program, "update", inputs).outputs) {
        if (output.role == "metric")
          run.norms.push_back(output.value.item());
        else
          state[output.key] = output.value;
      }
    }
    for (const auto &[name, storage] : valid) {
      for (const char *part : {"", ".first", ".second"})
        if (!storage.isZeroAround(state[name + part]))
          throw Error("after training, the padding of '" + name + part + "' is not zero");
      run.final[name] = storage.without(state[name]);
    }
    return run;
  }

private:
  void setBatch(const Batches &batches, int64_t index, int64_t step) {
    for (const auto &[name, values] : batches) {
      Tensor batch = batchOf(values, index);
      if (name == labelsInput && rule == LabelRule::shiftLeft)
        batch = shiftLeft(batch);
      state[name] = batch;
    }
    int64_t count = 1; // of a loss that is the graph's own
    if (rule != LabelRule::inGraph) {
      if (!state.count(labelsInput))
        throw Error("the batches have no '" + labelsInput + "'");
      std::vector<int64_t> labels = state[labelsInput].toIntegers();
      count = llvm::count_if(labels, [](int64_t label) { return label != ignoreLabel; });
    }
    state["colrow.count"] = Tensor::scalar(reference::ElementType::f32, static_cast<double>(count));
    state["colrow.random"] = Tensor::integers({4}, {0, step, 0, 0}); // dropout is off
  }

  /// Outputs of padded storage (logits of a padded vocabulary) say what of them is valid.
  Tensor withoutPadding(const NamedTensor &output) {
    auto function = program->lookupSymbol<func::FuncOp>("evaluate");
    for (unsigned i = 0; i < function.getNumResults(); ++i)
      if (getResultName(function, i) == output.name)
        if (auto sizes = function.getResultAttrOfType<ArrayAttr>(i, "colrow.valid")) {
          std::vector<int64_t> shape;
          for (Attribute size : sizes)
            shape.push_back(cast<IntegerAttr>(size).getInt());
          return cutTo(output.value, shape);
        }
    return output.value;
  }

  OwningOpRef<ModuleOp> program;
  Tensors state; ///< parameters, moments, zero gradients, the batch
  std::map<std::string, Storage> valid;
  LabelRule rule = LabelRule::none;
  std::string labelsInput;
};

} // namespace

TrainingRun interpretTraining(Model &model, int64_t ranks, const Batches &batches, int64_t steps,
                              const ParameterData &weights) {
  return Interpretation(model, ranks, weights).train(batches, steps);
}

} // namespace colrow
