//===- Repeats.cpp - finds what follows itself several times --------------===//

#include "passes/lower/Repeats.h"
#include "dialect/Colrow.h"
#include "passes/lower/Plan.h"

#include <map>

using namespace mlir;

namespace colrow {

/// What makes two operations alike, as pointers to uniqued things.
static std::vector<const void *> signature(Operation *op) {
  std::vector<const void *> key{op->getName().getAsOpaquePointer(),
                                isBackward(op) ? op->getContext() : nullptr};
  for (NamedAttribute attribute : op->getAttrs()) {
    StringRef name = attribute.getName();
    bool inherent = op->getPropertiesStorageSize() && op->getInherentAttr(name);
    bool identifier = isa<RandomSiteOpInterface>(op) && name == "id";
    if ((inherent || name == inPlaceAttrName) && !identifier) {
      key.push_back(attribute.getName().getAsOpaquePointer());
      key.push_back(attribute.getValue().getAsOpaquePointer());
    }
  }
  for (Type type : op->getOperandTypes())
    key.push_back(type.getAsOpaquePointer());
  key.push_back(nullptr);
  for (Type type : op->getResultTypes())
    key.push_back(type.getAsOpaquePointer());
  return key;
}

RepeatFinder::RepeatFinder(ArrayRef<Operation *> operations) : operations(operations) {
  std::map<std::vector<const void *>, unsigned> numbers;
  for (auto [i, op] : llvm::enumerate(operations)) {
    positions[op] = i;
    symbols.push_back(numbers.insert({signature(op), numbers.size()}).first->second);
  }
}

bool RepeatFinder::instancesAgree(const Repeat &repeat) const {
  // The place of what an operand reads within its own instance, or nothing.
  auto inner = [&](size_t instance, Value operand) -> std::optional<std::pair<size_t, unsigned>> {
    auto result = dyn_cast<OpResult>(operand);
    auto found = result ? positions.find(result.getOwner()) : positions.end();
    size_t first = repeat.start + instance * repeat.period;
    if (found == positions.end() || found->second < first ||
        found->second >= first + repeat.period)
      return {};
    return std::pair(found->second - first, result.getResultNumber());
  };
  for (size_t i = 0; i < repeat.period; ++i)
    for (unsigned o = 0; o < operations[repeat.start + i]->getNumOperands(); ++o)
      for (size_t instance = 1; instance < repeat.count; ++instance) {
        Operation *op = operations[repeat.start + instance * repeat.period + i];
        if (inner(instance, op->getOperand(o)) !=
            inner(0, operations[repeat.start + i]->getOperand(o)))
          return false;
      }
  return true;
}

size_t RepeatFinder::crossings(const Repeat &repeat) const {
  size_t count = 0;
  for (size_t i = repeat.start; i < repeat.start + repeat.period; ++i)
    for (Value result : operations[i]->getResults())
      count += llvm::any_of(result.getUsers(), [&](Operation *user) {
        auto found = positions.find(user);
        return found != positions.end() && found->second >= repeat.start + repeat.period &&
               found->second < repeat.start + 2 * repeat.period;
      });
  return count;
}

std::string RepeatFinder::label(size_t begin, size_t end) const {
  std::optional<SmallVector<StringRef>> common;
  for (size_t i = begin; i < end; ++i)
    for (Value operand : operations[i]->getOperands()) {
      auto argument = dyn_cast<BlockArgument>(operand);
      auto function =
          argument ? dyn_cast<func::FuncOp>(argument.getOwner()->getParentOp()) : func::FuncOp();
      if (!function || getRole(function, argument.getArgNumber()) == "input" ||
          getName(function, argument.getArgNumber()).empty())
        continue;
      SmallVector<StringRef> parts;
      getName(function, argument.getArgNumber()).split(parts, '.');
      if (!common) {
        parts.pop_back();
        common = parts;
      }
      size_t same = 0;
      while (same < common->size() && same < parts.size() && (*common)[same] == parts[same])
        ++same;
      common->resize(same);
    }
  return common ? llvm::join(*common, ".") : "";
}

/// Whether the instance reads a parameter, state or gradient of the function.
static bool readsParameters(ArrayRef<Operation *> instance) {
  return llvm::any_of(instance, [](Operation *op) {
    return llvm::any_of(op->getOperands(), [](Value operand) {
      auto argument = dyn_cast<BlockArgument>(operand);
      auto function =
          argument ? dyn_cast<func::FuncOp>(argument.getOwner()->getParentOp()) : func::FuncOp();
      return function && getRole(function, argument.getArgNumber()) != "input";
    });
  });
}

std::optional<Repeat> RepeatFinder::rotate(Repeat repeat, size_t slack) const {
  std::optional<Repeat> best;
  std::pair<int64_t, int64_t> bestRank;
  size_t first = repeat.start;
  for (size_t shift = 0; shift <= slack; ++shift) {
    repeat.start = first + shift;
    if (!instancesAgree(repeat) ||
        !readsParameters(operations.slice(repeat.start, repeat.period)))
      continue;
    std::string name = label(repeat.start, repeat.start + repeat.period);
    int64_t parts = name.empty() ? 0 : 1 + llvm::count(name, '.');
    std::pair<int64_t, int64_t> rank{parts, -static_cast<int64_t>(crossings(repeat))};
    if (!best || rank > bestRank) {
      best = repeat;
      bestRank = rank;
    }
  }
  return best;
}

std::optional<Repeat> RepeatFinder::find(size_t begin, size_t end, size_t minOps) const {
  struct Candidate {
    Repeat repeat;
    size_t slack;
  };
  std::vector<Candidate> candidates;
  for (size_t period = std::max<size_t>(minOps, 1); 2 * period <= end - begin; ++period)
    for (size_t i = begin, run = 0; i + period <= end; ++i) {
      if (i + period < end && symbols[i] == symbols[i + period]) {
        ++run;
        continue;
      }
      if (run >= period)
        candidates.push_back({{i - run, period, run / period + 1}, run % period});
      run = 0;
    }
  llvm::stable_sort(candidates, [](const Candidate &a, const Candidate &b) {
    return a.repeat.saved() > b.repeat.saved();
  });
  for (Candidate &candidate : candidates)
    for (; candidate.repeat.count > 1; --candidate.repeat.count, candidate.slack += candidate.repeat.period)
      if (auto repeat = rotate(candidate.repeat, candidate.slack))
        return repeat;
  return {};
}

} // namespace colrow
