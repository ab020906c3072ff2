//===- Replay.cpp - training on given batches, every number written down ---===//

#include "Replay.h"
#include "Batch.h"
#include "Format.h"
#include "Slices.h"
#include "Weights.h"
#include "colrow/Error.h"

#include <ostream>

namespace colrow {
namespace {

/// The batches of a file, checked against the inputs of a program.
class ReplayBatches {
public:
  ReplayBatches(const std::string &path, const ProgramInfo &info, int64_t accumulate)
      : info(info), accumulate(accumulate), file(path) {
    for (size_t i = 0; i < info.inputs.size(); ++i)
      check(i);
  }

  int64_t size() const { return count; }

  /// What the loss of batch `batch` is a mean over: labels that count, or microbatches.
  int64_t countLabels(int64_t batch) const {
    if (info.labels == LabelRule::inGraph)
      return accumulate;
    int64_t labels = 0;
    for (size_t i = 0; i < info.inputs.size(); ++i)
      if (info.inputs[i].name == info.labelsInput)
        for (int64_t m = 0; m < accumulate; ++m)
          for (int64_t label : integers(i, batch, m))
            labels += label != info.ignoreLabel;
    return labels;
  }

  /// Microbatch `m` of batch `batch` into the inputs of the program.
  void fill(int64_t batch, int64_t m, Program &program) const {
    for (size_t i = 0; i < info.inputs.size(); ++i) {
      const InputInfo &input = info.inputs[i];
      int64_t elements = elementCount(input.shape);
      if (input.dtype == DType::f32) {
        std::vector<float> values =
            file.readFloats(entry(i), (batch * accumulate + m) * elements, elements);
        storeInput(input, values.data(), elements, program.input(i));
      } else {
        std::vector<int64_t> values = integers(i, batch, m);
        storeInput(input, values.data(), elements, program.input(i));
      }
    }
  }

private:
  const TensorEntry &entry(size_t i) const { return file.get("batch." + info.inputs[i].name); }

  /// The values of an integer input, labels as the program takes them.
  std::vector<int64_t> integers(size_t i, int64_t batch, int64_t m) const {
    const InputInfo &input = info.inputs[i];
    int64_t elements = elementCount(input.shape);
    std::vector<int64_t> values =
        file.readIntegers(entry(i), (batch * accumulate + m) * elements, elements);
    if (input.name == info.labelsInput && info.labels != LabelRule::inGraph)
      prepareLabels(values, input.shape.back(), info);
    return values;
  }

  /// The shape [count, batch of the step, ...], and the range of token ids.
  void check(size_t i) {
    const InputInfo &input = info.inputs[i];
    const TensorEntry &tensor = entry(i);
    std::vector<int64_t> wanted = input.shape;
    if (!wanted.empty())
      wanted[0] *= accumulate;
    std::vector<int64_t> found = tensor.shape;
    int64_t batches = found.empty() ? 0 : found[0];
    if (!found.empty())
      found.erase(found.begin());
    if (batches == 0 || found != wanted)
      throw Error(fmt::format("'{}': tensor '{}' has shape {}, expected a number of batches and "
                              "then {}",
                              file.path(), tensor.name, shapeText(tensor.shape),
                              shapeText(wanted)));
    if (i > 0 && batches != count)
      throw Error(fmt::format("'{}': tensor '{}' has {} batches, the other inputs have {}",
                              file.path(), tensor.name, batches, count));
    count = batches;
    if (input.dtype == DType::f32) {
      file.readFloats(tensor, 0, 0); // an element type that cannot be read is told before training
      return;
    }
    std::vector<int64_t> values = file.readIntegers(tensor);
    if (input.limit <= 0)
      return;
    for (size_t p = 0; p < values.size(); ++p) {
      bool ignored = values[p] == torchIgnoreLabel &&
                     (input.name == info.labelsInput || info.labels == LabelRule::inGraph);
      if (!ignored && (values[p] < 0 || values[p] >= input.limit))
        throw Error(fmt::format("'{}': tensor '{}' has {} at position {}, which is not in [0, {})",
                                file.path(), tensor.name, values[p], p, input.limit));
    }
  }

