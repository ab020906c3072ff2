#include "tools/colrow-run/RandomInputs.h"

#include "runtime/reference/Interpreter.h"
#include "runtime/reference/InterpreterTypes.h"

#include <random>

using namespace mlir;

namespace colrow {

using reference::Tensor;

/// The number of values that an integer may take where it is used: the size of what it looks up,
/// followed through operations that only move it. 2 where nothing says.
static int64_t idsBelow(Value ids) {
  int64_t below = 0;
  auto limit = [&](int64_t size) { below = below ? std::min(below, size) : size; };
  SmallVector<Value> values = {ids};
  llvm::SmallDenseSet<Value> seen;
  while (!values.empty()) {
    Value value = values.pop_back_val();
    if (!seen.insert(value).second)
      continue;
    for (Operation *user : value.getUsers()) {
      if (auto take = dyn_cast<TakeOp>(user)) {
        if (take.getIds() == value)
          limit(take.getTable().getType().getDimSize(take.getAxis()));
      } else if (auto take = dyn_cast<TakeAlongOp>(user)) {
        if (take.getIndices() == value)
          limit(take.getInput().getType().getDimSize(take.getAxis()));
      } else if (auto loss = dyn_cast<CrossEntropyOp>(user)) {
        limit(loss.getValid());
      } else if (user->getNumResults() == 1 &&
                 isa<ReshapeOp, TransposeOp, BroadcastOp, SliceOp, CastOp, ConversionOpInterface>(
                     user)) {
        values.push_back(user->getResult(0));
      }
    }
  }
  return below ? below : 2;
}

std::map<std::string, Tensor> randomInputs(func::FuncOp function, uint64_t seed) {
  std::map<std::string, Tensor> inputs;
  std::mt19937_64 random(seed);
  for (unsigned i = 0; i < function.getNumArguments(); ++i) {
    auto type = cast<RankedTensorType>(function.getArgumentTypes()[i]);
    StringRef role = getRole(function, i), name = getName(function, i);
    Tensor &input = inputs[tensorKey(role, name, "arg", i)];
    reference::ElementType element = toElementType(type);
    reference::Shape shape(type.getShape());
    if (name == "colrow.count") {
      input = Tensor::full(element, shape, 1);
    } else if (name == "colrow.random") { // seed, step, microbatch, and dropout is on
      input = Tensor::integers(shape, {static_cast<int64_t>(seed), 0, 0, 1}, element);
    } else if (name == "colrow.scalars") {
      // The first step of AdamW: rate, betas, epsilon, decay, 1 - beta^1 each, clipping at 1.
      std::vector<double> scalars = {1e-3, 0.9, 0.999, 1e-8, 0.01, 0.1, 0.001, 1};
      scalars.resize(type.getNumElements());
      input = Tensor::floats(shape, std::move(scalars), element);
    } else if (reference::isFloat(element)) {
      std::normal_distribution<double> normal(0, role == "parameter" ? 0.1 : 1);
      std::vector<double> values(type.getNumElements());
      for (double &value : values) {
        value = normal(random);
        // Moments of an optimizer: the second must not be negative.
        if (role == "state")
          value = std::abs(value);
      }
      input = Tensor::floats(shape, std::move(values), element);
    } else {
      std::uniform_int_distribution<int64_t> uniform(0, idsBelow(function.getArgument(i)) - 1);
      std::vector<int64_t> values(type.getNumElements());
      for (int64_t &value : values)
        value = uniform(random);
      input = Tensor::integers(shape, std::move(values), element);
    }
  }
  return inputs;
}

} // namespace colrow
