//===- Bigram.cpp - a small hand-written Program for tests -----------------===//

#include "Bigram.h"
#include "colrow/Philox.h"

#include <algorithm>
#include <array>
#include <cmath>

using namespace colrow;

namespace bigram {
namespace {

enum { embed, scale, head, bias, parameterCount };

class Bigram : public Program {
public:
  Bigram(const Shape &shape, const ProgramInfo &info, Rank &rank)
      : shape(shape), programInfo(info), tp(rank.over({"tp"})), hidden(shape.hidden),
        tokens(shape.batch * shape.sequence) {
    localVocabulary = info.parameters[embed].dims[0].localSize();
    firstWord = tp.index() * localVocabulary;
    for (int p = 0; p < parameterCount; ++p) {
      size_t size = 1;
      for (const DimSlice &dim : info.parameters[size_t(p)].dims)
        size *= size_t(dim.localSize());
      for (std::vector<float> *buffer :
           {&values[p], &gradients[p], &firstMoments[p], &secondMoments[p]})
        buffer->assign(size, 0);
    }
    inputIds.resize(size_t(tokens));
    mask.resize(size_t(tokens));
    labels.resize(size_t(tokens));
    logitsOut.resize(size_t(tokens * shape.vocabulary));
  }

  const ProgramInfo &info() const override { return programInfo; }
  float *parameter(size_t i) override { return values[i].data(); }
  float *gradient(size_t i) override { return gradients[i].data(); }
  float *firstMoment(size_t i) override { return firstMoments[i].data(); }
  float *secondMoment(size_t i) override { return secondMoments[i].data(); }
  void *input(size_t i) override {
    void *buffers[] = {inputIds.data(), mask.data(), labels.data()};
    return buffers[i];
  }
  const float *output(size_t) override { return logitsOut.data(); }

  void zeroGradients() override {
    for (std::vector<float> &gradient : gradients)
      std::fill(gradient.begin(), gradient.end(), 0.0f);
  }

  double forwardBackward(const StepScalars &scalars) override {
    double loss = forward(scalars);
    show(0, embedded);
    show(1, logits);
    backward(scalars);
    return loss;
  }

  double evaluate(const StepScalars &scalars) override {
    double loss = forward(scalars);
    std::vector<double> all(size_t(tp.size()) * logits.size());
    tp.allGather(logits.data(), all.data(), int64_t(logits.size()));
    for (int64_t t = 0; t < tokens; ++t)
      for (int64_t v = 0; v < shape.vocabulary; ++v)
        logitsOut[size_t(t * shape.vocabulary + v)] =
            float(all[size_t((v / localVocabulary * tokens + t) * localVocabulary +
                             v % localVocabulary)]);
    return loss;
  }

  double update(const StepScalars &scalars) override {
    double squares = 0, own = 0; // `own` counts the whole parameter once
    for (int p = 0; p < parameterCount; ++p)
      for (float g : gradients[p])
        (p == scale ? own : squares) += double(g) * g;
    tp.allReduce(&squares, 1);
    double norm = std::sqrt(squares + own);
    double factor =
        scalars.clipNorm > 0 ? std::min(1.0, scalars.clipNorm / (norm + 1e-6)) : 1.0;
    double correction1 = 1 - std::pow(scalars.beta1, double(scalars.step + 1));
    double correction2 = 1 - std::pow(scalars.beta2, double(scalars.step + 1));
    for (size_t p = 0; p < parameterCount; ++p)
      for (size_t i = 0; i < values[p].size(); ++i) {
        double g = gradients[p][i] * factor;
        double m = firstMoments[p][i] = float(scalars.beta1 * firstMoments[p][i] +
                                              (1 - scalars.beta1) * g);
        double v = secondMoments[p][i] = float(scalars.beta2 * secondMoments[p][i] +
                                               (1 - scalars.beta2) * g * g);
        double decay = programInfo.parameters[p].decay ? scalars.weightDecay : 0;
        values[p][i] = float(values[p][i] * (1 - scalars.learningRate * decay) -
                             scalars.learningRate * (m / correction1) /
                                 (std::sqrt(v / correction2) + scalars.epsilon));
      }
    return norm;
  }

private:
  void show(size_t value, const std::vector<double> &numbers) {
    std::vector<float> floats(numbers.begin(), numbers.end());
    watch(value, floats.data(), int64_t(floats.size()));
  }

