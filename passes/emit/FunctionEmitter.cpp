//===- FunctionEmitter.cpp - one function of the program as C++ -----------===//

#include "passes/emit/FunctionEmitter.h"

using namespace mlir;

namespace colrow {

static ArrayRef<int64_t> shapeOf(Value value) {
  return cast<RankedTensorType>(value.getType()).getShape();
}

static StringRef labelOf(func::FuncOp function) {
  auto label = function->getAttrOfType<StringAttr>("colrow.label");
  return label ? label.getValue() : StringRef();
}

FunctionEmitter::FunctionEmitter(const FunctionPlan &plan, const ProgramPlan &program,
                                 const ProgramNumbers &numbers, ProgramMembers &members)
    : plan(plan), members(members), names(labelOf(plan.function)), program(program),
      numbers(numbers) {}

//===----------------------------------------------------------------------===//
// Memory as expressions
//===----------------------------------------------------------------------===//

/// The memory of an argument of one of the program's own functions.
std::string FunctionEmitter::argumentExpression(unsigned argument) {
  func::FuncOp function = plan.function;
  StringRef role = getRole(function, argument), name = colrow::getName(function, argument);
  if (role == "parameter")
    return fmt::format("p({})", numbers.parameters.lookup(name));
  if (role == "gradient")
    return fmt::format("g({})", numbers.parameters.lookup(name));
  if (role == "state") {
    bool second = name.consume_back(".second");
    if (!second)
      name.consume_back(".first");
    return fmt::format("{}({})", second ? "m2" : "m1", numbers.parameters.lookup(name));
  }
  if (name == "colrow.count")
    return "&count";
  if (name == "colrow.random")
    return "random";
  if (name == "colrow.scalars")
    return "scalars";
  return fmt::format("in<{}>({})", elementType(function.getArgument(argument)),
                     numbers.inputs.lookup(name));
}

std::string FunctionEmitter::bufferExpression(const Buffer &buffer, Type type) {
  StringRef segment;
  switch (buffer.segment) {
  case Segment::argument:
    return argumentExpression(buffer.offset);
  case Segment::result:
    llvm_unreachable("results of outlined functions are parameters with names");
  case Segment::constant:
    segment = "constants";
    break;
  case Segment::output:
    segment = "outputs";
    break;
  case Segment::activation:
    segment = "activations";
    break;
  case Segment::scratch:
    segment = "scratch";
    break;
  }
  return fmt::format("{}.at<{}>({})", segment.str(), memoryType(type), buffer.offset);
}

std::string FunctionEmitter::pointerExpression(Value value) {
  auto known = variables.find(value);
  if (known != variables.end())
    return known->second;
  const Place &place = plan.place(value);
  auto shared = bufferVariables.find(place.buffer);
  std::string base =
      shared != bufferVariables.end()
          ? shared->second
          : bufferExpression(plan.buffers[place.buffer],
                             cast<RankedTensorType>(value.getType()).getElementType());
  return place.offset ? fmt::format("{} + {}", base, place.offset) : base;
}

std::string FunctionEmitter::pointer(Value value) {
  auto known = variables.find(value);
  if (known != variables.end())
    return known->second;
  // A view has the name of what it sees, unless that is not declared here.
  Operation *op = value.getDefiningOp();
  if (op && isView(op)) {
    std::string base = pointer(op->getOperand(0));
    int64_t offset = plan.place(value).offset - plan.place(op->getOperand(0)).offset;
    return offset ? fmt::format("{} + {}", base, offset) : base;
  }
  std::string expression = pointerExpression(value);
  std::string name = names.nameOf(value);
  std::string shape = listed(shapeOf(value));
  line(fmt::format("{} *{} = {}; // [{}]", elementType(value), name, expression, shape));
  variables[value] = name;
  return name;
}

std::string FunctionEmitter::view(Value value) {
  std::string data = pointer(value);
  if (plan.isContiguous(value))
    return fmt::format("{{{}, {}}}", data, braced(shapeOf(value)));
  return fmt::format("{{{}, {}, {}}}", data, braced(shapeOf(value)),
                     braced(plan.place(value).strides));
}

std::string FunctionEmitter::view(Value value, ArrayRef<int64_t> shape) {
  assert(plan.isContiguous(value) && "only what is contiguous has another shape");
  return fmt::format("{{{}, {}}}", pointer(value), braced(shape));
}

std::string FunctionEmitter::viewOrAbsent(Value value) {
  return !value || value.use_empty() ? "{}" : view(value);
}

std::string FunctionEmitter::workspace(const Step &step, unsigned number, StringRef name,
                                       ArrayRef<int64_t> shape) {
  const Buffer &buffer = plan.buffers[step.workspace[number]];
  std::string variable = names.unique(name.str());
  line(fmt::format("float *{} = scratch.at<float>({}); // [{}]", variable, buffer.offset,
                   listed(shape)));
  return fmt::format("{{{}, {}}}", variable, braced(shape));
}

void FunctionEmitter::comment(const std::string &text) {
  if (!text.empty())
    body += std::string(indent, ' ') + "// " + text + "\n";
}

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

std::string FunctionEmitter::signature() {
  func::FuncOp function = plan.function;
  std::string name = camelBack(function.getSymName());
  if (!plan.outlined)
    return fmt::format("  double {}(const StepScalars &step) override {{\n    load(step);\n", name);
  // One parameter a line, with its shape.
  std::string text;
  auto count = function->getAttrOfType<IntegerAttr>("colrow.instances");
  if (count)
    text += fmt::format("  /// One of {} equal layers, such as '{}'.\n", count.getInt(),
                        labelOf(function).str());
  text += fmt::format("  void {}(\n", name);
  std::vector<std::pair<std::string, std::string>> parameters;
  for (BlockArgument argument : function.getArguments()) {
    bool written = llvm::any_of(plan.resultBuffers, [&](unsigned buffer) {
      return buffer == plan.place(argument).buffer;
    });
    std::string variable = names.nameOf(argument);
    bufferVariables[plan.place(argument).buffer] = variable;
    variables[argument] = variable;
    parameters.push_back({fmt::format("{}{} *{}", written ? "" : "const ", elementType(argument),
                                      variable),
                          fmt::format("[{}]{}", listed(shapeOf(argument)),
                                      written ? ", updated" : "")});
  }
  Operation *end = function.getBody().front().getTerminator();
  for (auto [i, value] : llvm::enumerate(end->getOperands())) {
    unsigned buffer = plan.resultBuffers[i];
    if (plan.buffers[buffer].segment != Segment::result)
      continue;
    std::string variable = names.nameOf(value);
    bufferVariables[buffer] = variable;
    if (plan.hasPlace(value) && plan.place(value).buffer == buffer)
      variables[value] = variable;
    parameters.push_back({fmt::format("{} *{}", elementType(value), variable),
                          fmt::format("[{}], result", listed(shapeOf(value)))});
  }
  bool hasIds = false;
  function.walk([&](DropoutOp op) { hasIds = true; });
  if (hasIds)
    parameters.push_back({"std::initializer_list<uint64_t> ids", "of dropout sites"});
  for (auto [i, parameter] : llvm::enumerate(parameters))
    text += fmt::format("      {}{} // {}\n", parameter.first,
                        i + 1 == parameters.size() ? ") {" : ",", parameter.second);
  return text;
}

std::string FunctionEmitter::returnStatement() {
  func::FuncOp function = plan.function;
  Operation *end = function.getBody().front().getTerminator();
  for (unsigned i = 0; i < function.getNumResults(); ++i) {
    StringRef role = getResultRole(function, i);
    if (role == "loss" || role == "metric") {
      Value value = end->getOperand(i);
      if (plan.hasPlace(value) && plan.place(value).buffer == plan.resultBuffers[i])
        return fmt::format("return {}[0];", pointer(value));
      return fmt::format("return {}[0];",
                         bufferExpression(plan.resultBuffer(i),
                                          cast<RankedTensorType>(value.getType()).getElementType()));
    }
  }
  return plan.outlined ? "" : "return 0;";
}

FailureOr<std::string> FunctionEmitter::run() {
  std::string head = signature();
  bool backward = false;
  for (const Step &step : plan.steps) {
    if (step.backward && !backward && !plan.outlined) {
      body += "\n";
      comment("Backward.");
    }
    backward |= step.backward;
    if (failed(emitStep(step)))
      return failure();
  }
  std::string last = returnStatement();
  if (!last.empty())
    line(last);
  return head + body + "  }\n";
}

LogicalResult FunctionEmitter::emitStep(const Step &step) {
  if (step.kind == Step::copy) {
    emitCopy(step);
    return success();
  }
  if (step.kind == Step::loop) {
    emitLoop(*this, step);
    return success();
  }
  Operation *op = step.ops[0];
  if (auto call = dyn_cast<func::CallOp>(op)) {
    emitCall(call);
    return success();
  }
  if (emitComm(*this, op) || emitKernel(*this, step))
    return success();
  return op->emitError("'") << getUserName(op->getNumResults() ? op->getResult(0) : Value(), "value")
                            << "': operation " << op->getName()
                            << " has no kernel; run colrow-decompose first";
}

void FunctionEmitter::emitCopy(const Step &step) {
  auto type = cast<RankedTensorType>(step.source.getType());
  const Buffer &buffer = plan.resultBuffer(step.result);
  auto shared = bufferVariables.find(plan.resultBuffers[step.result]);
  std::string target = shared != bufferVariables.end()
                           ? shared->second
                           : bufferExpression(buffer, type.getElementType());
  std::string out = fmt::format("{{{}, {}}}", target, braced(type.getShape()));
  std::string element = memoryType(type.getElementType());
  if (plan.hasPlace(step.source))
    line(fmt::format("copy<{}>(ctx, {}, {});", element, view(step.source), out));
  else
    line(fmt::format("fill<{}>(ctx, {}, {});", element,
                     literal(cast<DenseElementsAttr>(
                                 step.source.getDefiningOp<ConstantOp>().getValue()),
                             0),
                     out));
}

void FunctionEmitter::emitCall(func::CallOp call) {
  func::FuncOp callee = getCallee(call);
  const FunctionPlan *target = program.lookup(callee.getSymName());
  std::vector<std::string> operands;
  for (Value operand : call.getOperands())
    operands.push_back(pointerExpression(operand));
  for (OpResult result : call.getResults())
    if (target->resultBuffer(result.getResultNumber()).segment == Segment::result)
      operands.push_back(pointerExpression(result));
  if (auto ids = call->getAttrOfType<DenseI64ArrayAttr>("colrow.ids")) {
    std::vector<std::string> numbers;
    for (int64_t id : ids.asArrayRef())
      numbers.push_back(fmt::format("0x{:x}u", static_cast<uint64_t>(id)));
    operands.push_back(fmt::format("{{{}}}", fmt::join(numbers, ", ")));
  }
  auto label = call->getAttrOfType<StringAttr>("colrow.label");
  if (label && !label.getValue().empty())
    comment(label.str());
  line(fmt::format("{}({});", camelBack(callee.getSymName()), fmt::join(operands, ", ")));
}

} // namespace colrow
