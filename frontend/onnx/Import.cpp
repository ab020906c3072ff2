//===- Import.cpp - from the graph of a model to @main --------------------===//

#include "frontend/onnx/Import.h"
#include "colrow/Error.h"
#include "frontend/onnx/GraphChecksum.h"
#include "frontend/onnx/OpTable.h"
#include "mlir/IR/Verifier.h"

#include <fmt/format.h>
#include <set>

using namespace mlir;
using colrow::reference::Tensor;

namespace colrow {

//===----------------------------------------------------------------------===//
// Binding symbols
//===----------------------------------------------------------------------===//

/// What one of the two options means: the symbol of this name, or else the one at `dim` of the
/// first input that has a symbol there, or else the size that an input has there (0: none has).
static std::pair<std::string, int64_t> findDimension(const std::vector<GraphInput> &inputs,
                                                     const char *name, size_t dim) {
  for (const GraphInput &input : inputs)
    for (const InputDim &each : input.dims)
      if (each.symbol == name)
        return {name, 0};
  int64_t fixed = 0;
  for (const GraphInput &input : inputs) {
    if (input.dims.size() <= dim || (dim > 0 && input.dims.size() != 2))
      continue;
    if (!input.dims[dim].symbol.empty())
      return {input.dims[dim].symbol, 0};
    if (fixed == 0)
      fixed = input.dims[dim].size;
  }
  return {"", fixed};
}

std::string symbolOfBatch(const std::vector<GraphInput> &inputs) {
  return findDimension(inputs, "batch", 0).first;
}

std::string symbolOfSequence(const std::vector<GraphInput> &inputs) {
  return findDimension(inputs, "sequence", 1).first;
}

/// Binds the symbol of an option, if it was given. A size in the file must agree.
static void bindOption(const OnnxModel &model, std::optional<int64_t> size, const char *name,
                       size_t dim, std::map<std::string, int64_t> &bindings) {
  if (!size)
    return;
  auto [symbol, fixed] = findDimension(model.inputs(), name, dim);
  if (symbol.empty() && fixed == *size)
    return;
  if (symbol.empty() && fixed != 0)
    throw Error(fmt::format("{}: --{} {} does not fit the model, which was exported with {}; leave "
                            "the option out or export with dynamic shapes",
                            model.path().string(), name, *size, fixed));
  if (symbol.empty())
    throw Error(fmt::format("{}: --{} names a dimension that no input has; leave it out",
                            model.path().string(), name));
  auto [it, isNew] = bindings.try_emplace(symbol, *size);
  if (!isNew && it->second != *size)
    throw Error(fmt::format("--{} {} and --bind {}={} are two sizes of one dimension; give one",
                            name, *size, symbol, it->second));
}

static std::vector<BoundInput> bindInputs(const OnnxModel &model, const ImportOptions &options) {
  std::map<std::string, int64_t> bindings = options.bindings;
  bindOption(model, options.batch, "batch", 0, bindings);
  bindOption(model, options.sequence, "sequence", 1, bindings);
  return model.bindSymbols(bindings);
}

//===----------------------------------------------------------------------===//
// The importer
//===----------------------------------------------------------------------===//

namespace {
class Importer {
public:
  Importer(MLIRContext &context, const OnnxModel &model, const ParameterTable &table,
           const ImportOptions &options)
      : context(context), model(model), table(table), options(options),
        module(ModuleOp::create(UnknownLoc::get(&context))),
        main(func::FuncOp::create(UnknownLoc::get(&context), "main",
                                  FunctionType::get(&context, {}, {}))),
        body(main.addEntryBlock()), builder(&context, body) {
    module->push_back(main);
  }

  OwningOpRef<ModuleOp> run();

private:
  void addParameters();
  void addInputs();
  void addNode(const onnx::NodeProto &proto, int index);
  void addResults();
  Value addArgument(StringRef role, StringRef name, RankedTensorType type,
                    ArrayRef<NamedAttribute> more = {});
  Value valueOf(const std::string &name);
  Value randomArgument();
  Location locationOf(const onnx::NodeProto &proto);
  void release(const onnx::NodeProto &proto, int index);
  StringAttr string(const Twine &text) { return StringAttr::get(&context, text); }
  ArrayAttr strings(const std::vector<std::string> &list);

