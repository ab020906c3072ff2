//===- Program.h - what a generated trainer is to the training loop -------===//
//
// `colrow compile` emits one class derived from Program; the training loop, replay and the
// checkpoint code see only this interface. One Program object is one rank: no globals.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "colrow/Layout.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace colrow {

class Rank; // colrow/Rank.h: coordinates on the grid, and the collectives

enum class DType { f32, i64, i32, b1 };

/// How a parameter is filled when training starts from scratch.
struct InitRule {
  enum Kind { zeros, ones, normal } kind = zeros;
  double deviation = 0.02; ///< standard deviation, for normal
};

/// A trainable tensor of the model, under the user's name.
struct ParameterInfo {
  std::string name;                    ///< torch name where known, else the ONNX name
  std::vector<std::string> aliases;    ///< other torch names of the same parameter (ties);
                                       ///< checkpoints hold it under each
  std::vector<DimSlice> dims;          ///< storage: global sizes with padding, and the cuts
  std::vector<int64_t> valid;          ///< global shape without padding; padding is and stays zero
  bool decay = false;                  ///< weight decay applies (two or more dimensions)
  bool transposed = false;             ///< stored as the transpose of torch's parameter
  InitRule init;
  uint64_t id = 0;                     ///< stable, from the name; key of its random stream
};

/// An input of the step other than parameters and scalars.
struct InputInfo {
  std::string name;            ///< the graph's own argument name, or that of the labels
  DType dtype = DType::i64;
  std::vector<int64_t> shape;  ///< of one microbatch
  int64_t limit = 0;           ///< values must be in [0, limit) (token ids); 0: not checked
};

/// A tensor that the forward pass computes, under the user's names.
struct ValueInfo {
  std::string name;           ///< of the tensor in the graph
  std::string node;           ///< that computes it; empty where it is called as the tensor
  bool mayBeInfinite = false; ///< a mask puts infinities into it
};

/// How labels follow from those of a batch before they enter the program.
enum class LabelRule {
  none,       ///< they enter as they are
  shiftLeft,  ///< causal LM: position t predicts labels[t + 1]; the last position is ignored
  inGraph,    ///< the graph makes its loss, of a microbatch, of its inputs; no input is special
};

struct ProgramInfo {
  std::string model;                     ///< file the program was compiled from
  std::string graph;                     ///< checksum of its operations, whatever grid and batch
  std::vector<GridAxis> grid;
  std::vector<ParameterInfo> parameters; ///< each tied group once
  std::vector<InputInfo> inputs;
  std::vector<InputInfo> outputs;        ///< of evaluate, beside the loss: e.g. logits
  std::vector<ValueInfo> values;         ///< see Program::observe
  /// Numbers of the parameters, in the order in which the backward pass completes their gradients.
  std::vector<size_t> gradientOrder;
  /// causal_lm, next_token, masked_lm, seq2seq or classification; in_graph with that label rule.
  std::string objective;
  LabelRule labels = LabelRule::none;
  std::string labelsInput = "labels";    ///< the input that takes them
  int64_t ignoreLabel = -100;
  double labelSmoothing = 0, zLoss = 0;  ///< optional terms of the loss
  int64_t batch = 1, sequence = 1;       ///< of one microbatch
  double stepFlops = 0;                  ///< matrix products, forward and backward, all ranks
};

/// Scalars read by the program at each call; they live in memory so that the code never changes.
struct StepScalars {
  uint64_t seed = 0;
  int64_t step = 0;         ///< 0 for the first
  int64_t microbatch = 0;   ///< within the step, under accumulation
  double validLabels = 1;   ///< the loss's denominator: labels that count, over the whole step;
                            ///< its microbatches where the graph makes its loss
  bool dropout = true;      ///< dropout sites are active
  double learningRate = 1e-3, beta1 = 0.9, beta2 = 0.95, epsilon = 1e-8, weightDecay = 0.01;
  double clipNorm = 1.0;    ///< 0: no clipping
};

/// Looks at the tensors of a forward pass while they are there.
class ValueObserver {
public:
  virtual ~ValueObserver() = default;
  /// Value `value` of ProgramInfo::values was computed: `count` floats, this rank's part.
  virtual void see(size_t value, const float *data, int64_t count) = 0;
};

/// One rank's compiled model with its memory. Pointers stay valid for the object's life.
class Program {
public:
  virtual ~Program() = default;
  virtual const ProgramInfo &info() const = 0;

  /// This rank's slice of parameter `index`, row-major over the local shape; likewise its
  /// gradient and the two AdamW moments.
  virtual float *parameter(size_t index) = 0;
  virtual float *gradient(size_t index) = 0;
  virtual float *firstMoment(size_t index) = 0;
  virtual float *secondMoment(size_t index) = 0;

  /// Where the caller puts input `index` (element type as in info()) before a call.
  virtual void *input(size_t index) = 0;
  /// Output `index` as evaluate left it: the whole tensor, without padding. A collective of all
  /// ranks, since each may have only a slice; evaluate itself moves no outputs.
  virtual const float *output(size_t index) = 0;

  /// One microbatch: adds to the gradients, returns this microbatch's share of the loss (its sum
  /// over valid labels divided by scalars.validLabels). zeroGradients() comes before the first.
  virtual void zeroGradients() = 0;
  virtual double forwardBackward(const StepScalars &scalars) = 0;
  /// Clips by the global norm and applies AdamW. Returns the norm before clipping.
  virtual double update(const StepScalars &scalars) = 0;
  /// Forward only, dropout off: returns the share of the loss as forwardBackward does.
  virtual double evaluate(const StepScalars &scalars) = 0;

  /// From now on forwardBackward shows what its forward pass computes, in order, each value once:
  /// the same values on every rank. Null, as at first: to nobody.
  void observe(ValueObserver *by) { observer = by; }

protected:
  /// Emitted code calls it behind each value.
  void watch(size_t value, const float *data, int64_t count) {
    if (observer)
      observer->see(value, data, count);
  }

private:
  ValueObserver *observer = nullptr;
};

/// Defined by the generated source. The program keeps `rank` and calls its collectives.
const ProgramInfo &programInfo();
std::unique_ptr<Program> createProgram(Rank &rank);

} // namespace colrow
