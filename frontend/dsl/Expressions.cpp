//===- Expressions.cpp - what expressions are worth -----------------------===//

#include "frontend/dsl/Elaborator.h"

#include <cmath>
#include <fmt/format.h>

using namespace mlir;

namespace colrow::dsl {

Datum Elaborator::evaluate(const Expr &expr, StringRef name) {
  struct Evaluate {
    Elaborator &self;
    const Expr &expr;
    StringRef name;
    Datum operator()(const IntegerExpr &e) { return {Number::of(e.value)}; }
    Datum operator()(const RealExpr &e) { return {Number::of(e.value)}; }
    Datum operator()(const TextExpr &e) { return {e.value}; }
    Datum operator()(const TruthExpr &e) { return {Truth{e.value}}; }
    Datum operator()(const NoneExpr &) { return {None()}; }
    Datum operator()(const PathExpr &e) { return self.lookUp(e, expr.range); }
    Datum operator()(const ListExpr &e) {
      List list;
      for (const ExprPtr &element : e.elements)
        list.push_back(self.evaluate(*element));
      return {list};
    }
    Datum operator()(const UnaryExpr &e) { return self.unary(e, expr, name); }
    Datum operator()(const BinaryExpr &e) { return self.binary(e, expr, name); }
    Datum operator()(const CallExpr &e) { return self.call(e, expr, name); }
    Datum operator()(const IndexExpr &e) { return self.index(e, expr, name); }
  };
  return std::visit(Evaluate{*this, expr, name}, expr.node);
}

Number Elaborator::integerOf(const Expr &expr, StringRef what) {
  Datum value = evaluate(expr);
  const Number *number = value.as<Number>();
  if (!number || !number->isInteger)
    fail(expr.range, what + " is a whole number, got: " + describe(value));
  return *number;
}

int64_t Elaborator::sizeOf(const Expr &expr) {
  Number size = integerOf(expr, "a size");
  if (size.integer < 1)
    fail(expr.range, "a size is at least 1, got: " + numberText(size));
  return size.integer;
}

//===----------------------------------------------------------------------===//
// Names
//===----------------------------------------------------------------------===//

Datum Elaborator::lookUp(const PathExpr &path, SMRange range) {
  const Frame &frame = frames.back();
  for (const auto &variables : llvm::reverse(frame.variables))
    if (auto known = variables.find(path.path); known != variables.end())
      return known->second;
  if (auto known = parametersByName.find(scoped(path.path)); known != parametersByName.end())
    return {read(*known->second)};
  if (auto known = constants.find(path.path); known != constants.end()) {
    if (frame.block && known->second.as<Value>())
      fail(range,
           "a block sees dims, lets and its arguments; give it '" + path.path + "' as an argument");
    return known->second;
  }
  if (DslParameter *parameter = findParameter(path.path))
    return {read(*parameter)};
  if (frame.block && frames.front().variables.front().count(path.path))
    fail(range,
         "a block sees dims, lets and its arguments; give it '" + path.path + "' as an argument");
  std::vector<std::string> known;
  for (const auto &variables : frame.variables)
    for (const auto &[name, value] : variables)
      known.push_back(name);
  for (const auto &[name, value] : constants)
    known.push_back(name);
  for (const auto &[name, parameter] : parametersByName) {
    known.push_back(name);
    if (StringRef inner(name); inner.consume_front(frame.scope + "."))
      known.push_back(inner.str());
  }
  fail(range, "'" + path.path + "' is not defined" + suggestion(path.path, known));
}

//===----------------------------------------------------------------------===//
// Numbers
//===----------------------------------------------------------------------===//

/// What is known of two numbers; nothing where there is no such operator. An empty text: a result.
static std::optional<Datum> compute(StringRef op, const Number &a, const Number &b,
                                    std::string &wrong) {
  bool isOpen = a.isOpen || b.isOpen;
  auto truth = [&](bool value) { return Datum{Truth{value, isOpen}}; };
  if (op == "==" || op == "!=" || op == "<" || op == "<=" || op == ">" || op == ">=") {
    int order = a.isInteger && b.isInteger ? (a.integer > b.integer) - (a.integer < b.integer)
                                           : (a.value() > b.value()) - (a.value() < b.value());
    return truth(op == "=="   ? order == 0
                 : op == "!=" ? order != 0
                 : op == "<"  ? order < 0
                 : op == "<=" ? order <= 0
                 : op == ">"  ? order > 0
                              : order >= 0);
  }
  if ((op == "/" || op == "%") && b.value() == 0) {
    wrong = "is divided by 0";
    return std::nullopt;
  }
  if (a.isInteger && b.isInteger && op != "**") {
    int64_t x = a.integer, y = b.integer, result = 0;
    bool overflows = false, isInteger = true;
    if (op == "+")
      overflows = __builtin_add_overflow(x, y, &result);
    else if (op == "-")
      overflows = __builtin_sub_overflow(x, y, &result);
    else if (op == "*")
      overflows = __builtin_mul_overflow(x, y, &result);
    else if (y == -1) // the one quotient that could overflow
      overflows = op == "/" && __builtin_sub_overflow(int64_t(0), x, &result);
    else if (op == "%")
      result = (x % y + y) % y;
    else if (x % y == 0)
      result = x / y;
    else
      isInteger = false;
    if (overflows) {
      wrong = "is larger than any size";
      return std::nullopt;
    }
    if (isInteger)
      return Datum{Number::of(result, isOpen)};
  }
  double x = a.value(), y = b.value(), result = 0;
  if (op == "+")
    result = x + y;
  else if (op == "-")
    result = x - y;
  else if (op == "*")
    result = x * y;
  else if (op == "/")
    result = x / y;
  else if (op == "%")
    result = x - y * std::floor(x / y);
  else if (op == "**")
    result = std::pow(x, y);
  else
    return std::nullopt;
  if (!std::isfinite(result)) {
    wrong = "is not in the range of a number";
    return std::nullopt;
  }
  if (op == "**" && a.isInteger && b.isInteger && y >= 0 && std::abs(result) < 9e15)
    return Datum{Number::of(static_cast<int64_t>(result), isOpen)};
  return Datum{Number::of(result, isOpen)};
}

/// Operations of tensors that numbers have too.
static std::optional<Datum> compute(StringRef op, ArrayRef<Number> numbers) {
  bool isOpen = llvm::any_of(numbers, [](const Number &number) { return number.isOpen; });
  if (numbers.size() == 2 && (op == "maximum" || op == "minimum"))
    return Datum{(numbers[0].value() < numbers[1].value()) == (op == "maximum") ? numbers[1]
                                                                                : numbers[0]};
  if (numbers.size() != 1)
    return std::nullopt;
  const Number &number = numbers[0];
  double x = number.value();
  if (op == "abs" && number.isInteger && number.integer != INT64_MIN)
    return Datum{Number::of(std::abs(number.integer), isOpen)};
  if (op == "int" && std::abs(x) < 9e15)
    return Datum{number.isInteger ? number : Number::of(static_cast<int64_t>(x), isOpen)};
  double result = op == "sqrt"    ? std::sqrt(x)
                  : op == "rsqrt" ? 1 / std::sqrt(x)
                  : op == "exp"   ? std::exp(x)
                  : op == "log"   ? std::log(x)
                  : op == "float" ? x
                                  : NAN;
  return std::isfinite(result) ? std::optional<Datum>({Number::of(result, isOpen)}) : std::nullopt;
}

//===----------------------------------------------------------------------===//
// Operators
//===----------------------------------------------------------------------===//

Datum Elaborator::unary(const UnaryExpr &unary, const Expr &expr, StringRef name) {
  Datum value = evaluate(*unary.operand);
  bool isNot = unary.op.text == "not";
  if (const Truth *truth = value.as<Truth>(); truth && isNot)
    return {Truth{!truth->value, truth->isOpen}};
  if (const Number *number = value.as<Number>(); number && !isNot) {
    if (number->isInteger && number->integer != INT64_MIN)
      return {Number::of(-number->integer, number->isOpen)};
    return {Number::of(-number->value(), number->isOpen)};
  }
  if (!value.as<Value>())
    fail(unary.op.range, isNot ? "'not' expects true or false, got: " + describe(value)
                               : "'-' expects a number, got: " + describe(value));
  StringRef text = unary.op.text;
  OpCall call(operations, text, expr.range);
  call.arguments = {{"x", {value, unary.operand->range}}};
  return build(call, name.empty() ? (isNot ? "not" : "neg") : name,
               [&] { return datumOf(buildUnary(call, text)); });
}

static StringRef wordOf(StringRef op) {
  static const std::pair<StringLiteral, StringLiteral> words[] = {
      {"+", "add"},           {"-", "sub"},    {"*", "mul"},         {"/", "div"},
      {"%", "mod"},           {"@", "matmul"}, {"**", "pow"},        {"==", "equal"},
      {"!=", "not_equal"},    {"<", "less"},   {"<=", "less_equal"}, {">", "greater"},
      {">=", "greater_equal"}};
  for (const auto &[symbol, word] : words)
    if (op == symbol)
      return word;
  return op;
}

Datum Elaborator::binary(const BinaryExpr &binary, const Expr &expr, StringRef name) {
  StringRef op = binary.op.text;
  Datum left = evaluate(*binary.left), right = evaluate(*binary.right);
  const Number *a = left.as<Number>(), *b = right.as<Number>();
  const Truth *p = left.as<Truth>(), *q = right.as<Truth>();
  const std::string *s = left.as<std::string>(), *t = right.as<std::string>();
  if (a && b) {
    std::string wrong;
    if (std::optional<Datum> result = compute(op, *a, *b, wrong))
      return *result;
    fail(wrong.empty() ? binary.op.range : expr.range,
         wrong.empty() ? "there is no '" + op + "' of two numbers" : Twine(wrong));
  }
  bool equals = op == "==" || op == "!=";
  if (p && q && (op == "and" || op == "or" || equals)) {
    bool value = op == "and"  ? p->value && q->value
                 : op == "or" ? p->value || q->value
                              : (p->value == q->value) == (op == "==");
    return {Truth{value, p->isOpen || q->isOpen}};
  }
  if (s && t && equals)
    return {Truth{(*s == *t) == (op == "==")}};
  if ((left.isNone() || right.isNone()) && equals)
    return {Truth{(left.isNone() && right.isNone()) == (op == "==")}};
  bool areTensors = (left.as<Value>() || a) && (right.as<Value>() || b);
  if (!areTensors)
    fail(binary.op.range,
         "there is no '" + op + "' of " + describe(left) + " and " + describe(right));
  OpCall call(operations, op, expr.range);
  call.arguments = {{"left", {left, binary.left->range}}, {"right", {right, binary.right->range}}};
  const Op *matmul = findOp("matmul");
  return build(call, name.empty() ? wordOf(op) : name,
               [&] { return op == "@" ? matmul->build(call) : datumOf(buildBinary(call, op)); });
}

Datum Elaborator::index(const IndexExpr &index, const Expr &expr, StringRef name) {
  Datum value = evaluate(*index.value);
  auto numberOf = [&](const ExprPtr &each, int64_t otherwise) {
    return each ? integerOf(*each, "an index").integer : otherwise;
  };
  if (const List *list = value.as<List>()) {
    if (index.items.size() != 1 || index.items[0].kind != IndexItem::One)
      fail(index.items.back().range, "a list is indexed by one number");
    int64_t size = static_cast<int64_t>(list->size()), at = numberOf(index.items[0].first, 0);
    if (at < -size || at >= size)
      fail(index.items[0].range, fmt::format("there is no element {} in a list of {}", at, size));
    return (*list)[static_cast<size_t>(at < 0 ? at + size : at)];
  }
  if (!value.as<Value>())
    fail(index.value->range, "what is indexed is a tensor or a list, got: " + describe(value));
  Value x = *value.as<Value>();
  SmallVector<int64_t> shape = shapeOf(x);
  size_t given = llvm::count_if(index.items,
                                [](const IndexItem &item) { return item.kind != IndexItem::Rest; });
  if (given > shape.size())
    fail(index.items.back().range,
         "a tensor " + shapeText(shape) + " has no dimension " + Twine(given - 1));
  if (index.items.size() - given > 1)
    fail(index.items.back().range, "'...' stands for all other dimensions, so only once");

  // The start, end and (where the dimension goes) -1 of each dimension.
  SmallVector<int64_t> starts(shape.size(), 0), limits(shape), left;
  SmallVector<bool> isOne(shape.size(), false);
  List traces;
  size_t dim = 0;
  for (const IndexItem &item : index.items) {
    if (item.kind == IndexItem::Rest) {
      dim += shape.size() - given;
      continue;
    }
    int64_t size = shape[dim];
    auto counted = [&](int64_t at) { return at < 0 ? at + size : at; };
    int64_t start = counted(numberOf(item.first, 0));
    int64_t end = item.kind == IndexItem::One ? start + 1 : counted(numberOf(item.last, size));
    if (start < 0 || end > size || start >= end)
      fail(item.range, fmt::format("goes beyond dimension {} of {}, or takes nothing of it", dim,
                                   shapeText(shape)));
    starts[dim] = start;
    limits[dim] = end;
    isOne[dim] = item.kind == IndexItem::One;
    // Ends may follow from the batch; the checksum has what is written.
    for (const ExprPtr &each : {std::cref(item.first), std::cref(item.last)})
      traces.push_back(each ? evaluate(*each) : Datum());
    traces.push_back({Number::of(static_cast<int64_t>(dim))});
    ++dim;
  }
  for (auto [size, one, start, limit] : llvm::zip(shape, isOne, starts, limits))
    if (!one)
      left.push_back(limit - start);
  OpCall call(operations, "[]", expr.range);
  call.arguments = {{"x", {value, index.value->range}}, {"at", {{traces}, expr.range}}};
  return build(call, name.empty() ? "slice" : name, [&] {
    Value part = x;
    for (size_t d = 0; d < shape.size(); ++d)
      part = builder.slice(part, static_cast<int64_t>(d), starts[d], limits[d]);
    return datumOf(builder.reshape(part, left));
  });
}

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

/// Names the operation, builds it and counts it into the checksum.
Datum Elaborator::build(OpCall &call, StringRef name, function_ref<Datum()> builder) {
  setLocation(name);
  trace(call.op);
  for (const auto &[formal, given] : call.arguments)
    trace(given.value);
  try {
    Datum result = builder();
    if (const List *list = result.as<List>())
      for (const Datum &each : *list)
        trace(each);
    else
      trace(result);
    return result;
  } catch (const SourceError &) {
    throw;
  } catch (const Error &error) {
    fail(call.range, "'" + call.op + "' " + error.what());
  }
}

Datum Elaborator::call(const CallExpr &call, const Expr &expr, StringRef name) {
  const std::string &callee = call.callee.text;
  for (const Block &block : model.file().blocks)
    if (block.name.text == callee)
      return callBlock(block, call, expr.range);
  const Op *op = findOp(callee);
  if (op && !call.label.text.empty())
    fail(call.label.range, "'" + call.label.text + "' would name the parameters of '" + callee +
                               "', which is an operation and has none; blocks have");
  if (op)
    return callOp(*op, call, expr.range, name);
  std::vector<std::string> known;
  for (const Block &block : model.file().blocks)
    known.push_back(block.name.text);
  for (const Op *each : allOps())
    known.push_back(each->name.str());
  fail(call.callee.range,
       "there is no block or operation '" + callee + "'" + suggestion(callee, known));
}

/// One value for each formal argument; those not given have no range.
std::vector<OpCall::Given> Elaborator::bindArguments(StringRef callee,
                                                     const std::vector<Formal> &formals,
                                                     const CallExpr &call, SMRange range) {
  std::vector<OpCall::Given> values(formals.size());
  std::vector<bool> isGiven(formals.size(), false);
  std::string signature;
  for (const Formal &formal : formals)
    signature += (signature.empty() ? "" : ", ") + formal.name +
                 (formal.otherwise.empty() ? "" : " = " + formal.otherwise);
  std::string usage = "'" + callee.str() + "(" + signature + ")'";
  size_t position = 0;
  for (const Argument &argument : call.arguments) {
    size_t at = position;
    if (!argument.name.text.empty()) {
      at = static_cast<size_t>(
          llvm::find_if(formals,
                        [&](const Formal &formal) { return formal.name == argument.name.text; }) -
          formals.begin());
      if (at == formals.size())
        fail(argument.name.range, usage + " has no argument '" + argument.name.text + "'");
    } else {
      if (at != static_cast<size_t>(&argument - call.arguments.data()))
        fail(argument.value->range, "arguments without a name come before those with one");
      ++position;
    }
    if (at >= formals.size())
      fail(argument.value->range,
           usage + fmt::format(" takes at most {} arguments", formals.size()));
    if (isGiven[at])
      fail(argument.name.range, "'" + formals[at].name + "' is given twice");
    isGiven[at] = true;
    values[at] = {evaluate(*argument.value), argument.value->range};
  }
  for (size_t i = 0; i < formals.size(); ++i)
    if (!isGiven[i] && formals[i].otherwise.empty())
      fail(range, usage + " lacks its argument '" + formals[i].name + "'");
  return values;
}

Datum Elaborator::callBlock(const Block &block, const CallExpr &call, SMRange range) {
  for (const Frame &frame : frames)
    if (frame.block == &block)
      fail(range, "block '" + block.name.text + "' calls itself");
  std::vector<Formal> formals;
  for (const Block::Argument &argument : block.arguments) {
    const std::string &text = argument.name.text;
    if (llvm::count_if(formals, [&](const Formal &each) { return each.name == text; }))
      fail(argument.name.range, "block '" + block.name.text + "' has two arguments '" + text + "'");
    std::string otherwise;
    if (argument.otherwise) {
      SMRange written = argument.otherwise->range;
      otherwise.assign(written.Start.getPointer(), written.End.getPointer());
    }
    formals.push_back({text, otherwise});
  }
  std::vector<OpCall::Given> values = bindArguments(block.name.text, formals, call, range);
  Frame frame{&block, range, frames.back().scope, {{}}};
  if (!call.label.text.empty())
    frame.scope = scoped(call.label.text);
  frames.push_back(std::move(frame));
  for (size_t i = 0; i < formals.size(); ++i) {
    Datum value =
        values[i].range.isValid() ? values[i].value : evaluate(*block.arguments[i].otherwise);
    frames.back().variables.front()[formals[i].name] = std::move(value);
  }
  std::optional<List> returned = execute(block.body);
  if (!returned)
    fail(block.name.range, "block '" + block.name.text + "' ends without 'return'");
  frames.pop_back();
  if (returned->size() == 1)
    return returned->front();
  return {*returned};
}

Datum Elaborator::callOp(const Op &op, const CallExpr &call, SMRange range, StringRef name) {
  std::vector<Formal> all = formals(op.signature);
  std::vector<OpCall::Given> values = bindArguments(op.name, all, call, range);
  SmallVector<Number> numbers;
  for (const OpCall::Given &given : values)
    if (const Number *number = given.value.as<Number>())
      numbers.push_back(*number);
  if (numbers.size() == values.size())
    if (std::optional<Datum> result = compute(op.name, numbers))
      return *result;
  OpCall opCall(operations, op.name, range);
  for (size_t i = 0; i < all.size(); ++i) {
    if (!values[i].range.isValid())
      values[i].value = defaultOf(all[i]);
    opCall.arguments.push_back({all[i].name, std::move(values[i])});
  }
  return build(opCall, name.empty() ? StringRef(op.name) : name, [&] { return op.build(opCall); });
}

//===----------------------------------------------------------------------===//
// The checksum
//===----------------------------------------------------------------------===//

void Elaborator::trace(StringRef word) {
  uint64_t size = word.size();
  checksum.add(&size, sizeof(size));
  checksum.add(word.data(), word.size());
}

/// Tensors count as they are met; sizes that follow from the batch do not count.
void Elaborator::trace(const Datum &datum) {
  if (const Value *value = datum.as<Value>()) {
    auto [entry, isNew] = traced.try_emplace(*value, traced.size() + 1);
    trace(fmt::format("tensor {}", entry->second));
    if (!isNew)
      return;
    for (const auto &parameter : parameters)
      if (parameter->value == *value)
        trace("parameter " + shapeText(parameter->parameter.shape));
  } else if (const List *list = datum.as<List>()) {
    trace(fmt::format("list {}", list->size()));
    for (const Datum &each : *list)
      trace(each);
  } else if (const Number *number = datum.as<Number>()) {
    trace(number->isOpen      ? "open"
          : number->isInteger ? std::to_string(number->integer)
                              : fmt::format("{:a}", number->real));
  } else if (const Truth *truth = datum.as<Truth>()) {
    trace(truth->isOpen ? "open" : truth->value ? "true" : "false");
  } else if (const std::string *text = datum.as<std::string>()) {
    trace("text");
    trace(StringRef(*text));
  } else {
    trace("none");
  }
}

} // namespace colrow::dsl