  MLIRContext &context;
  const OnnxModel &model;
  const ParameterTable &table;
  const ImportOptions &options;
  OwningOpRef<ModuleOp> module;
  func::FuncOp main;
  Block *body;
  FoldingBuilder builder;
  SmallVector<DictionaryAttr> argumentAttributes;
  std::map<std::string, Value> values;
  std::map<std::string, int> lastUse; // by value, the last node that reads it
  OnnxGraphState state;
  Value random;
};
} // namespace

ArrayAttr Importer::strings(const std::vector<std::string> &list) {
  SmallVector<Attribute> attributes;
  for (const std::string &text : list)
    attributes.push_back(string(text));
  return ArrayAttr::get(&context, attributes);
}

Value Importer::addArgument(StringRef role, StringRef name, RankedTensorType type,
                            ArrayRef<NamedAttribute> more) {
  SmallVector<NamedAttribute> attributes(more);
  attributes.emplace_back(string(ColrowDialect::roleAttrName), string(role));
  attributes.emplace_back(string(ColrowDialect::nameAttrName), string(name));
  argumentAttributes.push_back(DictionaryAttr::get(&context, attributes));
  return body->addArgument(type, NameLoc::get(string(name)));
}

void Importer::addParameters() {
  for (const Parameter &parameter : table.parameters) {
    if (parameter.dtype != onnx::TensorProto::FLOAT)
      throw Error(
          fmt::format("{}: parameter '{}' is {}; only float is trained: export the model in "
                      "float32",
                      model.path().string(), parameter.name, dtypeName(parameter.dtype)));
    std::vector<std::string> names;
    for (const ParameterValue &value : parameter.values)
      names.push_back(value.name);
    SmallVector<NamedAttribute> attributes;
    if (!parameter.aliases.empty())
      attributes.emplace_back(string("colrow.aliases"), strings(parameter.aliases));
    if (parameter.transposed)
      attributes.emplace_back(string("colrow.transposed"), UnitAttr::get(&context));
    attributes.emplace_back(string("colrow.onnx"), strings(names));
    auto type = RankedTensorType::get(parameter.valueShape(), Float32Type::get(&context));
    values[parameter.valueName] = addArgument("parameter", parameter.name, type, attributes);
  }
}

void Importer::addInputs() {
  std::optional<int64_t> batch, sequence;
  for (const BoundInput &input : bindInputs(model, options)) {
    Type element;
    try {
      element = fromElementType(&context, onnxElementType(input.dtype));
    } catch (const Error &error) {
      throw Error(
          fmt::format("{}: input '{}' {}", model.path().string(), input.name, error.what()));
    }
    if (!batch && !input.shape.empty())
      batch = input.shape[0];
    if (!sequence && input.shape.size() == 2 && isa<IntegerType>(element))
      sequence = input.shape[1];
    if (auto fixed = options.fixedInputs.find(input.name); fixed != options.fixedInputs.end())
      values[input.name] = builder.constant(fixed->second);
    else
      values[input.name] =
          addArgument("input", input.name, RankedTensorType::get(input.shape, element));
  }
  Type i64 = IntegerType::get(&context, 64);
  (*module)->setAttr("colrow.model", string(model.path().string()));
  (*module)->setAttr("colrow.graph", string(graphChecksum(model, table)));
  if (batch)
    (*module)->setAttr("colrow.batch", IntegerAttr::get(i64, *batch));
  if (sequence)
    (*module)->setAttr("colrow.sequence", IntegerAttr::get(i64, *sequence));
}

Value Importer::randomArgument() {
  if (!random)
    random = addArgument("input", "colrow.random",
                         RankedTensorType::get({4}, IntegerType::get(&context, 64)));
  return random;
}

/// Initializers that are no parameters are read when first used.
Value Importer::valueOf(const std::string &name) {
  if (name.empty())
    return {};
  if (auto it = values.find(name); it != values.end())
    return it->second;
  const TensorInfo *info = model.findInitializer(name);
  if (!info)
    throw Error(fmt::format("reads '{}', which nothing defines", name));
  reference::ElementType type = onnxElementType(info->dtype);
  Bytes bytes = readTensor(*info);
  Tensor tensor = Tensor::fromBytes(type, info->shape, bytes.data, bytes.size);
  return values[name] = builder.constant(std::move(tensor));
}

Location Importer::locationOf(const onnx::NodeProto &proto) {
  std::string output = proto.output_size() ? proto.output(0) : "";
  if (proto.name().empty() || proto.name() == output)
    return NameLoc::get(string(output));
  return NameLoc::get(string(proto.name()), NameLoc::get(string(output)));
}

/// Known values that no later node reads are forgotten: the masks of 48 layers are large.
void Importer::release(const onnx::NodeProto &proto, int index) {
  SmallVector<Value> kept;
  for (const auto &[name, value] : values)
    kept.push_back(value);
  builder.forgetTemporaries(kept);
  for (const std::string &name : proto.input()) {
    auto use = lastUse.find(name);
    auto it = values.find(name);
    if (use == lastUse.end() || use->second != index || it == values.end())
      continue;
    Value value = it->second;
    values.erase(it);
    bool hasOtherName =
        llvm::any_of(values, [&](const auto &entry) { return entry.second == value; });
    if (builder.known(value) && !hasOtherName)
      builder.forget(value);
  }
}

void Importer::addNode(const onnx::NodeProto &proto, int index) {
  std::string where = model.path().string() + ": " + describeNode(proto, index);
  if (std::string reason = whyNotImported(proto.op_type(), model.opset()); !reason.empty())
    throw Error(where + " " + reason);
  builder.setLocation(locationOf(proto));
  try {
    SmallVector<Value> inputs;
    for (const std::string &name : proto.input())
      inputs.push_back(valueOf(name));
    OnnxNode node(builder, proto, inputs, state);
    const OnnxOp *op = findOnnxOp(proto.op_type());
    checkOperandTypes(node, *op);
    op->build(node);
    for (auto [i, value] : llvm::enumerate(node.outputs())) {
      if (value)
        values[proto.output(static_cast<int>(i))] = value;
      else if (node.wants(i))
        throw Error(fmt::format("has a result '{}' that is not imported",
                                proto.output(static_cast<int>(i))));
    }
  } catch (const Error &error) {
    std::string text = where + ": " + error.what();
    if (!state.suspicions.empty())
      text += "; the sequence may be longer than the model's position table: " +
              state.suspicions.front();
    throw Error(text);
  }
  release(proto, index);
}

void Importer::addResults() {
  SmallVector<Value> results;
  SmallVector<DictionaryAttr> attributes;
  for (const onnx::ValueInfoProto &output : table.graph.output()) {
    builder.setLocation(NameLoc::get(string(output.name())));
    results.push_back(builder.materialize(valueOf(output.name())));
    attributes.push_back(DictionaryAttr::get(
        &context, {NamedAttribute(string(ColrowDialect::roleAttrName), string("output")),
                   NamedAttribute(string(ColrowDialect::nameAttrName), string(output.name()))}));
  }
  OpBuilder end = OpBuilder::atBlockEnd(body);
  func::ReturnOp::create(end, UnknownLoc::get(&context), results);
  main.setFunctionType(
      FunctionType::get(&context, body->getArgumentTypes(), ValueRange(results).getTypes()));
  main.setAllArgAttrs(argumentAttributes);
  main.setAllResultAttrs(attributes);
}

OwningOpRef<ModuleOp> Importer::run() {
  const onnx::GraphProto &graph = table.graph;
  for (int i = 0; i < graph.node_size(); ++i)
    for (const std::string &name : graph.node(i).input()) {
      lastUse[name] = i;
      state.used.insert(name);
    }
  for (const onnx::ValueInfoProto &output : graph.output()) {
    lastUse.erase(output.name());
    state.used.insert(output.name());
  }
  state.opset = model.opset();
  state.random = [this] { return randomArgument(); };
  addParameters();
  addInputs();
  for (int i = 0; i < graph.node_size(); ++i)
    addNode(graph.node(i), i);
  addResults();
  return std::move(module);
}

//===----------------------------------------------------------------------===//
// Entry points
//===----------------------------------------------------------------------===//

static void remark(MLIRContext &context, const ParameterRemark &remark) {
  Location location =
      NameLoc::get(StringAttr::get(&context, remark.node.empty() ? remark.parameter : remark.node));
  InFlightDiagnostic diagnostic = remark.kind == ParameterRemark::Doubtful ? emitWarning(location)
                                                                           : emitRemark(location);
  diagnostic << "parameter '" << remark.parameter << "' " << remarkKindName(remark.kind)
                       << ": " << remark.text;
}

FailureOr<OwningOpRef<ModuleOp>> importOnnx(MLIRContext &context, const OnnxModel &model,
                                            const ParameterTable &table,
                                            const ImportOptions &options) {
  context.loadDialect<ColrowDialect, func::FuncDialect>();
  for (const ParameterRemark &each : table.remarks)
    remark(context, each);
  try {
    OwningOpRef<ModuleOp> module = Importer(context, model, table, options).run();
    if (failed(verify(*module)))
      return failure();
    return std::move(module);
  } catch (const Error &error) {
    emitError(UnknownLoc::get(&context)) << error.what();
    return failure();
  }
}

FailureOr<OwningOpRef<ModuleOp>> importOnnx(MLIRContext &context, const std::filesystem::path &path,
                                            const ImportOptions &options) {
  try {
    OnnxModel model = OnnxModel::load(path);
    ParameterTable table = sortParameters(model, options.parameters);
    return importOnnx(context, model, table, options);
  } catch (const Error &error) {
    emitError(UnknownLoc::get(&context)) << error.what();
    return failure();
  }
}

} // namespace colrow