  double keepFactor(const StepScalars &scalars, int64_t t, int64_t h) const {
    if (!scalars.dropout || shape.dropout == 0)
      return 1;
    uint64_t index = uint64_t((scalars.microbatch * tokens + t) * hidden + h);
    bool kept = dropoutKeeps(scalars.seed, uint64_t(scalars.step), stableId("drop"), index,
                             shape.dropout);
    return kept ? 1 / (1 - shape.dropout) : 0;
  }

  /// Words of the vocabulary proper in this rank's slice.
  int64_t validWords() const {
    return std::clamp<int64_t>(shape.vocabulary - firstWord, 0, localVocabulary);
  }

  double forward(const StepScalars &scalars) {
    embedded.assign(size_t(tokens * hidden), 0);
    for (int64_t t = 0; t < tokens; ++t) {
      int64_t word = inputIds[size_t(t)] - firstWord;
      if (word >= 0 && word < localVocabulary)
        for (int64_t h = 0; h < hidden; ++h)
          embedded[size_t(t * hidden + h)] = values[embed][size_t(word * hidden + h)];
    }
    tp.allReduce(embedded.data(), int64_t(embedded.size()));
    logits.assign(size_t(tokens * localVocabulary), 0);
    std::vector<double> most(size_t(tokens), -INFINITY);
    for (int64_t t = 0; t < tokens; ++t) {
      for (int64_t h = 0; h < hidden; ++h)
        embedded[size_t(t * hidden + h)] *= keepFactor(scalars, t, h);
      for (int64_t v = 0; v < validWords(); ++v) {
        double sum = values[bias][size_t(v)];
        for (int64_t h = 0; h < hidden; ++h)
          sum += embedded[size_t(t * hidden + h)] * values[scale][size_t(h)] *
                 values[head][size_t(h * localVocabulary + v)];
        logits[size_t(t * localVocabulary + v)] = sum;
        most[size_t(t)] = std::max(most[size_t(t)], sum);
      }
    }
    tp.allReduce(most.data(), tokens, ReduceOp::max);
    std::vector<double> sums(size_t(tokens * 2)); // of exponentials; the label's logit
    for (int64_t t = 0; t < tokens; ++t) {
      for (int64_t v = 0; v < validWords(); ++v)
        sums[size_t(t)] +=
            std::exp(logits[size_t(t * localVocabulary + v)] - most[size_t(t)]);
      int64_t word = labels[size_t(t)] - firstWord;
      if (word >= 0 && word < validWords())
        sums[size_t(tokens + t)] = logits[size_t(t * localVocabulary + word)];
    }
    tp.allReduce(sums.data(), int64_t(sums.size()));
    logSums.resize(size_t(tokens));
    double loss = 0;
    for (int64_t t = 0; t < tokens; ++t) {
      logSums[size_t(t)] = most[size_t(t)] + std::log(sums[size_t(t)]);
      if (labels[size_t(t)] != programInfo.ignoreLabel)
        loss += logSums[size_t(t)] - sums[size_t(tokens + t)];
    }
    return loss / scalars.validLabels;
  }

