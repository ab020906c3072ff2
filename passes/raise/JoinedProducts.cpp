//===- JoinedProducts.cpp - products of batches of matrices ---------------===//

#include "passes/raise/JoinedProducts.h"

#include <map>

using namespace mlir;

namespace colrow {

static ArrayRef<int64_t> shapeOf(Value value) {
  return cast<RankedTensorType>(value.getType()).getShape();
}

std::optional<SmallVector<SmallVector<int64_t>>> takenApart(ArrayRef<int64_t> from,
                                                            ArrayRef<int64_t> to) {
  SmallVector<SmallVector<int64_t>> parts;
  for (int64_t size : from) {
    parts.emplace_back();
    int64_t product = 1;
    do {
      if (to.empty())
        return std::nullopt;
      product *= to.front();
      parts.back().push_back(to.front());
      to = to.drop_front();
    } while (product < size);
    if (product != size)
      return std::nullopt;
  }
  return to.empty() ? std::optional(parts) : std::nullopt;
}

Value withShape(OpBuilderWithLayouts &b, Value value, ArrayRef<int64_t> shape) {
  Value found = shapeOf(value) == shape ? value : Value();
  for (auto reshape = value.getDefiningOp<ReshapeOp>(); reshape;
       reshape = reshape.getInput().getDefiningOp<ReshapeOp>())
    if (shapeOf(reshape.getInput()) == shape)
      found = reshape.getInput();
  if (found)
    return found;
  return b.create<ReshapeOp>(RankedTensorType::get(shape, getElementTypeOrSelf(value.getType())),
                             value);
}

EinsumOp takeApart(EinsumOp product, StringRef letters, ArrayRef<SmallVector<int64_t>> parts) {
  std::string used = (product.lhsLetters() + product.rhsLetters() + product.resultLetters()).str();
  std::map<char, std::pair<std::string, SmallVector<int64_t>>> apart;
  char fresh = 'a';
  for (auto [letter, sizes] : llvm::zip(letters, parts)) {
    std::string own(1, letter);
    while (own.size() < sizes.size()) {
      while (used.find(fresh) != std::string::npos)
        fresh = fresh == 'z' ? 'A' : static_cast<char>(fresh + 1);
      used += fresh;
      own += fresh;
    }
    apart[letter] = {own, sizes};
  }
  OpBuilderWithLayouts b(product);
  std::string equation;
  auto operand = [&](Value value, StringRef from) {
    SmallVector<int64_t> shape;
    for (auto [letter, size] : llvm::zip(from, shapeOf(value))) {
      auto found = apart.find(letter);
      equation += found == apart.end() ? std::string(1, letter) : found->second.first;
      if (found == apart.end())
        shape.push_back(size);
      else
        llvm::append_range(shape, found->second.second);
    }
    return withShape(b, value, shape);
  };
  Value lhs = operand(product.getLhs(), product.lhsLetters());
  equation += ",";
  Value rhs = operand(product.getRhs(), product.rhsLetters());
  equation += "->";
  for (char letter : product.resultLetters())
    equation += apart.count(letter) ? apart[letter].first : std::string(1, letter);
  return b.create<EinsumOp>(equation, lhs, rhs);
}

/// What broadcasts to a tensor whose dimensions are taken apart, taken apart itself.
static Value broadcastApart(OpBuilderWithLayouts &b, Value value,
                            ArrayRef<SmallVector<int64_t>> parts) {
  ArrayRef<int64_t> sizes = shapeOf(value);
  SmallVector<int64_t> shape;
  for (auto [size, dims] : llvm::zip(sizes, parts.take_back(sizes.size())))
    for (int64_t part : dims)
      shape.push_back(size == 1 ? 1 : part);
  return withShape(b, value, shape);
}

Value takeFormulaApart(Value value, ArrayRef<SmallVector<int64_t>> parts) {
  Operation *op = value.getDefiningOp();
  if (auto product = dyn_cast_or_null<EinsumOp>(op))
    return takeApart(product, product.resultLetters(), parts);
  OpBuilderWithLayouts b(*value.getUsers().begin());
  if (!isa_and_nonnull<AddOp, SubOp, MulOp, DivOp, NegOp, TanhOp, SelectOp>(op))
    return broadcastApart(b, value, parts);
  b.setInsertionPoint(op);
  SmallVector<Value> operands;
  for (Value operand : op->getOperands()) {
    bool isFormula = operand.hasOneUse() && operand.getType() == value.getType();
    operands.push_back(isFormula ? takeFormulaApart(operand, parts)
                                 : broadcastApart(b, operand, parts));
  }
  Operation *apart = b.clone(*op);
  apart->setOperands(operands);
  SmallVector<int64_t> shape;
  for (const SmallVector<int64_t> &dims : parts)
    llvm::append_range(shape, dims);
  apart->getResult(0).setType(RankedTensorType::get(shape, getElementTypeOrSelf(value.getType())));
  return apart->getResult(0);
}

} // namespace colrow
