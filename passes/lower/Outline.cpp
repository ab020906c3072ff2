//===- Outline.cpp - one function of every repeated layer -----------------===//

#include "dialect/Colrow.h"
#include "passes/localize/GlobalTypes.h"
#include "passes/lower/Passes.h"
#include "passes/lower/Plan.h"
#include "passes/lower/Repeats.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;

namespace colrow {
#define GEN_PASS_DEF_OUTLINE
#include "passes/lower/Passes.h.inc"

namespace {

/// Replaces the instances of one repeat by calls of a new function.
class Outliner {
public:
  Outliner(ArrayRef<Operation *> operations, const Repeat &repeat, const RepeatFinder &finder)
      : operations(operations), repeat(repeat), finder(finder) {
    for (size_t i = 0; i < repeat.period; ++i)
      for (Value result : at(0, i)->getResults())
        inner[result] = {i, cast<OpResult>(result).getResultNumber()};
  }

  void run(SymbolTable &symbols, StringRef name) {
    findArguments();
    findResults();
    func::FuncOp function = build(name);
    symbols.insert(function); // makes the name unique
    for (size_t instance = 0; instance < repeat.count; ++instance)
      replace(instance, function);
  }

private:
  struct Slot {
    size_t op;
    unsigned number;
  };

  Operation *at(size_t instance, size_t op) const {
    return operations[repeat.start + instance * repeat.period + op];
  }
  Value read(size_t instance, Slot slot) const {
    return at(instance, slot.op)->getOperand(slot.number);
  }
  Value made(size_t instance, Slot slot) const {
    return at(instance, slot.op)->getResult(slot.number);
  }

  /// The number of the site where an operation draws random numbers.
  static std::optional<int64_t> randomSite(Operation *op) {
    auto random = dyn_cast<RandomSiteOpInterface>(op);
    return random ? random.getRandomSite() : std::nullopt;
  }

  /// The same constant in every instance goes into the function.
  bool isCommonConstant(Slot slot) const {
    auto constant = read(0, slot).getDefiningOp<ConstantOp>();
    if (!constant)
      return false;
    for (size_t instance = 1; instance < repeat.count; ++instance) {
      auto other = read(instance, slot).getDefiningOp<ConstantOp>();
      if (!other || other.getValue() != constant.getValue())
        return false;
    }
    return true;
  }

  /// One argument for each value from outside, where all instances agree on which are the same.
  void findArguments() {
    std::vector<std::vector<Value>> known;
    for (size_t i = 0; i < repeat.period; ++i)
      for (unsigned o = 0; o < at(0, i)->getNumOperands(); ++o) {
        Slot slot{i, o};
        if (inner.count(read(0, slot)) || isCommonConstant(slot))
          continue;
        std::vector<Value> values;
        for (size_t instance = 0; instance < repeat.count; ++instance)
          values.push_back(read(instance, slot));
        auto found = llvm::find(known, values);
        argumentOf[{i, o}] = found - known.begin();
        if (found == known.end()) {
          known.push_back(std::move(values));
          arguments.push_back(slot);
        }
      }
  }

  bool isReadOutside(size_t instance, Slot slot) const {
    size_t first = repeat.start + instance * repeat.period;
    ArrayRef<Operation *> own = operations.slice(first, repeat.period);
    return llvm::any_of(made(instance, slot).getUsers(),
                        [&](Operation *user) { return !llvm::is_contained(own, user); });
  }

  /// Results: what any instance's outside reads. A reshape is made outside again, so that its
  /// source is not stored twice.
  void findResults() {
    for (size_t i = 0; i < repeat.period; ++i)
      for (unsigned r = 0; r < at(0, i)->getNumResults(); ++r) {
        bool outside = false;
        for (size_t instance = 0; instance < repeat.count && !outside; ++instance)
          outside = isReadOutside(instance, {i, r});
        if (!outside)
          continue;
        Slot source{i, r};
        while (auto reshape = dyn_cast<ReshapeOp>(at(0, source.op))) {
          reshaped.push_back(source);
          auto found = inner.find(reshape.getInput());
          if (found == inner.end())
            break;
          source = {found->second.first, found->second.second};
        }
        if (isa<ReshapeOp>(at(0, source.op)))
          continue;
        bool known = llvm::any_of(results, [&](Slot slot) {
          return slot.op == source.op && slot.number == source.number;
        });
        if (!known)
          results.push_back(source);
      }
  }

