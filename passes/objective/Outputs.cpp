//===- Outputs.cpp - which output is the loss, and which the logits -------===//

#include "passes/objective/Outputs.h"
#include "passes/objective/Recognise.h"

using namespace mlir;

namespace colrow {
namespace {

RankedTensorType typeOf(func::FuncOp function, unsigned result) {
  return cast<RankedTensorType>(function.getResultTypes()[result]);
}

bool isFloat(func::FuncOp function, unsigned result) {
  return isa<FloatType>(typeOf(function, result).getElementType());
}

/// "'logits' 2x3x30xf32, 'aux' f32"
std::string listed(func::FuncOp function, ArrayRef<unsigned> results) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  for (unsigned result : results) {
    RankedTensorType type = typeOf(function, result);
    stream << (text.empty() ? "'" : ", '") << getResultName(function, result) << "' ";
    for (int64_t size : type.getShape())
      stream << size << "x";
    stream << type.getElementType();
  }
  return text;
}

SmallVector<unsigned> select(func::FuncOp function, llvm::function_ref<bool(unsigned)> isWanted) {
  return llvm::filter_to_vector(llvm::seq<unsigned>(0, function.getNumResults()), isWanted);
}

SmallVector<unsigned> all(func::FuncOp function) {
  return select(function, [](unsigned) { return true; });
}

FailureOr<unsigned> findNamed(func::FuncOp function, StringRef option, StringRef name) {
  for (unsigned i : all(function))
    if (getResultName(function, i) == name)
      return i;
  return function.emitError("the graph has no output '")
         << name << "' for " << option << "; its outputs are " << listed(function, all(function));
}

} // namespace

FailureOr<std::optional<unsigned>> findLoss(func::FuncOp function, StringRef name, bool isAdded) {
  if (!name.empty()) {
    FailureOr<unsigned> found = findNamed(function, "--loss", name);
    if (failed(found))
      return failure();
    if (isFloat(function, *found) && typeOf(function, *found).getNumElements() == 1)
      return std::optional(*found);
    return function.emitError("output '")
           << name << "' cannot be the loss, which is one floating number; the outputs are "
           << listed(function, all(function));
  }
  SmallVector<unsigned> scalars = select(function, [&](unsigned i) {
    return isFloat(function, i) && typeOf(function, i).getRank() == 0;
  });
  Operation *end = function.getBody().front().getTerminator();
  if (scalars.empty() || (isAdded && llvm::none_of(scalars, [&](unsigned i) {
                            return crossEntropyOf(end->getOperand(i));
                          })))
    return std::optional<unsigned>();
  if (scalars.size() == 1)
    return std::optional(scalars.front());
  return function.emitError("the graph has several outputs that could be the loss: ")
         << listed(function, scalars) << "; name one by --loss";
}

FailureOr<unsigned> findLogits(func::FuncOp function, StringRef name, StringRef objective) {
  bool isOfTokens = objective != "auto" && objective != "classification";
  auto mayBe = [&](unsigned i) {
    return isFloat(function, i) && typeOf(function, i).getRank() >= 2 &&
           (!isOfTokens || typeOf(function, i).getRank() == 3);
  };
  auto expected = [&](InFlightDiagnostic error) {
    error << (isOfTokens ? ": a floating tensor [batch, positions, classes]"
                         : ": a floating tensor with the classes as last dimension")
          << "; the outputs are " << listed(function, all(function));
    return error;
  };
  if (!name.empty()) {
    FailureOr<unsigned> found = findNamed(function, "--logits", name);
    if (failed(found) || mayBe(*found))
      return found;
    return expected(function.emitError("output '")
                    << name << "' cannot be the logits of objective " << objective);
  }
  SmallVector<unsigned> candidates = select(function, mayBe);
  // Of more than three dimensions are keys and values that are kept for later tokens.
  SmallVector<unsigned> likely = llvm::filter_to_vector(
      candidates, [&](unsigned i) { return typeOf(function, i).getRank() <= 3; });
  if (!likely.empty())
    candidates = likely;
  if (candidates.empty())
    return expected(function.emitError("the graph has no output that could be the logits of "
                                       "objective ")
                    << objective);
  if (candidates.size() == 1)
    return candidates.front();
  for (unsigned i : candidates)
    if (getResultName(function, i) == "logits")
      return i;
  return function.emitError("the graph has several outputs that could be the logits: ")
         << listed(function, candidates) << "; name one by --logits";
}

} // namespace colrow
