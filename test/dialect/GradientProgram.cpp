//===- GradientProgram.cpp - gradients against difference quotients -------===//

#include "test/dialect/GradientProgram.h"
#include "colrow/Error.h"
#include "passes/Passes.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassRegistry.h"

#include <random>

using namespace mlir;
using colrow::reference::Tensor;

namespace colrow {

static void registerPassesOnce() {
  static bool done = [] {
    registerColrowPasses();
    return true;
  }();
  (void)done;
}

static void run(ModuleOp module, const std::string &passes, const std::string &messages) {
  PassManager manager(module.getContext());
  if (failed(parsePassPipeline(passes, manager)) || failed(manager.run(module)))
    throw Error(passes + ": " + messages);
}

GradientProgram::GradientProgram(const std::string &text, const std::string &passes) {
  registerPassesOnce();
  context.loadDialect<ColrowDialect, func::FuncDialect>();
  std::string messages;
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
    messages += diagnostic.str() + "\n";
    return success();
  });
  module = parseSourceString<ModuleOp>(text, &context);
  if (!module)
    throw Error(messages + text);
  auto main = module->lookupSymbol<func::FuncOp>("main");
  for (unsigned i = 0; i < main.getNumArguments(); ++i)
    arguments.push_back({colrow::getName(main, i).str(), getRole(main, i).str(),
                         withLayout(main.getArgumentTypes()[i], {})});
  run(*module, passes, messages);
  run(*module, "colrow-decompose,colrow-localize", messages);
}

GradientProgram::~GradientProgram() = default;

static reference::Shape shapeOf(RankedTensorType type) {
  return reference::Shape(type.getShape().begin(), type.getShape().end());
}

GradientProgram::Tensors GradientProgram::randomInputs(
    const std::map<std::string, std::pair<double, double>> &ranges) const {
  std::mt19937 random(1);
  Tensors inputs;
  for (const Argument &argument : arguments) {
    bool isFloat = isa<FloatType>(argument.type.getElementType());
    auto found = ranges.find(argument.name);
    auto [low, high] = found != ranges.end() ? found->second
                                             : std::pair(isFloat ? -1.0 : 0.0, isFloat ? 1.0 : 2.0);
    std::uniform_real_distribution<double> uniform(low, high);
    std::vector<double> values(argument.type.getNumElements());
    for (double &value : values)
      value = uniform(random);
    if (isFloat) {
      inputs[argument.name] = Tensor::floats(shapeOf(argument.type), values);
      continue;
    }
    std::vector<int64_t> integers;
    for (double value : values)
      integers.push_back(static_cast<int64_t>(std::floor(value)));
    inputs[argument.name] =
        Tensor::integers(shapeOf(argument.type), integers,
                         argument.type.getElementType().isInteger(1) ? reference::ElementType::b1
                                                                     : reference::ElementType::i64);
  }
  return inputs;
}

InterpreterResult GradientProgram::runStep(const Tensors &inputs) const {
  Tensors all = inputs;
  for (const Argument &argument : arguments)
    if (argument.role == "parameter")
      all[argument.name + ".gradient"] =
          Tensor::full(reference::ElementType::f32, shapeOf(argument.type), 0);
  return interpret(*module, "forward_backward", all);
}

double GradientProgram::loss(const Tensors &inputs) const {
  return runStep(inputs).get("loss").item();
}

double GradientProgram::evaluate(const Tensors &inputs) const {
  return interpret(*module, "evaluate", inputs).get("loss").item();
}

GradientProgram::Tensors GradientProgram::gradients(const Tensors &inputs) const {
  Tensors gradients;
  for (const NamedTensor &output : runStep(inputs).outputs)
    if (output.role == "gradient")
      gradients[output.name] = output.value;
  return gradients;
}

double GradientProgram::gradientError(const Tensors &inputs) const {
  constexpr double step = 1e-5;
  double error = 0, scale = 0;
  Tensors found = gradients(inputs);
  for (const auto &[name, gradient] : found) {
    std::vector<double> values = inputs.at(name).toFloats(), exact = gradient.toFloats();
    for (size_t i = 0; i < values.size(); ++i) {
      Tensors moved = inputs;
      auto lossAt = [&](double value) {
        std::vector<double> changed = values;
        changed[i] = value;
        moved[name] = Tensor::floats(inputs.at(name).shape(), changed);
        return loss(moved);
      };
      double quotient = (lossAt(values[i] + step) - lossAt(values[i] - step)) / (2 * step);
      // Written so that a NaN is an error, too.
      if (!(std::abs(exact[i] - quotient) <= error))
        error = std::abs(exact[i] - quotient);
      scale = std::max(scale, std::abs(quotient));
    }
  }
  return scale == 0 ? error : error / scale;
}

} // namespace colrow
