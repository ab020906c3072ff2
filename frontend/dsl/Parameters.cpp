//===- Parameters.cpp - names, parameters and the end of a program --------===//

#include "frontend/dsl/Elaborator.h"
#include "mlir/IR/Verifier.h"

#include <fmt/format.h>

using namespace mlir;

namespace colrow {

namespace dsl {

//===----------------------------------------------------------------------===//
// Names
//===----------------------------------------------------------------------===//

std::string Elaborator::scoped(StringRef path) const {
  const std::string &scope = frames.back().scope;
  return scope.empty() ? path.str() : scope + "." + path.str();
}

/// Of something in the scope; what has the name of another is numbered.
std::string Elaborator::uniqueName(StringRef what) {
  std::string name = scoped(what);
  int count = nameCounts[name]++;
  return count == 0 ? name : fmt::format("{}_{}", name, count);
}

void Elaborator::setLocation(StringRef what) {
  builder.setLocation(NameLoc::get(StringAttr::get(&context, uniqueName(what))));
}

/// Relative to the scope, or else from the top.
Elaborator::DslParameter *Elaborator::findParameter(StringRef path) {
  for (const std::string &name : {scoped(path), path.str()})
    if (auto known = parametersByName.find(name); known != parametersByName.end())
      return known->second;
  return nullptr;
}

Value Elaborator::read(DslParameter &parameter) {
  parameter.isRead = true;
  return parameter.value;
}

/// A parameter's name, for errors.
std::string Elaborator::sourceOf(Value value) {
  for (const auto &parameter : parameters)
    if (parameter->value == value)
      return parameter->parameter.name;
  return "a table";
}

Value Elaborator::randomArgument() {
  if (random)
    return random;
  auto name = StringAttr::get(&context, "colrow.random");
  inputAttributes.push_back(DictionaryAttr::get(
      &context, {NamedAttribute(StringAttr::get(&context, ColrowDialect::roleAttrName),
                                StringAttr::get(&context, "input")),
                 NamedAttribute(StringAttr::get(&context, ColrowDialect::nameAttrName), name)}));
  random = body->addArgument(RankedTensorType::get({4}, IntegerType::get(&context, 64)),
                             NameLoc::get(name));
  return random;
}

//===----------------------------------------------------------------------===//
// Orientation
//===----------------------------------------------------------------------===//

/// Of a parameter once, at the program's beginning, as for an exported model: see keepTransposed.
Value Elaborator::transposedOf(Value weight) {
  for (const auto &parameter : parameters) {
    if (parameter->value != weight)
      continue;
    if (!parameter->transposed) {
      OpBuilder start = OpBuilder::atBlockBegin(body);
      parameter->transposed =
          TransposeOp::create(start, parameter->value.getLoc(), weight, ArrayRef<int64_t>{1, 0});
    }
    return parameter->transposed;
  }
  return builder.transpose(weight, {1, 0});
}

/// A matrix that is only read transposed is kept so.
void Elaborator::keepTransposed() {
  for (const auto &parameter : parameters) {
    if (!parameter->transposed || !parameter->value.hasOneUse())
      continue;
    Operation *transpose = parameter->transposed.getDefiningOp();
    parameter->value.setType(parameter->transposed.getType());
    parameter->transposed.replaceAllUsesWith(parameter->value);
    transpose->erase();
    parameter->parameter.transposed = true;
  }
}

//===----------------------------------------------------------------------===//
// The end
//===----------------------------------------------------------------------===//

DslProgram Elaborator::finish() {
  if (outputs.empty())
    throw Error(
        fmt::format("'{}' has no output; end it with 'output logits = ...'", model.files().back()));
  for (const auto &parameter : parameters)
    if (!parameter->isRead)
      fail(parameter->range, "parameter '" + parameter->parameter.name + "' is never read");
  auto text = [&](const Twine &value) { return StringAttr::get(&context, value); };
  // The terminator reads outputs before orientation is decided: an output may be a parameter's.
  SmallVector<Value> results;
  SmallVector<DictionaryAttr> resultAttributes;
  for (const Output &output : outputs) {
    builder.setLocation(NameLoc::get(text(output.name)));
    results.push_back(builder.materialize(output.value));
    resultAttributes.push_back(DictionaryAttr::get(
        &context, {NamedAttribute(text(ColrowDialect::roleAttrName), text("output")),
                   NamedAttribute(text(ColrowDialect::nameAttrName), text(output.name))}));
  }
  OpBuilder end = OpBuilder::atBlockEnd(body);
  auto terminator = func::ReturnOp::create(end, UnknownLoc::get(&context), results);
  keepTransposed();

  DslProgram program;
  SmallVector<DictionaryAttr> attributes;
  for (const auto &parameter : parameters) {
    SmallVector<NamedAttribute> rule{NamedAttribute(text("rule"), text(parameter->rule))};
    if (parameter->rule == "normal")
      rule.emplace_back(text("deviation"),
                        FloatAttr::get(Float64Type::get(&context), parameter->deviation));
    SmallVector<NamedAttribute> each{
        NamedAttribute(text(ColrowDialect::roleAttrName), text("parameter")),
        NamedAttribute(text(ColrowDialect::nameAttrName), text(parameter->parameter.name)),
        NamedAttribute(text("colrow.init"), DictionaryAttr::get(&context, rule))};
    if (!parameter->parameter.aliases.empty()) {
      SmallVector<Attribute> aliases;
      for (const std::string &alias : parameter->parameter.aliases)
        aliases.push_back(text(alias));
      each.emplace_back(text("colrow.aliases"), ArrayAttr::get(&context, aliases));
    }
    if (parameter->parameter.transposed)
      each.emplace_back(text("colrow.transposed"), UnitAttr::get(&context));
    attributes.push_back(DictionaryAttr::get(&context, each));
    program.parameters.parameters.push_back(parameter->parameter);
  }
  llvm::append_range(attributes, inputAttributes);
  main.setFunctionType(
      FunctionType::get(&context, body->getArgumentTypes(), terminator.getOperandTypes()));
  main.setAllArgAttrs(attributes);
  main.setAllResultAttrs(resultAttributes);
  Type i64 = IntegerType::get(&context, 64);
  (*module)->setAttr("colrow.model", text(model.path()));
  (*module)->setAttr("colrow.graph", text(fmt::format("{:016x}", checksum.value())));
  if (batch)
    (*module)->setAttr("colrow.batch", IntegerAttr::get(i64, *batch));
  if (sequence)
    (*module)->setAttr("colrow.sequence", IntegerAttr::get(i64, *sequence));
  if (failed(verify(*module)))
    throw Error(fmt::format("'{}' gives a program that is not well-formed", model.path()));
  program.module = std::move(module);
  return program;
}

} // namespace dsl

DslProgram importDsl(MLIRContext &context, const DslModel &model, const ImportOptions &options) {
  context.loadDialect<ColrowDialect, func::FuncDialect>();
  const ParameterOptions &exported = options.parameters;
  if (!exported.tie.empty() || !exported.untie.empty() || !exported.restoreBias.empty())
    throw Error(fmt::format("--tie, --untie and --restore-bias are for exported graphs; '{}' says "
                            "itself what is tied ('tie OTHER = NAME') and has a bias",
                            model.path()));
  return dsl::Elaborator(context, model, options).run();
}

} // namespace colrow
