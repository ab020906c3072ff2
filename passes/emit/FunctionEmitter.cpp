//===- FunctionEmitter.cpp - one function of the program as C++ -----------===//

#include "passes/emit/FunctionEmitter.h"
#include "passes/localize/GlobalTypes.h"

using namespace mlir;

namespace colrow {

static ArrayRef<int64_t> shapeOf(Value value) {
  return cast<RankedTensorType>(value.getType()).getShape();
}

/// "[8, 512] tp = shard<1>": what this rank holds, and how where that is a part.
static std::string describe(Value value) {
  std::string text = "[" + listed(shapeOf(value)) + "]";
  RankedTensorType global = getGlobalType(value);
  if (LayoutAttr layout = global ? getLayout(global) : LayoutAttr())
    for (const AxisState &state : layout.getStates())
      if (state.isShard() || state.isPartial())
        text += fmt::format(" {} = {}", state.axis.str(), state.str());
  return text;
}

static StringRef labelOf(func::FuncOp function) {
  auto label = function->getAttrOfType<StringAttr>("colrow.label");
  return label ? label.getValue() : StringRef();
}

FunctionEmitter::FunctionEmitter(const FunctionPlan &plan, const ProgramPlan &program,
                                 const ProgramNumbers &numbers, const WatchedValues &watched,
                                 ProgramMembers &members)
    : plan(plan), members(members), names(labelOf(plan.function)), program(program),
      numbers(numbers), watched(watched) {
  if (plan.outlined)
    form = findForm(plan);
}

CallForm FunctionEmitter::findForm(const FunctionPlan &function) const {
  CallForm found = findCallForm(function, program, numbers);
  found.numbered |= watched.valuesPerCall(function) > 0; // their numbers follow from the layer's
  return found;
}

/// The operand that an operation overwrites with a result because of what it is, not because its
/// memory happened to be free.
static std::optional<Value> getOverwritten(Value value) {
  auto result = dyn_cast<OpResult>(value);
  if (!result)
    return {};
  Operation *op = result.getOwner();
  if (auto mark = op->getAttrOfType<IntegerAttr>(inPlaceAttrName))
    return op->getOperand(mark.getInt());
  if (isa<CommAllReduceOp>(op))
    return op->getOperand(0);
  return {};
}

//===----------------------------------------------------------------------===//
// Memory as expressions
//===----------------------------------------------------------------------===//

std::string FunctionEmitter::bufferExpression(const Buffer &buffer, Type type) {
  MemoryName name = nameMemory(plan, buffer, numbers);
  return name.text(std::to_string(name.number), type);
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
  // So has what is written over an operand by what the operation is.
  if (std::optional<Value> operand = getOverwritten(value))
    if (plan.place(*operand).buffer == plan.place(value).buffer)
      return variables[value] = pointer(*operand);
  std::string expression = pointerExpression(value);
  std::string name = names.nameOf(value);
  bool result = plan.outlined && plan.bufferOf(value).segment == Segment::result;
  line(fmt::format("{} *{} = {}; // {}{}", elementType(value), name, expression, describe(value),
                   result ? ", result" : ""));
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

std::string FunctionEmitter::beta(const Step &step) const {
  if (step.kind != Step::accumulate)
    return "0";
  return step.ops[1]->hasAttr(beginsAttrName) ? "accumulates" : "1";
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
  // One parameter a line, with its shape. What follows from the layer is declared where it is used.
  std::string text;
  auto count = function->getAttrOfType<IntegerAttr>("colrow.instances");
  if (count)
    text += fmt::format("  /// One of {} equal layers, such as '{}'.\n", count.getInt(),
                        labelOf(function).str());
  text += fmt::format("  void {}(", name);
  std::vector<std::pair<std::string, std::string>> parameters;
  auto pass = [&](Value value, const std::string &qualifier, const std::string &comment) {
    std::string variable = names.nameOf(value);
    parameters.push_back({fmt::format("{}{} *{}", qualifier, elementType(value), variable),
                          describe(value) + comment});
    return variable;
  };
  for (BlockArgument argument : function.getArguments()) {
    std::string &variable = bufferVariables[plan.place(argument).buffer];
    variable = form.arguments[argument.getArgNumber()];
    if (!variable.empty())
      continue;
    bool written = llvm::is_contained(plan.resultBuffers, plan.place(argument).buffer);
    variable = pass(argument, written ? "" : "const ", written ? ", updated" : "");
    variables[argument] = variable;
  }
  Operation *end = function.getBody().front().getTerminator();
  for (auto [i, value] : llvm::enumerate(end->getOperands())) {
    unsigned buffer = plan.resultBuffers[i];
    if (plan.buffers[buffer].segment != Segment::result)
      continue;
    std::string &variable = bufferVariables[buffer];
    variable = form.results[i];
    if (!variable.empty())
      continue;
    variable = pass(value, "", ", result");
    if (plan.hasPlace(value) && plan.place(value).buffer == buffer)
      variables[value] = variable;
  }
  bool hasIds = false;
  function.walk([&](Operation *op) { hasIds |= op->hasAttr("colrow.id_argument"); });
  if (hasIds)
    parameters.push_back({"std::initializer_list<uint64_t> ids", "of dropout sites"});
  if (form.numbered)
    text += parameters.empty() ? "int64_t layer" : "int64_t layer,";
  for (auto [i, parameter] : llvm::enumerate(parameters))
    text += fmt::format("\n      {}{} // {}", parameter.first,
                        i + 1 == parameters.size() ? ") {" : ",", parameter.second);
  return text + (parameters.empty() ? ") {\n" : "\n");
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
    emitWatch(step);
  }
  if (func::FuncOp(plan.function).getSymName() == "forward_backward")
    line("accumulates = 1;");
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

/// watch(5 + 13 * layer, node_add_166, 786432);
void FunctionEmitter::emitWatch(const Step &step) {
  for (Value value : watched.valuesOf(step)) {
    int64_t number = watched.numberOf(value);
    int64_t perLayer = watched.valuesPerCall(plan) * form.step;
    std::string text = std::to_string(number - perLayer * form.first);
    if (perLayer != 0)
      text += fmt::format(" + {} * layer", perLayer);
    line(fmt::format("watch({}, {}, {});", text, pointer(value),
                     cast<RankedTensorType>(value.getType()).getNumElements()));
  }
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
  auto [entry, isNew] = callForms.try_emplace(callee.getSymName());
  if (isNew)
    entry->second = findForm(*target);
  const CallForm &form = entry->second;
  std::vector<std::string> operands;
  if (form.numbered)
    operands.push_back(std::to_string(
        form.first + form.step * call->getAttrOfType<IntegerAttr>("colrow.instance").getInt()));
  for (auto [expression, operand] : llvm::zip(form.arguments, call.getOperands()))
    if (expression.empty())
      operands.push_back(pointerExpression(operand));
  for (OpResult result : call.getResults())
    if (target->resultBuffer(result.getResultNumber()).segment == Segment::result &&
        form.results[result.getResultNumber()].empty())
      operands.push_back(pointerExpression(result));
  if (auto ids = call->getAttrOfType<DenseI64ArrayAttr>("colrow.ids")) {
    std::vector<std::string> numbers;
    for (int64_t id : ids.asArrayRef())
      numbers.push_back(fmt::format("0x{:x}u", static_cast<uint64_t>(id)));
    operands.push_back(fmt::format("{{{}}}", fmt::join(numbers, ", ")));
  }
  std::string comment;
  if (auto label = call->getAttrOfType<StringAttr>("colrow.label"); label && !label.empty())
    comment = " // " + label.str();
  line(fmt::format("{}({});{}", camelBack(callee.getSymName()), fmt::join(operands, ", "),
                   comment));
}

} // namespace colrow
