//===- Model.cpp - programInfo(): parameters, inputs, grid ----------------===//

#include "colrow/Philox.h"
#include "passes/emit/Program.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;

namespace colrow {

static std::vector<int64_t> validShape(DictionaryAttr attributes, ArrayRef<int64_t> stored) {
  std::vector<int64_t> shape(stored.begin(), stored.end());
  if (auto valid = attributes ? attributes.getAs<ArrayAttr>("colrow.valid") : ArrayAttr())
    for (auto [size, attribute] : llvm::zip(shape, valid))
      size = cast<IntegerAttr>(attribute).getInt();
  return shape;
}

static RankedTensorType globalType(DictionaryAttr attributes, Type local) {
  auto global = attributes ? attributes.getAs<TypeAttr>("colrow.global") : TypeAttr();
  return cast<RankedTensorType>(global ? global.getValue() : local);
}

/// Whether something is multiplied with it: the scale of a norm, or a factor of elements.
static bool isScale(Value value) {
  return llvm::any_of(value.getUses(), [](OpOperand &use) {
    Operation *user = use.getOwner();
    if (auto norm = dyn_cast<LayerNormOp>(user))
      return norm.getScale() == use.get();
    if (auto norm = dyn_cast<LayerNormWithStatisticsOp>(user))
      return norm.getScale() == use.get();
    if (isa<RmsNormOp, RmsNormWithStatisticsOp>(user))
      return use.getOperandNumber() == 1;
    if (isa<MulOp>(user))
      return true;
    if (isa<ReshapeOp, TransposeOp, BroadcastOp, CastOp>(user))
      return isScale(user->getResult(0));
    func::FuncOp callee = getCallee(user);
    return callee && isScale(callee.getArgument(use.getOperandNumber()));
  });
}

/// From scratch: what the model says, or else matrices at random; of vectors, scales are ones and
/// biases are zeros. By use, not by name, which exporters lose.
static InitRule initRule(Value parameter, DictionaryAttr attributes, int64_t rank) {
  if (auto said = attributes.getAs<DictionaryAttr>("colrow.init")) {
    StringRef rule = said.getAs<StringAttr>("rule").getValue();
    if (rule == "normal")
      return {InitRule::normal, said.getAs<FloatAttr>("deviation").getValueAsDouble()};
    return {rule == "ones" ? InitRule::ones : InitRule::zeros};
  }
  if (rank >= 2)
    return {InitRule::normal, 0.02};
  return {isScale(parameter) ? InitRule::ones : InitRule::zeros};
}

static ParameterInfo parameterInfo(func::FuncOp function, unsigned argument, GridAttr grid) {
  DictionaryAttr attributes = function.getArgAttrDict(argument);
  RankedTensorType type = globalType(attributes, function.getArgumentTypes()[argument]);
  ParameterInfo info;
  info.name = getName(function, argument).str();
  if (auto aliases = attributes.getAs<ArrayAttr>("colrow.aliases"))
    for (Attribute alias : aliases)
      info.aliases.push_back(cast<StringAttr>(alias).str());
  info.dims = getStorage(type, attributes, grid);
  info.valid = validShape(attributes, type.getShape());
  info.decay = type.getRank() >= 2;
  info.transposed = attributes.contains("colrow.transposed");
  info.init = initRule(function.getArgument(argument), attributes, type.getRank());
  info.id = stableId(info.name);
  return info;
}

static DType dtypeOf(Type type) {
  if (isa<FloatType>(type))
    return DType::f32;
  switch (type.getIntOrFloatBitWidth()) {
  case 1:
    return DType::b1;
  case 32:
    return DType::i32;
  default:
    return DType::i64;
  }
}

/// What the values of an integer input must be below: the smallest table they look up, or the
/// vocabulary of the loss. 0 where nothing limits them.
static int64_t limitOf(Value value) {
  int64_t limit = 0;
  auto atMost = [&](int64_t bound) {
    if (bound > 0 && (limit == 0 || bound < limit))
      limit = bound;
  };
  for (OpOperand &use : value.getUses()) {
    Operation *user = use.getOwner();
    if (isa<ReshapeOp>(user) ||
        (isa<CastOp>(user) && isa<IntegerType>(getElementTypeOrSelf(user->getResult(0).getType())))) {
      atMost(limitOf(user->getResult(0)));
    } else if (auto take = dyn_cast<TakeOp>(user); take && use.getOperandNumber() == 1) {
      auto global = take.getGlobal();
      auto table = cast<RankedTensorType>(global ? *global : Type(take.getTable().getType()));
      int64_t size = table.getDimSize(take.getAxis());
      auto argument = dyn_cast<BlockArgument>(take.getTable());
      if (argument)
        size = validShape(cast<func::FuncOp>(argument.getOwner()->getParentOp())
                              .getArgAttrDict(argument.getArgNumber()),
                          table.getShape())[take.getAxis()];
      atMost(size);
    } else if (auto valid = user->getAttrOfType<IntegerAttr>("valid");
               valid && !isa<MaskPaddingOp>(user)) {
      atMost(valid.getInt()); // labels of a loss
    }
  }
  return limit;
}

static LogicalResult addInputs(func::FuncOp function, ProgramModel &model) {
  for (unsigned i = 0; i < function.getNumArguments(); ++i) {
    StringRef name = getName(function, i);
    if (getRole(function, i) != "input" || name.starts_with("colrow."))
      continue;
    auto local = cast<RankedTensorType>(function.getArgumentTypes()[i]);
    RankedTensorType type = globalType(function.getArgAttrDict(i), local);
    if (type.getShape() != local.getShape())
      return function.emitError("input '")
             << name << "' is cut over the ranks (" << type << "), which no trainer can fill yet";
    auto [entry, isNew] = model.numbers.inputs.insert({name, model.info.inputs.size()});
    int64_t limit = limitOf(function.getArgument(i));
    if (isNew)
      model.info.inputs.push_back({name.str(), dtypeOf(local.getElementType()),
                                   std::vector<int64_t>(local.getShape()), limit});
    InputInfo &input = model.info.inputs[entry->second];
    if (limit > 0 && (input.limit == 0 || limit < input.limit))
      input.limit = limit;
  }
  return success();
}

double productFlops(func::FuncOp function) {
  double flops = 0;
  function.walk([&](Operation *op) {
    if (auto product = dyn_cast<MatrixProductOpInterface>(op)) {
      flops += product.getProductFlops(); // types are local here
    } else if (func::FuncOp callee = getCallee(op)) {
      flops += productFlops(callee);
    }
  });
  return flops;
}

/// Where in a function a value is computed, in the functions it calls too.
static std::pair<size_t, size_t> positionOf(Value value, const DenseMap<Operation *, size_t> &at) {
  auto result = dyn_cast<OpResult>(value);
  if (!result)
    return {0, 0};
  std::pair<size_t, size_t> position{at.lookup(result.getOwner()), 0};
  if (func::FuncOp callee = getCallee(result.getOwner())) {
    Block &body = callee.getBody().front();
    Operation *inner =
        body.getTerminator()->getOperand(result.getResultNumber()).getDefiningOp();
    if (inner)
      position.second = std::distance(body.begin(), inner->getIterator());
  }
  return position;
}

/// Parameters by the operation that adds to their gradients last.
static std::vector<size_t> findGradientOrder(func::FuncOp step, const ProgramNumbers &numbers) {
  Block &body = step.getBody().front();
  DenseMap<Operation *, size_t> at;
  for (Operation &op : body)
    at[&op] = at.size() + 1;
  std::vector<std::pair<std::pair<size_t, size_t>, size_t>> order;
  for (unsigned i = 0; i < step.getNumResults(); ++i)
    if (getResultRole(step, i) == "gradient")
      order.push_back({positionOf(body.getTerminator()->getOperand(i), at),
                       numbers.parameters.lookup(getResultName(step, i))});
  llvm::sort(order);
  std::vector<size_t> parameters;
  for (const auto &[position, parameter] : order)
    parameters.push_back(parameter);
  return parameters;
}

FailureOr<ProgramModel> ProgramModel::create(ModuleOp module) {
  ProgramModel model;
  ProgramInfo &info = model.info;
  GridAttr grid = getGrid(module);
  if (grid) // without one the program is for one rank
    for (auto [name, size] : llvm::zip(grid.getNames(), grid.getSizes()))
      info.grid.push_back({name.str(), size});
  if (auto name = module->getAttrOfType<StringAttr>("colrow.model"))
    info.model = name.str();
  if (auto graph = module->getAttrOfType<StringAttr>("colrow.graph"))
    info.graph = graph.str();
  if (auto batch = module->getAttrOfType<IntegerAttr>("colrow.batch"))
    info.batch = batch.getInt();
  if (auto sequence = module->getAttrOfType<IntegerAttr>("colrow.sequence"))
    info.sequence = sequence.getInt();
  auto text = [&](StringRef attribute, StringRef otherwise) {
    auto value = module->getAttrOfType<StringAttr>(attribute);
    return value ? value.str() : otherwise.str();
  };
  info.objective = text("colrow.objective", "");
  info.labels = llvm::StringSwitch<LabelRule>(text("colrow.labels", "none"))
                    .Case("shift_left", LabelRule::shiftLeft)
                    .Case("in_graph", LabelRule::inGraph)
                    .Default(LabelRule::none);
  info.labelsInput = text("colrow.labels_input", info.labelsInput);
  module.walk([&](Operation *op) {
    if (auto ignore = op->getAttrOfType<IntegerAttr>("ignore"))
      info.ignoreLabel = ignore.getInt();
    if (auto smoothing = op->getAttrOfType<FloatAttr>("label_smoothing"))
      info.labelSmoothing = smoothing.getValueAsDouble();
    if (auto factor = op->getAttrOfType<FloatAttr>("z_loss"))
      info.zLoss = factor.getValueAsDouble();
  });
  for (StringRef name : {"main", "forward_backward", "evaluate", "update"}) {
    auto function = module.lookupSymbol<func::FuncOp>(name);
    if (!function)
      continue;
    for (unsigned i = 0; i < function.getNumArguments(); ++i)
      if (getRole(function, i) == "parameter" &&
          model.numbers.parameters.insert({getName(function, i), info.parameters.size()}).second) {
        info.parameters.push_back(parameterInfo(function, i, grid));
        model.parameterTypes.push_back(
            globalType(function.getArgAttrDict(i), function.getArgumentTypes()[i]));
        model.parameterAttributes.push_back(function.getArgAttrDict(i));
      }
    if (failed(addInputs(function, model)))
      return failure();
  }
  if (auto evaluate = module.lookupSymbol<func::FuncOp>("evaluate"))
    for (unsigned i = 0; i < evaluate.getNumResults(); ++i) {
      if (getResultRole(evaluate, i) != "output")
        continue;
      DictionaryAttr attributes = evaluate.getResultAttrDict(i);
      RankedTensorType type = globalType(attributes, evaluate.getResultTypes()[i]);
      info.outputs.push_back({getResultName(evaluate, i).str(), dtypeOf(type.getElementType()),
                              validShape(attributes, type.getShape()), 0});
      model.outputTypes.push_back(type);
    }
  if (auto step = module.lookupSymbol<func::FuncOp>("forward_backward")) {
    info.stepFlops = productFlops(step) * (grid ? grid.numRanks() : 1);
    info.gradientOrder = findGradientOrder(step, model.numbers);
  }
  return model;
}

static const char *nameOf(DType type) {
  static constexpr const char *names[] = {"f32", "i64", "i32", "b1"};
  return names[static_cast<int>(type)];
}

static std::string tensorText(const InputInfo &info) {
  return fmt::format("{{{}, DType::{}, {}, {}}}", quoted(info.name), nameOf(info.dtype),
                     braced(info.shape), info.limit);
}

std::string emitModel(const ProgramModel &model) {
  const ProgramInfo &info = model.info;
  std::string text = fmt::format("// What '{}' was compiled to: its parameters, inputs and grid.\n"
                                 "// Generated by colrow.\n#include \"colrow/Program.h\"\n\n"
                                 "namespace colrow {{\n\nstatic ProgramInfo describe() {{\n"
                                 "  ProgramInfo info;\n",
                                 info.model);
  auto line = [&](const std::string &statement) { text += wrapped(2, statement); };
  line(fmt::format("info.model = {};", quoted(info.model)));
  line(fmt::format("info.graph = {};", quoted(info.graph)));
  std::vector<std::string> axes;
  for (const GridAxis &axis : info.grid)
    axes.push_back(fmt::format("{{{}, {}}}", quoted(axis.name), axis.size));
  line(fmt::format("info.grid = {{{}}};", fmt::join(axes, ", ")));
  static constexpr const char *rules[] = {"zeros", "ones", "normal"};
  text +=
      "  // name, aliases, dimensions with their cuts, shape without padding, decay, transposed,\n"
      "  // initial values, id\n";
  for (const ParameterInfo &p : info.parameters) {
    std::vector<std::string> aliases, dims;
    for (const std::string &alias : p.aliases)
      aliases.push_back(quoted(alias));
    for (const DimSlice &dim : p.dims)
      dims.push_back(dimSlice(dim));
    line(fmt::format("info.parameters.push_back({{{}, {{{}}}, {{{}}}, {}, {}, {}, "
                     "{{InitRule::{}, {}}}, 0x{:x}u}});",
                     quoted(p.name), fmt::join(aliases, ", "), fmt::join(dims, ", "),
                     braced(p.valid), p.decay, p.transposed, rules[p.init.kind], p.init.deviation,
                     p.id));
  }
  for (const InputInfo &input : info.inputs)
    line(fmt::format("info.inputs.push_back({});", tensorText(input)));
  for (const InputInfo &output : info.outputs)
    line(fmt::format("info.outputs.push_back({});", tensorText(output)));
  if (!info.values.empty())
    text += "  // What the forward pass computes: tensor, node if called otherwise, whether masked with\n"
            "  // infinities.\n";
  for (const ValueInfo &value : info.values)
    line(fmt::format("info.values.push_back({{{}, {}, {}}});", quoted(value.name),
                     quoted(value.node), value.mayBeInfinite));
  line(fmt::format("info.gradientOrder = {{{}}};", fmt::join(info.gradientOrder, ", ")));
  line(fmt::format("info.objective = {};", quoted(info.objective)));
  static constexpr const char *labelRules[] = {"none", "shiftLeft", "inGraph"};
  line(fmt::format("info.labels = LabelRule::{};", labelRules[static_cast<int>(info.labels)]));
  line(fmt::format("info.labelsInput = {};", quoted(info.labelsInput)));
  line(fmt::format("info.ignoreLabel = {};", info.ignoreLabel));
  if (info.labelSmoothing > 0)
    line(fmt::format("info.labelSmoothing = {};", info.labelSmoothing));
  if (info.zLoss > 0)
    line(fmt::format("info.zLoss = {};", info.zLoss));
  line(fmt::format("info.batch = {};", info.batch));
  line(fmt::format("info.sequence = {};", info.sequence));
  line(fmt::format("info.stepFlops = {};", info.stepFlops));
  text += "  return info;\n}\n\nconst ProgramInfo &programInfo() {\n"
          "  static const ProgramInfo info = describe();\n  return info;\n}\n\n"
          "} // namespace colrow\n";
  return text;
}

} // namespace colrow