  func::FuncOp build(StringRef name) {
    MLIRContext *context = at(0, 0)->getContext();
    OpBuilder builder(context);
    SmallVector<Type> argumentTypes, resultTypes;
    for (Slot slot : arguments)
      argumentTypes.push_back(read(0, slot).getType());
    for (Slot slot : results)
      resultTypes.push_back(made(0, slot).getType());
    auto function = func::FuncOp::create(at(0, 0)->getLoc(), name,
                                         FunctionType::get(context, argumentTypes, resultTypes));
    function.setPrivate();
    function->setAttr("colrow.instances", builder.getI64IntegerAttr(repeat.count));
    function->setAttr("colrow.label", builder.getStringAttr(labelOf(0)));
    Block *body = function.addEntryBlock();
    builder.setInsertionPointToStart(body);
    IRMapping mapping;
    for (auto [argument, slot] : llvm::zip(body->getArguments(), arguments))
      argument.setLoc(nameOf(read(0, slot)));
    for (size_t i = 0; i < repeat.period; ++i) {
      Operation *original = at(0, i);
      Operation *copy = builder.clone(*original, mapping);
      copy->setLoc(locationOfAll(i));
      for (unsigned o = 0; o < original->getNumOperands(); ++o) {
        auto argument = argumentOf.find({i, o});
        if (argument != argumentOf.end())
          copy->setOperand(o, body->getArgument(argument->second));
        else if (Operation *constant = constantOf(original->getOperand(o)))
          copy->setOperand(o, constantIn(builder, copy, constant)->getResult(0));
      }
      if (randomSite(copy)) {
        copy->setAttr("colrow.id_argument", builder.getI64IntegerAttr(sites.size()));
        sites.push_back(i);
      }
    }
    SmallVector<Value> values;
    for (auto [i, slot] : llvm::enumerate(results)) {
      values.push_back(mapping.lookup(made(0, slot)));
      if (std::optional<unsigned> argument = inPlaceArgument(values.back()))
        function.setResultAttr(i, inPlaceAttrName, builder.getI64IntegerAttr(*argument));
    }
    func::ReturnOp::create(builder, function.getLoc(), values);
    // Reshapes that only the outside read.
    for (Operation &op : llvm::make_early_inc_range(llvm::reverse(*body)))
      if (op.use_empty() && isa<ReshapeOp, ConstantOp>(op))
        op.erase();
    return function;
  }

  Operation *constantOf(Value value) const {
    return inner.count(value) ? nullptr : value.getDefiningOp<ConstantOp>().getOperation();
  }

  Operation *constantIn(OpBuilder &builder, Operation *reader, Operation *constant) {
    Operation *&copy = constants[constant];
    if (!copy) {
      OpBuilder::InsertionGuard guard(builder);
      builder.setInsertionPointToStart(reader->getBlock());
      copy = builder.clone(*constant);
    }
    return copy;
  }

  /// The argument whose memory a value has: through sums in place and updates.
  static std::optional<unsigned> inPlaceArgument(Value value) {
    while (true) {
      if (auto argument = dyn_cast<BlockArgument>(value))
        return argument.getArgNumber();
      auto result = cast<OpResult>(value);
      Operation *op = result.getOwner();
      if (auto mark = op->getAttrOfType<IntegerAttr>(inPlaceAttrName)) {
        value = op->getOperand(mark.getInt());
      } else if (auto update = dyn_cast<AdamWOp>(op)) {
        Value operands[] = {update.getParameter(), update.getFirst(), update.getSecond()};
        value = operands[result.getResultNumber()];
      } else {
        return {};
      }
    }
  }

  /// The locations of an operation in all instances, in their order.
  Location locationOfAll(size_t op) const {
    SmallVector<Location> locations;
    for (size_t instance = 0; instance < repeat.count; ++instance)
      locations.push_back(at(instance, op)->getLoc());
    MLIRContext *context = at(0, op)->getContext();
    return FusedLoc::get(context, locations, StringAttr::get(context, instancesLocName));
  }

  /// The location of a value; of a function argument one with its name.
  static Location nameOf(Value value) {
    auto argument = dyn_cast<BlockArgument>(value);
    if (!argument)
      return getLocOfValue(value);
    auto function = cast<func::FuncOp>(argument.getOwner()->getParentOp());
    std::string name = getUserName(value);
    if (getRole(function, argument.getArgNumber()) == "gradient")
      name = "grad." + name;
    Location loc = NameLoc::get(StringAttr::get(value.getContext(), name));
    RankedTensorType type = getGlobalType(value);
    return type ? withGlobalTypes(loc, type) : loc;
  }

