//===- Elaborator.cpp - runs the statements of a text ---------------------===//

#include "frontend/dsl/Elaborator.h"
#include "runtime/reference/InterpreterTypes.h"

#include <fmt/format.h>

using namespace mlir;

namespace colrow::dsl {

Elaborator::Elaborator(MLIRContext &context, const DslModel &model, const ImportOptions &options)
    : context(context), model(model), options(options),
      module(ModuleOp::create(UnknownLoc::get(&context))),
      main(func::FuncOp::create(UnknownLoc::get(&context), "main",
                                FunctionType::get(&context, {}, {}))),
      body(main.addEntryBlock()),
      builder(&context, body), operations{builder,
                                          [this](SMRange range, const std::string &text) {
                                            fail(range, text);
                                          },
                                          [this] { return randomArgument(); },
                                          [this](StringRef what) { return uniqueName(what); },
                                          [this](Value weight) { return transposedOf(weight); },
                                          [this](Value value) { return sourceOf(value); }} {
  module->push_back(main);
}

DslProgram Elaborator::run() {
  bindDims();
  frames.push_back({nullptr, {}, "", {{}}});
  execute(model.file().body);
  return finish();
}

void Elaborator::fail(SMRange range, const Twine &message, std::vector<Note> notes) const {
  for (const Frame &frame : llvm::reverse(frames))
    if (frame.block)
      notes.push_back({frame.call, "in block '" + frame.block->name.text + "', called here"});
  model.source().fail(range, message, notes);
}

//===----------------------------------------------------------------------===//
// Dims
//===----------------------------------------------------------------------===//

/// Sizes from the command line, each for a dim that the file has; those without one.
void Elaborator::bindDims() {
  std::vector<std::string> names, missing;
  std::vector<GraphInput> inputs = model.inputs();
  for (const Stmt &stmt : model.file().body)
    if (auto *dim = std::get_if<DimStmt>(&stmt.node))
      names.push_back(dim->name.text);
  auto bind = [&](const char *option, std::optional<int64_t> size, std::string dim) {
    if (!size)
      return;
    if (dim.empty() && llvm::is_contained(names, StringRef(option).drop_front(2)))
      dim = StringRef(option).drop_front(2).str();
    if (dim.empty())
      throw Error(fmt::format("{} names a dimension that no input of '{}' has; leave it out",
                              option, model.path()));
    auto [entry, isNew] = bindings.try_emplace(dim, *size);
    if (!isNew && entry->second != *size)
      throw Error(fmt::format("{} {} and --bind {}={} are two sizes of one dim; give one", option,
                              *size, dim, entry->second));
  };
  bindings = options.bindings;
  bind("--batch", options.batch, symbolOfBatch(inputs));
  bind("--sequence", options.sequence, symbolOfSequence(inputs));
  for (const auto &[name, size] : bindings) {
    if (!llvm::is_contained(names, name))
      throw Error(fmt::format("--bind {}={}: '{}' has no dim '{}'{}", name, size, model.path(),
                              name, suggestion(name, names)));
    if (size < 1)
      throw Error(fmt::format("--bind {}={}: a size is at least 1", name, size));
  }
  SMRange first;
  for (const Stmt &stmt : model.file().body)
    if (auto *dim = std::get_if<DimStmt>(&stmt.node); dim && !dim->value &&
                                                      !bindings.count(dim->name.text) &&
                                                      !model.overrides().count(dim->name.text)) {
      const std::string &name = dim->name.text;
      missing.push_back(name == symbolOfBatch(inputs)      ? "--batch N"
                        : name == symbolOfSequence(inputs) ? "--sequence N"
                                                           : "--bind " + name + "=N");
      if (!first.isValid())
        first = dim->name.range;
    }
  if (missing.empty())
    return;
  std::string all;
  for (const std::string &each : missing)
    all += (all.empty() ? "" : " ") + each;
  model.source().fail(first, "this dim has no size; give " + all);
}

void Elaborator::declare(const Name &name, StringRef kind, Datum value) {
  if (auto known = declared.find(name.text); known != declared.end())
    fail(name.range, "'" + name.text + "' is " + known->second.first + " already",
         {{known->second.second, "declared here"}});
  if (frames.back().variables.front().count(name.text))
    fail(name.range, "'" + name.text + "' is a value already; what follows from it would change");
  declared[name.text] = {kind.str(), name.range};
  constants[name.text] = std::move(value);
}

void Elaborator::add(const DimStmt &dim) {
  Number size;
  auto bound = bindings.find(dim.name.text);
  auto override = model.overrides().find(dim.name.text);
  const Expr *value =
      override != model.overrides().end() ? override->second.value : dim.value.get();
  if (bound != bindings.end())
    size = Number::of(bound->second, /*isOpen=*/!value);
  else
    size = integerOf(*value, "a dim");
  if (size.integer < 1)
    fail(value->range, "a dim is at least 1, got: " + numberText(size));
  declare(dim.name, "a dim", {size});
}

void Elaborator::add(const LetStmt &let) {
  auto override = model.overrides().find(let.name.text);
  const Expr &expr = override != model.overrides().end() ? *override->second.value : *let.value;
  Datum value = evaluate(expr);
  if (value.as<Value>())
    fail(expr.range, "'let' names what is known at compile time, got: " + describe(value) +
                         "; leave 'let' out for a value of the model");
  declare(let.name, "a let", std::move(value));
}

//===----------------------------------------------------------------------===//
// Inputs, parameters, outputs
//===----------------------------------------------------------------------===//

void Elaborator::add(const InputStmt &input) {
  static const std::pair<StringLiteral, reference::ElementType> elements[] = {
      {"bool", reference::ElementType::b1},
      {"float32", reference::ElementType::f32},
      {"int32", reference::ElementType::i32},
      {"int64", reference::ElementType::i64}};
  auto element =
      llvm::find_if(elements, [&](const auto &each) { return each.first == input.element.text; });
  if (element == std::end(elements))
    fail(input.element.range, "an input is of bool, float32, int32 or int64");
  SmallVector<int64_t> shape;
  for (const ExprPtr &size : input.shape)
    shape.push_back(sizeOf(*size));
  Type type = fromElementType(&context, element->second);
  if (!batch && !shape.empty())
    batch = shape[0];
  if (!sequence && shape.size() == 2 && isa<IntegerType>(type))
    sequence = shape[1];
  if (auto fixed = options.fixedInputs.find(input.name.text); fixed != options.fixedInputs.end()) {
    declare(input.name, "an input", {builder.constant(fixed->second)});
    return;
  }
  auto name = StringAttr::get(&context, input.name.text);
  inputAttributes.push_back(DictionaryAttr::get(
      &context, {NamedAttribute(StringAttr::get(&context, ColrowDialect::roleAttrName),
                                StringAttr::get(&context, "input")),
                 NamedAttribute(StringAttr::get(&context, ColrowDialect::nameAttrName), name)}));
  declare(input.name, "an input",
          {Value(body->addArgument(RankedTensorType::get(shape, type), NameLoc::get(name)))});
}

void Elaborator::add(const ParamStmt &param) {
  auto added = std::make_unique<DslParameter>();
  added->range = param.path.range;
  std::string name = scoped(param.path.text);
  if (auto known = parametersByName.find(name); known != parametersByName.end()) {
    bool isSame = known->second->range.Start == param.path.range.Start;
    fail(
        param.path.range,
        "there is a parameter '" + name + "' already" +
            (isSame ? "; name what is repeated ('repeat n as h') or called twice ('a: f(x)')" : ""),
        isSame ? std::vector<Note>() : std::vector<Note>{{known->second->range, "declared here"}});
  }
  if (frames.back().variables.front().count(param.path.text) || declared.count(name))
    fail(param.path.range, "'" + param.path.text + "' is the name of a value already");
  double elements = 1;
  for (const ExprPtr &size : param.shape) {
    added->parameter.shape.push_back(sizeOf(*size));
    elements *= static_cast<double>(added->parameter.shape.back());
  }
  if (elements > 1e15)
    fail(param.path.range,
         "a parameter " + shapeText(added->parameter.shape) + " is larger than any memory");
  const std::string &rule = param.rule.text;
  if (rule != "normal" && rule != "zeros" && rule != "ones")
    fail(param.rule.range, "a parameter starts with normal(0.02), zeros or ones" +
                               suggestion(rule, {"normal", "zeros", "ones"}));
  if ((rule == "normal") != (param.deviation != nullptr))
    fail(param.rule.range, rule == "normal"
                               ? "'normal' expects its standard deviation: normal(0.02)"
                               : "'" + rule + "' takes no number");
  if (param.deviation) {
    Datum deviation = evaluate(*param.deviation);
    const Number *number = deviation.as<Number>();
    if (!number || !(number->value() >= 0))
      fail(param.deviation->range,
           "a standard deviation is a number of at least 0, got: " + describe(deviation));
    added->deviation = number->value();
  }
  added->rule = rule;
  added->parameter.name = added->parameter.valueName = name;
  added->parameter.dtype = onnx::TensorProto::FLOAT;
  auto type = RankedTensorType::get(added->parameter.shape, Float32Type::get(&context));
  added->value = body->insertArgument(static_cast<unsigned>(parameters.size()), type,
                                      NameLoc::get(StringAttr::get(&context, name)));
  parametersByName[name] = added.get();
  parameters.push_back(std::move(added));
}

void Elaborator::add(const TieStmt &tie) {
  DslParameter *parameter = findParameter(tie.path.text);
  if (!parameter) {
    std::vector<std::string> known;
    for (const auto &[name, each] : parametersByName)
      known.push_back(name);
    fail(tie.path.range,
         "there is no parameter '" + tie.path.text + "'" + suggestion(tie.path.text, known));
  }
  std::string alias = scoped(tie.alias.text);
  if (parametersByName.count(alias))
    fail(tie.alias.range, "there is a parameter '" + alias + "' already");
  parameter->parameter.aliases.push_back(alias);
  parametersByName[alias] = parameter;
}

void Elaborator::add(const OutputStmt &output) {
  if (frames.size() > 1)
    fail(output.name.range, "'output' belongs to the top of a file, not into a block");
  Datum value = evaluate(*output.value, output.name.text);
  if (!value.as<Value>())
    fail(output.value->range, "an output is a tensor, got: " + describe(value));
  declare(output.name, "an output", value);
  trace("output");
  trace(value);
  outputs.push_back({output.name.text, *value.as<Value>()});
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

void Elaborator::add(const AssignStmt &assign) {
  Datum value = evaluate(*assign.value, assign.targets.size() == 1 ? assign.targets[0].text : "");
  if (assign.targets.size() == 1)
    return this->assign(assign.targets[0], std::move(value));
  const List *list = value.as<List>();
  if (!list || list->size() != assign.targets.size())
    fail(assign.value->range,
         fmt::format("{} names need a list of {} values, got: {}", assign.targets.size(),
                     assign.targets.size(), describe(value)));
  List values = *list;
  for (auto [target, each] : llvm::zip(assign.targets, values))
    this->assign(target, each);
}

/// A name of an outer brace is that one; a new name is the inner brace's own.
void Elaborator::assign(const Name &target, Datum value) {
  Frame &frame = frames.back();
  for (auto &variables : llvm::reverse(frame.variables))
    if (auto known = variables.find(target.text); known != variables.end()) {
      known->second = std::move(value);
      return;
    }
  if (auto known = declared.find(target.text); known != declared.end())
    fail(target.range, "'" + target.text + "' is " + known->second.first + " and keeps its value",
         {{known->second.second, "declared here"}});
  if (parametersByName.count(scoped(target.text)))
    fail(target.range, "'" + target.text + "' is a parameter and keeps its value",
         {{parametersByName[scoped(target.text)]->range, "declared here"}});
  frame.variables.back()[target.text] = std::move(value);
}

//===----------------------------------------------------------------------===//
// Control
//===----------------------------------------------------------------------===//

std::optional<List> Elaborator::execute(const Body &statements) {
  for (const Stmt &stmt : statements)
    if (std::optional<List> returned = execute(stmt))
      return returned;
  return std::nullopt;
}

std::optional<List> Elaborator::execute(const Stmt &stmt) {
  auto inBraces = [&](const Body &statements) {
    frames.back().variables.emplace_back();
    std::optional<List> returned = execute(statements);
    frames.back().variables.pop_back();
    return returned;
  };
  if (auto *loop = std::get_if<RepeatStmt>(&stmt.node))
    return repeat(*loop);
  if (auto *branch = std::get_if<IfStmt>(&stmt.node)) {
    Datum condition = evaluate(*branch->condition);
    const Truth *truth = condition.as<Truth>();
    if (!truth)
      fail(branch->condition->range,
           "a condition is true or false at compile time, got: " + describe(condition) +
               (condition.as<Value>() ? "; 'where' chooses between elements" : ""));
    return inBraces(truth->value ? branch->body : branch->otherwise);
  }
  if (auto *result = std::get_if<ReturnStmt>(&stmt.node)) {
    List values;
    for (const ExprPtr &value : result->values)
      values.push_back(evaluate(*value));
    return values;
  }
  std::visit(
      [this](const auto &node) {
        using Node = std::decay_t<decltype(node)>;
        if constexpr (!std::is_same_v<Node, RepeatStmt> && !std::is_same_v<Node, IfStmt> &&
                      !std::is_same_v<Node, ReturnStmt>)
          add(node);
      },
      stmt.node);
  return std::nullopt;
}

std::optional<List> Elaborator::repeat(const RepeatStmt &repeat) {
  constexpr int64_t most = 10000;
  Number count = integerOf(*repeat.count, "the count of a repeat");
  if (count.integer < 0 || count.integer > most)
    fail(repeat.count->range,
         fmt::format("a repeat goes from 0 to {} times, got: {}", most, count.integer));
  std::string scope = frames.back().scope;
  if (!repeat.index.text.empty())
    if (auto known = declared.find(repeat.index.text); known != declared.end())
      fail(repeat.index.range,
           "'" + repeat.index.text + "' is " + known->second.first + " already",
           {{known->second.second, "declared here"}});
  for (int64_t i = 0; i < count.integer; ++i) {
    Frame &frame = frames.back();
    if (!repeat.scope.text.empty())
      frame.scope = fmt::format("{}{}{}.{}", scope, scope.empty() ? "" : ".", repeat.scope.text, i);
    frame.variables.emplace_back();
    if (!repeat.index.text.empty())
      frame.variables.back()[repeat.index.text] = {Number::of(i)};
    std::optional<List> returned = execute(repeat.body);
    frames.back().variables.pop_back();
    frames.back().scope = scope;
    if (returned)
      return returned;
    if (frames.size() == 1)
      forgetUnread();
  }
  return std::nullopt;
}

/// Known values that no variable holds: the masks of 72 layers are large.
void Elaborator::forgetUnread() {
  SmallVector<Value> kept;
  std::function<void(const Datum &)> keep = [&](const Datum &datum) {
    if (const Value *value = datum.as<Value>())
      kept.push_back(*value);
    if (const List *list = datum.as<List>())
      llvm::for_each(*list, keep);
  };
  for (const auto &variables : frames.back().variables)
    for (const auto &[name, datum] : variables)
      keep(datum);
  for (const auto &[name, datum] : constants)
    keep(datum);
  builder.forgetTemporaries(kept);
}

} // namespace colrow::dsl
