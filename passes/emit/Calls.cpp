//===- Calls.cpp - what the calls of an outlined function have in common --===//

#include "passes/emit/Calls.h"
#include "passes/emit/Text.h"

#include <fmt/format.h>

using namespace mlir;

namespace colrow {

std::string MemoryName::text(const std::string &number, Type elementType) const {
  switch (kind) {
  case member:
    return accessor;
  case numbered:
    return fmt::format("{}({})", accessor, number);
  case typed:
    return fmt::format("{}<{}>({})", accessor, memoryType(elementType), number);
  case segment:
    return fmt::format("{}.at<{}>({})", accessor, memoryType(elementType), number);
  }
  llvm_unreachable("a kind of memory");
}

/// The memory of an argument of one of the program's own functions.
static MemoryName nameArgument(func::FuncOp function, unsigned argument,
                               const ProgramNumbers &numbers) {
  StringRef role = getRole(function, argument), name = getName(function, argument);
  auto parameter = [&](const char *accessor) {
    return MemoryName{accessor, numbers.parameters.lookup(name), MemoryName::numbered};
  };
  if (role == "parameter")
    return parameter("p");
  if (role == "gradient")
    return parameter("g");
  if (role == "state") {
    bool second = name.consume_back(".second");
    if (!second)
      name.consume_back(".first");
    return parameter(second ? "m2" : "m1");
  }
  if (name == "colrow.count")
    return {"&count"};
  if (name == "colrow.random")
    return {"random"};
  if (name == "colrow.scalars")
    return {"scalars"};
  return {"in", numbers.inputs.lookup(name), MemoryName::typed};
}

MemoryName nameMemory(const FunctionPlan &plan, const Buffer &buffer,
                      const ProgramNumbers &numbers) {
  auto segment = [&](const char *name) {
    return MemoryName{name, buffer.offset, MemoryName::segment};
  };
  switch (buffer.segment) {
  case Segment::argument:
    return nameArgument(plan.function, buffer.offset, numbers);
  case Segment::constant:
    return segment("constants");
  case Segment::output:
    return segment("outputs");
  case Segment::activation:
    return segment("activations");
  case Segment::scratch:
    return segment("scratch");
  case Segment::result:
    break;
  }
  llvm_unreachable("results of outlined functions are pointers");
}

namespace {
/// Where each call of a function has one of its operands or results.
struct Series {
  SmallVector<MemoryName> places;
  Type elementType;

  /// Whether the numbers grow by the same step from call to call.
  bool isRegular() const {
    const MemoryName &front = places.front();
    // What lies in scratch is passed: its place says nothing, its name in the caller does.
    if (front.kind == MemoryName::member || front.accessor == "scratch")
      return false;
    for (size_t i = 0; i < places.size(); ++i)
      if (places[i].accessor != front.accessor ||
          places[i].number != front.number + static_cast<int64_t>(i) * step())
        return false;
    return true;
  }
  int64_t step() const {
    return places.size() > 1 ? places[1].number - places[0].number : 0;
  }
  std::string text(const CallForm &form) const {
    int64_t perLayer = step() * form.step;
    int64_t begin = places.front().number - perLayer * form.first;
    std::string number = perLayer == 0   ? std::to_string(begin)
                         : perLayer == 1 ? "layer"
                                         : fmt::format("{} * layer", perLayer);
    if (perLayer != 0 && begin != 0)
      number = fmt::format("{} + {}", begin, number);
    return places.front().text(number, elementType);
  }
};
} // namespace

/// The calls of a function, and the plan of the function they are in.
static std::pair<const FunctionPlan *, SmallVector<func::CallOp>>
findCalls(func::FuncOp function, const ProgramPlan &program) {
  for (const auto &plan : program.functions) {
    SmallVector<func::CallOp> calls;
    for (const Step &step : plan->steps)
      for (Operation *op : step.ops)
        if (getCallee(op) == function)
          calls.push_back(cast<func::CallOp>(op));
    if (!calls.empty())
      return {plan.get(), calls};
  }
  return {nullptr, {}};
}

CallForm findCallForm(const FunctionPlan &function, const ProgramPlan &program,
                      const ProgramNumbers &numbers) {
  func::FuncOp callee = function.function;
  CallForm form;
  form.arguments.resize(callee.getNumArguments());
  form.results.resize(callee.getNumResults());
  auto [caller, calls] = findCalls(callee, program);
  if (!caller || caller->outlined)
    return form;

  auto collect = [&, caller = caller, calls = calls](auto valueOf) {
    Series series;
    for (func::CallOp call : calls) {
      Value value = valueOf(call);
      series.elementType = cast<RankedTensorType>(value.getType()).getElementType();
      const Place &place = caller->place(value);
      // A part of a buffer has no number of its own.
      series.places.push_back(place.offset == 0
                                  ? nameMemory(*caller, caller->buffers[place.buffer], numbers)
                                  : MemoryName{""});
    }
    return series;
  };
  SmallVector<std::pair<std::string *, Series>> regular;
  for (unsigned i = 0; i < form.arguments.size(); ++i)
    regular.push_back({&form.arguments[i], collect([i](func::CallOp call) -> Value {
                         return call.getOperand(i);
                       })});
  for (unsigned i = 0; i < form.results.size(); ++i)
    if (function.resultBuffer(i).segment == Segment::result)
      regular.push_back({&form.results[i], collect([i](func::CallOp call) -> Value {
                           return call.getResult(i);
                         })});
  llvm::erase_if(regular, [](auto &entry) { return !entry.second.isRegular(); });

  // Layers count as the model does, also where the backward pass begins with the last one.
  for (auto &[text, series] : regular)
    if (series.places.front().kind == MemoryName::numbered && series.step() != 0) {
      if (series.step() < 0) {
        form.first = calls.size() - 1;
        form.step = -1;
      }
      break;
    }
  for (auto &[text, series] : regular) {
    *text = series.text(form);
    form.numbered = true;
  }
  return form;
}

} // namespace colrow