  std::string labelOf(size_t instance) const {
    size_t first = repeat.start + instance * repeat.period;
    return finder.label(first, first + repeat.period);
  }

  void replace(size_t instance, func::FuncOp function) {
    OpBuilder builder(at(instance, 0));
    SmallVector<Value> operands;
    for (Slot slot : arguments)
      operands.push_back(read(instance, slot));
    auto call = func::CallOp::create(builder, at(instance, 0)->getLoc(), function, operands);
    call->setAttr("colrow.instance", builder.getI64IntegerAttr(instance));
    call->setAttr("colrow.label", builder.getStringAttr(labelOf(instance)));
    if (!sites.empty()) {
      SmallVector<int64_t> ids;
      for (size_t site : sites)
        ids.push_back(*randomSite(at(instance, site)));
      call->setAttr("colrow.ids", builder.getDenseI64ArrayAttr(ids));
    }
    for (auto [slot, result] : llvm::zip(results, call.getResults()))
      made(instance, slot).replaceUsesWithIf(result, [&](OpOperand &use) {
        return !isOwn(instance, use.getOwner());
      });
    for (Slot slot : reshaped) {
      auto reshape = cast<ReshapeOp>(at(instance, slot.op));
      if (!isReadOutside(instance, slot))
        continue;
      // Its source is a result of the call, a value from outside, or another reshape.
      Value source = outsideSource(instance, reshape, call);
      auto again = ReshapeOp::create(builder, reshape.getLoc(), reshape.getType(), source);
      reshape.getResult().replaceUsesWithIf(again, [&](OpOperand &use) {
        return !isOwn(instance, use.getOwner());
      });
    }
    for (size_t i = repeat.period; i-- > 0;)
      at(instance, i)->erase();
  }

  /// The value before all reshapes of an instance, as the outside sees it.
  Value outsideSource(size_t instance, ReshapeOp reshape, func::CallOp call) {
    Value source = reshape.getInput();
    while (auto before = source.getDefiningOp<ReshapeOp>()) {
      if (!isOwn(instance, before))
        return source;
      source = before.getInput();
    }
    for (auto [slot, result] : llvm::zip(results, call.getResults()))
      if (made(instance, slot) == source)
        return result;
    return source;
  }

  bool isOwn(size_t instance, Operation *op) const {
    size_t first = repeat.start + instance * repeat.period;
    return llvm::is_contained(operations.slice(first, repeat.period), op);
  }

  ArrayRef<Operation *> operations;
  Repeat repeat;
  const RepeatFinder &finder;
  DenseMap<Value, std::pair<size_t, unsigned>> inner; ///< of instance 0
  SmallVector<Slot> arguments;                        ///< where each argument is read first
  std::map<std::pair<size_t, unsigned>, unsigned> argumentOf;
  SmallVector<Slot> results, reshaped;
  SmallVector<size_t> sites; ///< operations that draw random numbers
  DenseMap<Operation *, Operation *> constants;
};

class Outline : public impl::OutlineBase<Outline> {
public:
  using OutlineBase::OutlineBase;

  void runOnOperation() override {
    SymbolTable symbols(getOperation());
    for (auto function : llvm::to_vector(getOperation().getOps<func::FuncOp>()))
      if (!function.isDeclaration() && !function.isPrivate())
        run(function, symbols);
  }

private:
  void run(func::FuncOp function, SymbolTable &symbols) {
    Block &body = function.getBody().front();
    std::vector<Operation *> operations;
    for (Operation &op : llvm::make_early_inc_range(body.without_terminator()))
      if (isa<ConstantOp>(op))
        op.moveBefore(&body, body.begin()); // so that calls can read them
      else
        operations.push_back(&op);
    RepeatFinder finder(operations);
    std::vector<Repeat> repeats;
    collect(finder, 0, operations.size(), repeats);
    for (const Repeat &repeat : repeats) {
      bool backward = isBackward(operations[repeat.start]);
      StringRef part = function.getSymName();
      if (part == "forward_backward")
        part = backward ? "backward" : "forward";
      Outliner(operations, repeat, finder).run(symbols, ("layer_" + part).str());
    }
  }

  void collect(const RepeatFinder &finder, size_t begin, size_t end, std::vector<Repeat> &repeats) {
    std::optional<Repeat> repeat = finder.find(begin, end, minOps);
    if (!repeat)
      return;
    collect(finder, begin, repeat->start, repeats);
    repeats.push_back(*repeat);
    collect(finder, repeat->end(), end, repeats);
  }
};

} // namespace
} // namespace colrow
