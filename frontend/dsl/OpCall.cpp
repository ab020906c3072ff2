//===- OpCall.cpp - arguments of a call; the table of operations ----------===//

#include "frontend/dsl/OpCall.h"
#include "frontend/dsl/Import.h"

#include <fmt/format.h>

using namespace mlir;

namespace colrow::dsl {

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

std::string shapeText(ArrayRef<int64_t> shape) {
  std::string text = "[";
  for (auto [i, size] : llvm::enumerate(shape))
    text += fmt::format("{}{}", i ? ", " : "", size);
  return text + "]";
}

std::string numberText(const Number &number) {
  return number.isInteger ? std::to_string(number.integer) : fmt::format("{:.6g}", number.real);
}

std::string describe(const Datum &datum) {
  struct Describe {
    std::string operator()(const None &) { return "none"; }
    std::string operator()(const Number &number) { return numberText(number); }
    std::string operator()(const Truth &truth) { return truth.value ? "true" : "false"; }
    std::string operator()(const std::string &text) { return "the text \"" + text + "\""; }
    std::string operator()(const Value &value) {
      std::string element;
      llvm::raw_string_ostream(element) << elementOf(value);
      return "a tensor " + shapeText(typeOf(value).getShape()) + " of " + element;
    }
    std::string operator()(const List &list) { return fmt::format("a list of {}", list.size()); }
  };
  return std::visit(Describe(), datum.content);
}

//===----------------------------------------------------------------------===//
// Arguments
//===----------------------------------------------------------------------===//

void OpCall::fail(const Twine &message) const {
  context.fail(range, message.str());
  llvm_unreachable("it throws");
}
void OpCall::fail(StringRef argument, const Twine &message) const {
  const Given &found = given(argument);
  context.fail(found.range.isValid() ? found.range : range, message.str());
  llvm_unreachable("it throws");
}
void OpCall::expects(StringRef argument, const Twine &what) const {
  fail(argument, "'" + op + "' expects " + what + " as '" + argument +
                     "', got: " + describe(given(argument).value));
}

const OpCall::Given &OpCall::given(StringRef name) const {
  for (const auto &[each, value] : arguments)
    if (each == name)
      return value;
  llvm_unreachable("the signature has no such argument");
}

Value OpCall::tensor(StringRef name) const {
  if (const Value *value = given(name).value.as<Value>())
    return *value;
  expects(name, "a tensor");
}

Value OpCall::tensorLike(StringRef name, Value like) const {
  if (const Number *number = given(name).value.as<Number>())
    return b.scalarLike(number->value(), like);
  return tensor(name);
}

Value OpCall::floats(StringRef name) const {
  Value value = tensor(name);
  if (!isa<FloatType>(elementOf(value)))
    expects(name, "a tensor of floating type");
  return value;
}

std::vector<Value> OpCall::tensors(StringRef name) const {
  const List *list = given(name).value.as<List>();
  std::vector<Value> values;
  for (const Datum &each : list ? *list : List()) {
    if (!each.as<Value>())
      expects(name, "a list of tensors");
    values.push_back(*each.as<Value>());
  }
  if (values.empty())
    expects(name, "a list of tensors");
  return values;
}

int64_t OpCall::integer(StringRef name) const {
  const Number *number = given(name).value.as<Number>();
  if (!number || !number->isInteger)
    expects(name, "a whole number");
  return number->integer;
}

double OpCall::number(StringRef name) const {
  const Number *number = given(name).value.as<Number>();
  if (!number)
    expects(name, "a number");
  return number->value();
}

bool OpCall::truth(StringRef name) const {
  const Truth *truth = given(name).value.as<Truth>();
  if (!truth)
    expects(name, "true or false");
  return truth->value;
}

std::string OpCall::text(StringRef name) const {
  const std::string *text = given(name).value.as<std::string>();
  if (!text)
    expects(name, "a text in quotes");
  return *text;
}

SmallVector<int64_t> OpCall::integers(StringRef name) const {
  const List *list = given(name).value.as<List>();
  SmallVector<int64_t> values;
  for (const Datum &each : list ? *list : List()) {
    const Number *number = each.as<Number>();
    if (!number || !number->isInteger)
      fail(name, "'" + op + "' expects whole numbers in '" + name + "', got: " + describe(each));
    values.push_back(number->integer);
  }
  if (!list)
    expects(name, "a list of whole numbers");
  return values;
}

int64_t OpCall::axis(StringRef name, int64_t rank) const {
  int64_t axis = integer(name);
  if (axis < -rank || axis >= rank)
    fail(name, "there is no dimension " + Twine(axis) + " in a tensor of " + Twine(rank));
  return axis < 0 ? axis + rank : axis;
}

SmallVector<int64_t> OpCall::axes(StringRef name, int64_t rank) const {
  if (given(name).value.as<Number>())
    return {axis(name, rank)};
  SmallVector<int64_t> result;
  for (int64_t axis : integers(name)) {
    if (axis < -rank || axis >= rank)
      fail(name, "there is no dimension " + Twine(axis) + " in a tensor of " + Twine(rank));
    result.push_back(axis < 0 ? axis + rank : axis);
    if (llvm::count(result, result.back()) > 1)
      fail(name, "dimension " + Twine(axis) + " is given twice");
  }
  return result;
}

//===----------------------------------------------------------------------===//
// Signatures
//===----------------------------------------------------------------------===//

std::vector<Formal> formals(StringRef signature) {
  std::vector<Formal> result;
  for (StringRef part : llvm::split(signature, ", ")) {
    auto [name, otherwise] = part.split('=');
    result.push_back({name.str(), otherwise.str()});
  }
  return result;
}

Datum defaultOf(const Formal &formal) {
  StringRef text = formal.otherwise;
  if (text == "none")
    return {None()};
  if (text == "true" || text == "false")
    return {Truth{text == "true"}};
  if (text.consume_front("\"")) {
    text.consume_back("\"");
    return {text.str()};
  }
  int64_t integer = 0;
  if (!text.getAsInteger(10, integer))
    return {Number::of(integer)};
  double real = 0;
  bool isWrong = text.getAsDouble(real);
  assert(!isWrong && "a default of the table");
  (void)isWrong;
  return {Number::of(real)};
}

const std::vector<const Op *> &allOps() {
  static const std::vector<const Op *> all = [] {
    std::vector<const Op *> list;
    for (ArrayRef<Op> family : {mathOps(), nnOps(), shapeOps()})
      for (const Op &op : family)
        list.push_back(&op);
    llvm::sort(list, [](const Op *a, const Op *b) { return a->name < b->name; });
    return list;
  }();
  return all;
}

const Op *findOp(StringRef name) {
  for (const Op *op : allOps())
    if (op->name == name)
      return op;
  return nullptr;
}

std::string opTable() {
  std::string text = "| operation | is |\n|---|---|\n";
  for (const Op *op : allOps()) {
    std::string signature;
    for (const Formal &formal : formals(op->signature))
      signature += (signature.empty() ? "" : ", ") + formal.name +
                   (formal.otherwise.empty() ? "" : " = " + formal.otherwise);
    text += fmt::format("| `{}({})` | {} |\n", op->name.str(), signature, op->text.str());
  }
  return text;
}

} // namespace colrow::dsl