  const ProgramInfo &info;
  int64_t accumulate;
  SafetensorsFile file;
  int64_t count = 0;
};

/// The shape of an output over all microbatches of a step: they follow along the first dimension.
std::vector<int64_t> outputShape(const InputInfo &output, int64_t accumulate) {
  std::vector<int64_t> shape = output.shape;
  if (!shape.empty())
    shape[0] *= accumulate;
  return shape;
}

class RankReplay {
public:
  RankReplay(const GeneratedProgram &generated, const ReplayOptions &options,
             const ReplayBatches &batches, Rank &rank)
      : info(generated.info), options(options), batches(batches), rank(rank),
        program(generated.create(rank)) {
    // Tensors are written in the order in which they come to be, so that none is kept.
    if (rank.index() != 0)
      return;
    writer = std::make_unique<SafetensorsWriter>(options.out);
    for (const InputInfo &output : info.outputs)
      writer->declare(output.name, TensorType::F32, outputShape(output, options.accumulate));
    for (const char *prefix : {"grad.", "final."})
      for (const ParameterInfo &parameter : info.parameters)
        writer->declare(prefix + parameter.name, TensorType::F32, parameter.valid);
    writer->declare("loss", TensorType::F64, {});
    writer->declare("losses", TensorType::F64, {options.steps});
    writer->declare("grad_norm", TensorType::F64, {});
    writer->declare("grad_norms", TensorType::F64, {options.steps});
  }

  void run(const WeightsFile *weights) {
    if (weights)
      loadWeights(*weights, info, rank, *program);
    else
      initializeWeights(options.seed, info, rank, *program);
    double loss = evaluateFirst();
    std::vector<double> losses, norms;
    for (int64_t step = 0; step < options.steps; ++step) {
      int64_t batch = step % batches.size();
      StepScalars scalars = scalarsOf(step, batch);
      program->zeroGradients();
      double stepLoss = 0;
      for (int64_t m = 0; m < options.accumulate; ++m) {
        scalars.microbatch = m;
        batches.fill(batch, m, *program);
        stepLoss += program->forwardBackward(scalars);
      }
      losses.push_back(stepLoss);
      if (step == 0)
        writeAll([&](size_t p) { return program->gradient(p); });
      norms.push_back(program->update(scalars));
    }
    writeAll([&](size_t p) { return program->parameter(p); });
    if (!writer)
      return;
    writer->write(&loss, sizeof(loss));
    writer->write(losses.data(), losses.size() * sizeof(double));
    writer->write(norms.data(), sizeof(double));
    writer->write(norms.data(), norms.size() * sizeof(double));
    writer->commit();
  }

private:
  StepScalars scalarsOf(int64_t step, int64_t batch) const {
    StepScalars scalars = stepScalars(options.hyperparameters, options.seed, step);
    scalars.dropout = false;
    int64_t labels = batches.countLabels(batch);
    if (labels == 0)
      throw Error(fmt::format("'{}': batch {} has no label that counts", options.batches, batch));
    scalars.validLabels = double(labels);
    return scalars;
  }

  /// Evaluates batch 0 and writes its outputs; returns its loss.
  double evaluateFirst() {
    StepScalars scalars = scalarsOf(0, 0);
    std::vector<std::vector<float>> outputs(info.outputs.size());
    double loss = 0;
    for (int64_t m = 0; m < options.accumulate; ++m) {
      scalars.microbatch = m;
      batches.fill(0, m, *program);
      loss += program->evaluate(scalars);
      for (size_t i = 0; i < outputs.size(); ++i) {
        const float *values = program->output(i); // all ranks: it may gather
        if (writer)
          outputs[i].insert(outputs[i].end(), values, values + elementCount(info.outputs[i].shape));
      }
    }
    if (writer)
      for (const std::vector<float> &output : outputs)
        writer->write(output.data(), output.size() * sizeof(float));
    return loss;
  }

  /// Gathers one tensor of each parameter and writes it.
  template <typename SliceOf> void writeAll(SliceOf sliceOf) {
    for (size_t p = 0; p < info.parameters.size(); ++p)
      writeWhole(info.parameters[p], rank, sliceOf(p), Orientation::storage, writer.get());
  }

  const ProgramInfo &info;
  const ReplayOptions &options;
  const ReplayBatches &batches;
  Rank &rank;
  std::unique_ptr<Program> program;
  std::unique_ptr<SafetensorsWriter> writer; ///< on rank 0
};

} // namespace

void runReplay(const GeneratedProgram &generated, const ReplayOptions &options,
               const Console &console, RankRunner &ranks) {
  ReplayBatches batches(options.batches, generated.info, options.accumulate);
  std::unique_ptr<WeightsFile> weights;
  if (!options.weights.empty())
    weights = std::make_unique<WeightsFile>(options.weights, generated.info);
  ranks.run([&](Rank &rank) { RankReplay(generated, options, batches, rank).run(weights.get()); });
  console.out << "wrote " << options.out << std::endl;
}

} // namespace colrow