  void backward(const StepScalars &scalars) {
    std::vector<double> dHidden(size_t(tokens * hidden)); // of embedded * scale
    for (int64_t t = 0; t < tokens; ++t) {
      if (labels[size_t(t)] == programInfo.ignoreLabel)
        continue;
      for (int64_t v = 0; v < validWords(); ++v) {
        double d = std::exp(logits[size_t(t * localVocabulary + v)] - logSums[size_t(t)]);
        if (labels[size_t(t)] - firstWord == v)
          d -= 1;
        d /= scalars.validLabels;
        gradients[bias][size_t(v)] += float(d);
        for (int64_t h = 0; h < hidden; ++h) {
          size_t weight = size_t(h * localVocabulary + v);
          gradients[head][weight] +=
              float(d * embedded[size_t(t * hidden + h)] * values[scale][size_t(h)]);
          dHidden[size_t(t * hidden + h)] += d * values[head][weight];
        }
      }
    }
    tp.allReduce(dHidden.data(), int64_t(dHidden.size()));
    for (int64_t t = 0; t < tokens; ++t) {
      int64_t word = inputIds[size_t(t)] - firstWord;
      for (int64_t h = 0; h < hidden; ++h) {
        double d = dHidden[size_t(t * hidden + h)];
        gradients[scale][size_t(h)] += float(d * embedded[size_t(t * hidden + h)]);
        if (word >= 0 && word < localVocabulary)
          gradients[embed][size_t(word * hidden + h)] +=
              float(d * values[scale][size_t(h)] * keepFactor(scalars, t, h));
      }
    }
  }

  Shape shape;
  const ProgramInfo &programInfo;
  Communicator &tp;
  int64_t hidden, tokens, localVocabulary, firstWord;
  std::array<std::vector<float>, parameterCount> values, gradients, firstMoments, secondMoments;
  std::vector<int64_t> inputIds, labels;
  std::vector<float> mask, logitsOut;
  std::vector<double> embedded, logits, logSums;
};

} // namespace

ProgramInfo makeInfo(const Shape &shape) {
  ProgramInfo info;
  info.model = "bigram.onnx";
  info.grid = {{"tp", shape.ranks}};
  info.batch = shape.batch;
  info.sequence = shape.sequence;
  info.objective = "causal_lm";
  info.labels = LabelRule::shiftLeft;
  int64_t quantum = 8 * shape.ranks;
  int64_t padded = (shape.vocabulary + quantum - 1) / quantum * quantum;
  DimSlice vocabulary{padded, {{"tp", shape.ranks, 1, 1}}}, hidden{shape.hidden, {}};
  auto add = [&](std::string name, std::vector<std::string> aliases, std::vector<DimSlice> dims,
                 std::vector<int64_t> valid, bool transposed, InitRule init) {
    ParameterInfo parameter;
    parameter.name = name;
    parameter.aliases = aliases;
    parameter.dims = dims;
    parameter.valid = valid;
    parameter.decay = dims.size() > 1;
    parameter.transposed = transposed;
    parameter.init = init;
    parameter.id = stableId(name);
    info.parameters.push_back(parameter);
  };
  add("model.embed.weight", {"model.tied.weight"}, {vocabulary, hidden},
      {shape.vocabulary, shape.hidden}, false, {InitRule::normal, 0.5});
  add("model.scale", {}, {hidden}, {shape.hidden}, false, {InitRule::ones, 0});
  add("model.head.weight", {}, {hidden, vocabulary}, {shape.hidden, shape.vocabulary}, true,
      {InitRule::normal, 0.5});
  add("model.head.bias", {}, {vocabulary}, {shape.vocabulary}, false, {InitRule::zeros, 0});
  std::vector<int64_t> tokens = {shape.batch, shape.sequence};
  info.inputs = {{"input_ids", DType::i64, tokens, shape.vocabulary},
                 {"attention_mask", DType::f32, tokens, 0},
                 {"labels", DType::i64, tokens, shape.vocabulary}};
  info.outputs = {
      {"logits", DType::f32, {shape.batch, shape.sequence, shape.vocabulary}, 0}};
  info.values = {{"embedded", "", false}, {"logits", "/head/MatMul", false}};
  info.gradientOrder = {bias, head, scale, embed};
  return info;
}

std::unique_ptr<Program> makeProgram(const Shape &shape, const ProgramInfo &info, Rank &rank) {
  return std::make_unique<Bigram>(shape, info, rank);
}

} // namespace bigram
