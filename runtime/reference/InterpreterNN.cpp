#include "runtime/reference/Elementwise.h"
#include "runtime/reference/InterpreterKernels.h"
#include "runtime/reference/Positional.h"
#include "runtime/reference/Reduce.h"

#include <cmath>
#include <numeric>

using namespace mlir;

namespace colrow {

using reference::Precision;
using reference::Tensor;

static Tensors evaluateDropout(DropoutOp dropout, const Tensors &in, const Place &place) {
  std::vector<int64_t> random = in[1].toIntegers();
  int64_t seed = random[0], step = random[1], microbatch = random[2], active = random[3];
  if (!active)
    return {in[0]};
  RankedTensorType global = dropout.getType();
  if (std::optional<Type> kept = dropout.getGlobal())
    global = cast<RankedTensorType>(*kept);
  reference::RandomSite site;
  site.seed = seed;
  site.step = step;
  site.id = dropout.getId();
  site.firstElement = static_cast<uint64_t>(microbatch) * global.getNumElements();
  return {reference::dropout(in[0], dropout.getRate().convertToDouble(), site,
                             place.localShape(global), place.precision)};
}

static Tensor sumSquares(const Tensor &x, Precision precision) {
  std::vector<int64_t> axes(x.rank());
  std::iota(axes.begin(), axes.end(), 0);
  return reference::reduceSum(reference::mul(x, x, precision), axes, /*keepDims=*/false, precision);
}

/// Algorithm 2 of arXiv 1711.05101 in the order of torch.optim.AdamW: decay first, epsilon added
/// to the root of the corrected second moment.
static Tensors evaluateAdamW(AdamWOp adamw, const Tensors &in, const Place &place) {
  std::vector<double> parameter = in[0].toFloats(), gradient = in[1].toFloats(),
                      first = in[2].toFloats(), second = in[3].toFloats(),
                      scalars = in[5].toFloats();
  double clip = in[4].item();
  double rate = scalars[0], beta1 = scalars[1], beta2 = scalars[2], epsilon = scalars[3],
         decay = adamw.getDecay() ? scalars[4] : 0, correction1 = scalars[5],
         correction2 = scalars[6];
  for (size_t i = 0; i < parameter.size(); ++i) {
    double g = gradient[i] * clip;
    first[i] = beta1 * first[i] + (1 - beta1) * g;
    second[i] = beta2 * second[i] + (1 - beta2) * g * g;
    double root = std::sqrt(second[i] / correction2) + epsilon;
    parameter[i] = parameter[i] * (1 - rate * decay) - rate * (first[i] / correction1) / root;
  }
  Tensors results;
  for (std::vector<double> *values : {&parameter, &first, &second})
    results.push_back(reference::rounded(
        Tensor::floats(in[0].shape(), std::move(*values), in[0].type()), place.precision));
  return results;
}

std::optional<Tensors> evaluateNN(Operation *op, const Tensors &in, const Place &place) {
  return TypeSwitch<Operation *, std::optional<Tensors>>(op)
      .Case([&](DropoutOp dropout) { return evaluateDropout(dropout, in, place); })
      .Case([&](SumSquaresOp) { return Tensors{sumSquares(in[0], place.precision)}; })
      .Case([&](AdamWOp adamw) { return evaluateAdamW(adamw, in, place); })
      .Default([](Operation *) { return std::nullopt; });
}

} // namespace colrow
